// SPDX-License-Identifier: MIT OR Apache-2.0
// A .safetensors file as the tool sees it: plain tensors, and units of DFloat11 or ECF8. A unit
// holds the weights of one module, coded together, and decodes to tensors.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>
#include <sluice/sluice_df11.h>
#include <sluice/sluice_float.h>

#include "formats/df11_form.h"
#include "encode/weights/df11_encoder.h"
#include "tools/common/files.h"
#include "formats/safetensors.h"

namespace sluice {

// The names of a unit's tensors, which follow the module's name and a dot. ECF8's packer has other
// names for two of them.
constexpr const char *kEncodedName = "encoded_exponent", *kEcf8EncodedName = "encoded";
constexpr const char *kSignMantissaName = "sign_mantissa",
                     *kEcf8SignMantissaName = "packed_other_4bits";
constexpr const char *kLutsName = "luts", *kPositionsName = "output_positions", *kGapsName = "gaps";
constexpr const char* kSplitsName = "split_positions";
constexpr size_t kMaxPatterns = 4096;       // more patterns would take too long to match
constexpr uint64_t kMaxJsonBytes = 1 << 20; // most bytes of a JSON file beside the weights
constexpr uint32_t kMaxJsonDepth = 64;      // most levels of nesting in that file
constexpr size_t kMaxUnitTensors = 1 << 17; // bounds the size of split_positions

// The types of tensors that the float codec can encode, with their dtype in .safetensors files. If
// two types have the same dtype, the usual type comes first.
constexpr std::pair<SluiceFloatType, const char*> kFloatDtypes[] = {
    {SLUICE_FLOAT_BF16, "BF16"},       {SLUICE_FLOAT_F16, "F16"},
    {SLUICE_FLOAT_F32, "F32"},         {SLUICE_FLOAT_F8_E4M3, "F8_E4M3"},
    {SLUICE_FLOAT_F8_E5M2, "F8_E5M2"}, {SLUICE_FLOAT_F8_E4M3_DENSE, "F8_E4M3"}};

// Reads and checks the header of a .safetensors file. dataOffset receives the place in the file
// from which the tensors' offsets count. `error` receives what is wrong.
SluiceStatus readHeader(const InputFile& file, SafetensorsHeader& header, uint64_t& dataOffset,
                        std::string& error);
// Returns whether `text` is longer than `end` and ends with it.
bool endsWith(const std::string& text, const std::string& end);
// Reads a JSON file beside the weights; null if there is no such file. Throws Failure{exitFormat}.
nlohmann::ordered_json readJsonBeside(const std::string& path);

// A unit (the coded weights of one module) whose tensors have been found and checked.
struct WeightUnit {
    std::string module;                    // the module's name, the beginning of its tensors' names
    const SafetensorsTensor* luts;         // WeightFile::header() owns this and the next four
    const SafetensorsTensor* encoded;      // `encoded` in ECF8
    const SafetensorsTensor* signMantissa; // `packed_other_4bits` in ECF8
    const SafetensorsTensor* positions;    // `output_positions`
    const SafetensorsTensor* gaps;
    bool hasEcf8Names;
    // Tensor i of the unit has the elements [splits[i], splits[i + 1]). The last entry is
    // description.elementCount.
    std::vector<uint64_t> splits;
    SluiceDf11Unit description;

    const char* kindName() const
    {
        return description.kind == SLUICE_DF11_BF16 ? "DFloat11" : "ECF8";
    }
    const char* dtype() const { return description.kind == SLUICE_DF11_BF16 ? "BF16" : "F8_E4M3"; }
    uint32_t elementBytes() const { return df11Form(description.kind).elementBytes; }
    std::string place() const; // "module 'NAME'", for messages
    uint64_t storedSize() const;
    uint64_t size() const { return uint64_t(description.elementCount) * elementBytes(); }
};

class WeightFile {
public:
    static bool recognises(const InputFile& file);

    // Reads and checks the header and the tables of all units. Throws Failure{exitFormat}.
    explicit WeightFile(std::unique_ptr<InputFile> file);
    explicit WeightFile(const std::string& path);

    const InputFile& file() const { return *m_file; }
    const SafetensorsHeader& header() const { return m_header; }
    const std::vector<WeightUnit>& units() const { return m_units; }
    // Returns the index of the unit that tensor `index` of the header belongs to, or -1 for a plain
    // (uncoded) tensor.
    int64_t unitOf(size_t index) const { return m_unitOf[index]; }

    // Reads bytes of a tensor; the range must lie inside it.
    void read(const SafetensorsTensor& tensor, uint64_t offset, void* bytes, size_t size) const;
    Bytes readAll(const SafetensorsTensor& tensor) const;

private:
    void findUnits();
    void checkEcf8Types(const WeightUnit& unit) const;
    void checkUnit(WeightUnit& unit, const SafetensorsTensor* splits) const;
    [[noreturn]] void fail(const std::string& text) const;

    std::unique_ptr<InputFile> m_file;
    uint64_t m_dataOffset = 0;
    SafetensorsHeader m_header;
    std::vector<WeightUnit> m_units;
    std::vector<int64_t> m_unitOf;
};

// A tensor to write, and where its bytes come from.
struct OutputTensor {
    SafetensorsTensor tensor;
    int64_t unit = -1;  // index of the unit that it comes from; -1: a plain tensor
    size_t plain = 0;   // for a plain tensor, its index in the input
    uint64_t first = 0; // for a tensor of a unit, the index in the unit of its first element
};

// Returns the tensors to write, in order. Plain tensors stay as they are. The tensors of a unit get
// the names that config.json or pattern_dict.json beside the file gives them. Without these a
// single tensor is named after its module, and several get numbers. `path` is the file's path, "-"
// if it is stdin, which has no files beside it. `like` is a .safetensors file whose names, shapes
// and order the tensors get; empty: none. Throws a Failure.
std::vector<OutputTensor> planOutput(const WeightFile& file, const std::string& path,
                                     const std::string& like);

// `sluice unpack`, `verify` and `info` for a .safetensors file.
int runUnpackWeights(const WeightFile& input, const UnpackOptions& options,
                     const CommonOptions& common);
int runVerifyWeights(const WeightFile& input, const VerifyOptions& options,
                     const CommonOptions& common);
int runWeightInfo(const WeightFile& file, bool json);

} // namespace sluice
