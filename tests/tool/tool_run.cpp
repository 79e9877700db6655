// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/tool/tool_run.h"
#include "test_paths.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "formats/archive_layout.h"
#include "tests/support/system.h"
#include "tools/common/platform.h"

namespace sluice::test {

std::string readFile(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    REQUIRE_MESSAGE(file, path.string());
    return std::string(std::istreambuf_iterator<char>(file), {});
}

void writeFile(const fs::path& path, const std::string& text)
{
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
}

bool contains(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

bool isWindowsTool()
{
    const char* const system = std::getenv("SLUICE_TOOL_SYSTEM");
    return system != nullptr && std::string(system) == "windows";
}

bool isWindowsTool(const char* why)
{
    if (!isWindowsTool()) return false;
    skipCase(why);
    return true;
}

bool toolHasCuda()
{
#ifdef SLUICE_HAVE_CUDA
    return !isWindowsTool();
#else
    return false;
#endif
}

Folder::Folder(const char* subfolder)
{
    path = makeTemporaryFolder(fs::temp_directory_path().string(), "sluice-test-");
    REQUIRE(!path.empty());
    fs::create_directories(path / subfolder);
}

int Folder::operator()(const std::string& arguments) const
{
    const char* other = std::getenv("SLUICE_TOOL");
    const std::string tool = other != nullptr ? other : SLUICE_TOOL_PATH;
    const int code = runInFolder(path.string(), environment, tool, arguments);
    REQUIRE(code >= 0);
    return code;
}

std::string Folder::unpackError(const std::string& arguments) const
{
    CHECK(onCpu("unpack " + arguments) == 3);
    const std::string said = errors();
    return said.substr(std::min<size_t>(said.size(), 8), said.find('\n') - 8);
}

bool Folder::hasTemporaries() const
{
    const fs::recursive_directory_iterator entries(path);
    return std::any_of(begin(entries), end(entries), [](const auto& entry) {
        return entry.path().filename().string().rfind(".sluice-", 0) == 0;
    });
}

void Folder::damage(const std::string& name) const
{
    std::string bytes = read(name);
    bytes[bytes.size() / 2] = char(bytes[bytes.size() / 2] ^ 4);
    write(name, bytes);
}

Tool::Tool()
{
    write("a/one.txt", std::string(100000, 'x') + "end");
    write("a/sub/two.bin", noise(70000));
    write("a/empty", "");
}

void Tool::checkSame(const fs::path& root) const
{
    for (const char* name : {"a/one.txt", "a/sub/two.bin", "a/empty"})
        CHECK(read(name) == readFile(path / root / name));
}

std::string after(const std::string& commands) { return "--version >&2; " + commands; }

std::string noise(size_t size)
{
    std::string text(size, 0);
    uint32_t state = 99;
    for (char& c : text) {
        state = state * 1664525u + 1013904223u;
        c = char(state >> 24);
    }
    return text;
}

std::string picture()
{
    std::string file = {0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, char(160), 0, char(200), 0, 24, 0};
    for (int y = 0; y < 200; ++y) {
        for (int x = 0; x < 160; ++x) {
            for (int channel = 0; channel < 3; ++channel)
                file += char(x * (channel + 1) + y * y / 50 + ((x * 7 + y * 13) % 5));
        }
    }
    return file;
}

std::string sound()
{
    const uint32_t samples = 20000;
    std::string file(44, 0);
    uint8_t* head = reinterpret_cast<uint8_t*>(file.data());
    std::memcpy(head, "RIFF____WAVEfmt ", 16);
    storeLe32(head + 4, 36 + 2 * samples);
    storeLe32(head + 16, 16);
    storeLe16(head + 20, 1);
    storeLe16(head + 22, 1);
    storeLe32(head + 24, 22050);
    storeLe32(head + 28, 44100);
    storeLe16(head + 32, 2);
    storeLe16(head + 34, 16);
    std::memcpy(head + 36, "data", 4);
    storeLe32(head + 40, 2 * samples);
    for (uint32_t i = 0; i < samples; ++i) {
        const int value = int(i % 400) * int(i % 177) / 3 - 9000;
        file += char(value);
        file += char(value >> 8);
    }
    return file;
}

std::string text(const Bytes& bytes) { return std::string(bytes.begin(), bytes.end()); }

uint64_t numberAfter(const std::string& json, const std::string& key)
{
    const size_t at = json.find("\"" + key + "\": ");
    REQUIRE(at != std::string::npos);
    return std::stoull(json.substr(at + key.size() + 4));
}

void Model::add(const std::string& name, const std::string& dtype,
                const std::vector<uint64_t>& shape, const std::string& bytes)
{
    header.tensors.push_back({name, dtype, shape, 0, 0});
    data += bytes;
}

void Model::add(const std::string& name, const std::string& dtype,
                const std::vector<uint64_t>& shape, std::mt19937& random)
{
    uint64_t size = safetensorsBits(dtype) / 8;
    for (const uint64_t dimension : shape)
        size *= dimension;
    add(name, dtype, shape, normalBytes(dtype, size, random));
}

namespace {

// Adds the tensors of a unit. ecf8: with the names and types of ECF8's own packer.
void addParts(Model& model, const std::string& module, const Df11Tensors& unit,
              const std::vector<uint64_t>& splits, bool ecf8)
{
    // Positions have their true type, I64.
    const bool words = !ecf8 && unit.kind != SLUICE_DF11_BF16;
    const auto add = [&](const char* name, const Bytes& bytes) {
        model.add(module + name, "U8", {bytes.size()}, text(bytes));
    };
    add(".luts", unit.luts);
    model.header.tensors.back().shape = {unit.luts.size() / 256, 256};
    add(ecf8 ? ".encoded" : ".encoded_exponent", unit.encoded);
    add(ecf8 ? ".packed_other_4bits" : ".sign_mantissa", unit.signMantissa);
    add(".output_positions", unit.outputPositions);
    if (words) {
        model.header.tensors.back().dtype = "I64";
        model.header.tensors.back().shape[0] /= 8;
    }
    add(".gaps", unit.gaps);
    if (words) return;
    std::string integers;
    for (const uint64_t split : splits) {
        for (uint32_t i = 0; i < 8; ++i)
            integers += char(split >> 8 * i);
    }
    model.add(module + ".split_positions", "I64", {splits.size()}, integers);
}

} // namespace

void Model::addUnit(const std::string& module, const Df11Tensors& unit,
                    const std::vector<uint64_t>& splits)
{
    addParts(*this, module, unit, splits, false);
}

void Model::addEcf8Unit(const std::string& module, const Df11Tensors& unit,
                        const std::vector<uint64_t>& splits)
{
    addParts(*this, module, unit, splits, true);
}

std::string Model::bytes() const
{
    SafetensorsHeader placed = header;
    std::string start, error;
    REQUIRE(makeSafetensors(placed, start, error) == SLUICE_OK);
    REQUIRE((placed.tensors.empty() ? 0 : placed.tensors.back().end) == data.size());
    return start + data;
}

Model taggedModel()
{
    Model model;
    model.header.hasMetadata = true;
    model.header.metadata = {{"format", "pt"}};
    return model;
}

SafetensorsHeader parseModel(const std::string& file, uint64_t& dataOffset)
{
    SafetensorsHeader header;
    std::string error;
    uint64_t size = 0;
    const uint8_t* start = reinterpret_cast<const uint8_t*>(file.data());
    REQUIRE(readSafetensorsSize(start, file.size(), size, error) == SLUICE_OK);
    dataOffset = 8 + size;
    REQUIRE(parseSafetensors(std::string_view(file).substr(8, size), file.size() - dataOffset,
                             header, error) == SLUICE_OK);
    return header;
}

Df11Tensors weightUnit(SluiceDf11Kind kind, size_t count, std::mt19937& random)
{
    return weightUnit(kind, weightExponents(kind, count, random), random);
}

Df11Tensors weightUnit(SluiceDf11Kind kind, const Bytes& exponents, std::mt19937& random)
{
    return packDf11("", kind, exponents, huffmanLengths(exponents), random);
}

std::string onDevice()
{
    return " --device " + device().selector() + " --tier " + device().info().tier;
}

std::string normalBytes(const std::string& dtype, size_t size, std::mt19937& random)
{
    std::normal_distribution<float> normal(0, 0.02f);
    std::string bytes;
    while (bytes.size() < size) {
        const float number = normal(random);
        uint32_t value = 0;
        std::memcpy(&value, &number, 4);
        const uint32_t exponent = (value >> 23 & 255) - 112;
        if (dtype == "BF16") value >>= 16;
        if (dtype == "F16")
            value = (value >> 16 & 0x8000) | (exponent & 31) << 10 | (value >> 13 & 0x3ff);
        if (dtype == "F8_E4M3")
            value = (value >> 24 & 0x80) | (exponent & 15) << 3 | (value >> 20 & 7);
        if (dtype == "F8_E5M2")
            value = (value >> 24 & 0x80) | (exponent & 31) << 2 | (value >> 21 & 3);
        bytes.append(reinterpret_cast<const char*>(&value), safetensorsBits(dtype) / 8);
    }
    return bytes;
}

std::string randomBytes(size_t size, uint32_t values, std::mt19937& random)
{
    std::string bytes(size, '\0');
    for (char& byte : bytes)
        byte = char(random() % values * random() % values);
    return bytes;
}

} // namespace sluice::test
