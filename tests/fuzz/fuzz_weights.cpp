// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes weight files with the config.json beside them, as unpack, verify and info read both: they
// are refused with a message, or the planned output tensors cover what the file's tensors hold. The
// first four bytes are the sizes of the header and of the tensors' bytes, 16 bits each; what
// follows both is the config.json.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "tools/common/weights.h"
#include "formats/little_endian.h"
#include "tests/fuzz/fuzzing.h"

using namespace sluice;
using namespace sluice::fuzz;

namespace {

// A folder of this process alone.
struct Folder {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("fuzz_weights." + std::to_string(getpid()));

    Folder() { std::filesystem::create_directories(path); }
    ~Folder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    std::string write(const char* name, const std::vector<uint8_t>& bytes) const
    {
        std::ofstream file(path / name, std::ios::binary | std::ios::trunc);
        file.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
        require(bool(file));
        return (path / name).string();
    }
};

void checkPlan(const WeightFile& file, const std::vector<OutputTensor>& tensors)
{
    // What outputs have taken so far: elements of each unit, bytes of plain tensors.
    std::vector<uint64_t> taken(file.units().size());
    uint64_t plain = 0;
    for (const OutputTensor& output : tensors) {
        require(output.tensor.begin <= output.tensor.end);
        if (output.unit < 0) {
            require(output.plain < file.header().tensors.size());
            require(output.tensor.size() == file.header().tensors[output.plain].size());
            ++plain;
            continue;
        }
        const WeightUnit& unit = file.units()[size_t(output.unit)];
        const uint64_t elements = output.tensor.size() / unit.elementBytes();
        require(output.first <= unit.description.elementCount &&
                elements <= unit.description.elementCount - output.first);
        taken[size_t(output.unit)] += elements;
    }
    for (size_t u = 0; u < taken.size(); ++u)
        require(taken[u] == file.units()[u].description.elementCount);
    uint64_t plainTensors = 0;
    for (size_t t = 0; t < file.header().tensors.size(); ++t)
        plainTensors += file.unitOf(t) < 0;
    require(plain == plainTensors);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static const Folder folder;
    if (size < 4) return 0;
    const CostLimit cost(size);
    const size_t headerSize = std::min<size_t>(loadLe16(data), size - 4);
    const size_t tensorSize = std::min<size_t>(loadLe16(data + 2), size - 4 - headerSize);
    std::vector<uint8_t> model(8);
    storeLe32(model.data(), uint32_t(headerSize));
    model.insert(model.end(), data + 4, data + 4 + headerSize + tensorSize);
    const std::string path = folder.write("model.safetensors", model);
    folder.write("config.json", {data + 4 + headerSize + tensorSize, data + size});
    try {
        const WeightFile file(path);
        checkPlan(file, planOutput(file, path, ""));
    } catch (const Failure& failure) {
        require(!failure.text.empty());
    }
    return 0;
}
