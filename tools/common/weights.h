// SPDX-License-Identifier: MIT OR Apache-2.0
// A .safetensors file as the tool sees it: plain tensors, and units of DFloat11 or ECF8, which are
// decoded to tensors.
#pragma once

#include <filesystem>
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

// Names of a unit's tensors, without the module's name and the dot in front of them; and the names
// that ECF8's packer gives to two of them.
constexpr const char *kEncodedName = "encoded_exponent", *kEcf8EncodedName = "encoded";
constexpr const char *kSignMantissaName = "sign_mantissa",
                     *kEcf8SignMantissaName = "packed_other_4bits";
constexpr const char *kLutsName = "luts", *kPositionsName = "output_positions", *kGapsName = "gaps";
constexpr const char* kSplitsName = "split_positions";
constexpr size_t kMaxPatterns = 4096;       // a pattern_dict with more takes too long to match
constexpr uint64_t kMaxJsonBytes = 1 << 20; // larger JSON files beside the weights are refused
constexpr uint32_t kMaxJsonDepth = 64;      // JSON that is nested deeper is refused too
constexpr size_t kMaxUnitTensors = 1 << 17; // bounds the size of split_positions

// The types of tensors that the float codec has codes for, the usual one of each dtype first.
constexpr std::pair<SluiceFloatType, const char*> kFloatDtypes[] = {
    {SLUICE_FLOAT_BF16, "BF16"},       {SLUICE_FLOAT_F16, "F16"},
    {SLUICE_FLOAT_F32, "F32"},         {SLUICE_FLOAT_F8_E4M3, "F8_E4M3"},
    {SLUICE_FLOAT_F8_E5M2, "F8_E5M2"}, {SLUICE_FLOAT_F8_E4M3_DENSE, "F8_E4M3"}};

// Reads and checks the header of a .safetensors file. dataOffset receives the offset from which
// tensors count; error receives what is wrong.
SluiceStatus readHeader(const InputFile& file, SafetensorsHeader& header, uint64_t& dataOffset,
                        std::string& error);
// Returns whether `text` ends with `end` and has something before it.
bool endsWith(const std::string& text, const std::string& end);
// Reads a JSON file beside the weights; null if there is no such file. Throws Failure{exitFormat}.
nlohmann::ordered_json readJsonBeside(const std::string& path);

// A unit of the file, checked.
struct WeightUnit {
    std::string module;                    // the name in front of its tensors
    const SafetensorsTensor* luts;         // the header owns this and the next tensors
    const SafetensorsTensor* encoded;      // `encoded_exponent`, by ECF8's names `encoded`
    const SafetensorsTensor* signMantissa; // `sign_mantissa`, by ECF8's names `packed_other_4bits`
    const SafetensorsTensor* positions;    // `output_positions`
    const SafetensorsTensor* gaps;
    bool hasEcf8Names;
    std::vector<uint64_t> splits; // where its tensors begin and end, in elements: 0 first,
                                  // elementCount last
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
    // Returns the index of the unit that tensor `index` of the header belongs to; -1 if it is
    // plain.
    int64_t unitOf(size_t index) const { return m_unitOf[index]; }

    // Reads bytes of a tensor, which must lie inside it.
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

// An output tensor and the source of its bytes.
struct OutputTensor {
    SafetensorsTensor tensor;
    int64_t unit = -1;  // index of the file's unit; -1: a plain tensor
    size_t plain = 0;   // a plain tensor's index in the input's header
    uint64_t first = 0; // first element in the unit
};

// Returns the tensors to write, in order. Plain tensors stay as they are. The tensors of a unit get
// the names that a config.json beside the file gives them, or numbers if there is none. `path` is
// the path of the file; if it is "-" (stdin), no config.json is looked for. `like` is a
// .safetensors file whose names, shapes and order the tensors get; empty for none. Throws Failure.
std::vector<OutputTensor> planOutput(const WeightFile& file, const std::string& path,
                                     const std::string& like);

// sluice unpack, verify and info for such a file.
int runUnpackWeights(const WeightFile& input, const UnpackOptions& options,
                     const CommonOptions& common);
int runVerifyWeights(const WeightFile& input, const VerifyOptions& options,
                     const CommonOptions& common);
int runWeightInfo(const WeightFile& file, bool json);

} // namespace sluice
