// SPDX-License-Identifier: MIT OR Apache-2.0
// The sluice command, run as a user runs it, and files for it. SLUICE_TOOL_PATH is the built tool;
// the environment variable SLUICE_TOOL names another one.
#pragma once

#include <filesystem>
#include <random>
#include <string>

#include <sluice/sluice_df11.h>

#include "tests/support/df11_units.h"
#include "formats/safetensors.h"

namespace sluice::test {

namespace fs = std::filesystem;

// True where the tool is for another processor, and an emulator runs it. What then cannot be
// tested, since it is about the emulator, says that it was not run.
#ifdef SLUICE_TEST_EMULATED
constexpr bool kEmulated = true;
#else
constexpr bool kEmulated = false;
#endif
// True where it takes ten times as long and more.
#ifdef __SANITIZE_THREAD__
constexpr bool kSlow = true;
#else
constexpr bool kSlow = kEmulated;
#endif
// A program without a dynamic linker loads no drivers.
#ifdef SLUICE_TEST_LOADS_NO_DRIVERS
constexpr bool kLoadsDrivers = false;
#else
constexpr bool kLoadsDrivers = true;
#endif

std::string readFile(const fs::path& path);
void writeFile(const fs::path& path, const std::string& text);
bool contains(const std::string& text, const std::string& part);

// A .safetensors file: tensors in order, with their bytes.
class Model {
public:
    void add(const std::string& name, const std::string& dtype, const std::vector<uint64_t>& shape,
             const std::string& bytes);
    // A tensor of normalBytes.
    void add(const std::string& name, const std::string& dtype, const std::vector<uint64_t>& shape,
             std::mt19937& random);
    // Adds a unit of DFloat11, or one of ECF8 by the names that DFloat11 uses.
    void addUnit(const std::string& module, const Df11Tensors& unit,
                 const std::vector<uint64_t>& splits);
    // By the names of ECF8's own packer.
    void addEcf8Unit(const std::string& module, const Df11Tensors& unit,
                     const std::vector<uint64_t>& splits);
    std::string bytes() const;

    SafetensorsHeader header;
    std::string data;
};

// Where the tool under test is one for Windows (SLUICE_TOOL_SYSTEM=windows), says that the case, or
// what follows of it, is not run, and why.
bool isWindowsTool(const char* why);
bool isWindowsTool();
// Returns whether the tool under test was built with CUDA: the tests' own build was, unless the
// tool is another's.
bool toolHasCuda();

// A folder of its own for each test, and the tool run in it.
class Folder {
public:
    explicit Folder(const char* subfolder = "");
    ~Folder() { fs::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    // Runs "sluice ARGUMENTS" through the shell; returns the exit code. Output and errors are kept.
    int operator()(const std::string& arguments) const;
    // The same on the CPU backend.
    int onCpu(const std::string& arguments) const { return (*this)(arguments + " --device cpu"); }
    std::string output() const { return read(".out"); }
    std::string errors() const { return read(".err"); }
    // Runs unpack, which must fail because of the file; returns what it says after "sluice: ".
    std::string unpackError(const std::string& arguments) const;
    bool hasTemporaries() const;

    void write(const std::string& name, const std::string& text) const
    {
        writeFile(path / name, text);
    }
    void write(const std::string& name, const Model& model) const { write(name, model.bytes()); }
    std::string read(const std::string& name) const { return readFile(path / name); }
    bool has(const std::string& name) const { return fs::exists(path / name); }
    // Changes a bit in the middle of a file.
    void damage(const std::string& name) const;

    fs::path path;
    std::string environment; // "export NAME=VALUE;" for the tool
};

// A folder with the files a/one.txt, a/sub/two.bin and a/empty.
class Tool : public Folder {
public:
    Tool();
    void checkSame(const fs::path& root) const; // below which they have been unpacked
};

std::string noise(size_t size);
// A picture as .tga, 24 bits, and a sound as .wav, 16 bits: smooth, so that filters pay.
std::string picture();
std::string sound();

std::string text(const Bytes& bytes);
uint64_t numberAfter(const std::string& json, const std::string& key);

// An empty one with metadata.
Model taggedModel();
// The header of such a file; dataOffset: where tensors count from.
SafetensorsHeader parseModel(const std::string& file, uint64_t& dataOffset);
// A unit of made-up weights, or of these exponents.
Df11Tensors weightUnit(SluiceDf11Kind kind, size_t count, std::mt19937& random);
Df11Tensors weightUnit(SluiceDf11Kind kind, const Bytes& exponents, std::mt19937& random);

// Numbers of N(0, 0.02), the upper bytes of their floats: BF16, F32, and fp8 that looks like them.
std::string normalBytes(const std::string& dtype, size_t size, std::mt19937& random);
std::string randomBytes(size_t size, uint32_t values, std::mt19937& random);
// " --device ... --tier ..." for the device under test.
std::string onDevice();

} // namespace sluice::test
