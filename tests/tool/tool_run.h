// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the sluice command as a user runs it, and makes files for it. SLUICE_TOOL_PATH is the built
// tool; the environment variable SLUICE_TOOL can name another one.
#pragma once

#include <filesystem>
#include <random>
#include <string>

#include <sluice/sluice_df11.h>

#include "tests/support/df11_units.h"
#include "formats/safetensors.h"

namespace sluice::test {

namespace fs = std::filesystem;

// True if the tool is for another processor and an emulator runs it. Tests that would test the
// emulator then are skipped.
#ifdef SLUICE_TEST_EMULATED
constexpr bool kEmulated = true;
#else
constexpr bool kEmulated = false;
#endif
// True if the tool takes ten times as long or more.
#ifdef __SANITIZE_THREAD__
constexpr bool kSlow = true;
#else
constexpr bool kSlow = kEmulated;
#endif
// A program without a dynamic linker cannot load drivers.
#ifdef SLUICE_TEST_LOADS_NO_DRIVERS
constexpr bool kLoadsDrivers = false;
#else
constexpr bool kLoadsDrivers = true;
#endif

std::string readFile(const fs::path& path);
void writeFile(const fs::path& path, const std::string& text);
bool contains(const std::string& text, const std::string& part);

// Holds a .safetensors file: its tensors in order, and their bytes.
class Model {
public:
    void add(const std::string& name, const std::string& dtype, const std::vector<uint64_t>& shape,
             const std::string& bytes);
    // Adds a tensor of normalBytes.
    void add(const std::string& name, const std::string& dtype, const std::vector<uint64_t>& shape,
             std::mt19937& random);
    // Adds a unit of DFloat11, or one of ECF8 with the names that DFloat11 uses.
    void addUnit(const std::string& module, const Df11Tensors& unit,
                 const std::vector<uint64_t>& splits);
    // Adds a unit of ECF8 with the names of its own packer.
    void addEcf8Unit(const std::string& module, const Df11Tensors& unit,
                     const std::vector<uint64_t>& splits);
    std::string bytes() const;

    SafetensorsHeader header;
    std::string data;
};

// Returns whether the tool under test is for Windows (SLUICE_TOOL_SYSTEM=windows). If so, also
// skips the case, or the rest of it; `why` is the reason.
bool isWindowsTool(const char* why);
bool isWindowsTool();
// Returns whether the tool under test was built with CUDA, as the tests were. A tool for Windows
// never is.
bool toolHasCuda();

// A folder of its own for each test, in which the tool is run.
class Folder {
public:
    explicit Folder(const char* subfolder = "");
    ~Folder() { fs::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    // Runs "sluice ARGUMENTS" through the shell; returns the exit code. Output and errors are kept.
    int operator()(const std::string& arguments) const;
    // Does the same on the CPU backend.
    int onCpu(const std::string& arguments) const { return (*this)(arguments + " --device cpu"); }
    std::string output() const { return read(".out"); }
    std::string errors() const { return read(".err"); }
    // Runs unpack, which must fail because of the file. Returns the message after "sluice: ".
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
    std::string environment; // shell commands before the tool, such as "export NAME=VALUE;"
};

// A folder with the files a/one.txt, a/sub/two.bin and a/empty.
class Tool : public Folder {
public:
    Tool();
    // Compares these files with those unpacked below `root`.
    void checkSame(const fs::path& root) const;
};

std::string noise(size_t size);
// Returns arguments that end in a command line for the shell. That can start the tool as "$SLUICE".
std::string after(const std::string& commands);
// Returns a picture as .tga of 24 bits, or a sound as .wav of 16 bits. They are smooth, so that
// filters help.
std::string picture();
std::string sound();

std::string text(const Bytes& bytes);
uint64_t numberAfter(const std::string& json, const std::string& key);

// Returns an empty model with metadata.
Model taggedModel();
// Returns the header of a .safetensors file. dataOffset: receives the offset from which tensors
// count.
SafetensorsHeader parseModel(const std::string& file, uint64_t& dataOffset);
// Returns a unit of made-up weights, or of these exponents.
Df11Tensors weightUnit(SluiceDf11Kind kind, size_t count, std::mt19937& random);
Df11Tensors weightUnit(SluiceDf11Kind kind, const Bytes& exponents, std::mt19937& random);

// Returns numbers of the distribution N(0, 0.02) as BF16, F16, F32 or fp8, roughly rounded.
std::string normalBytes(const std::string& dtype, size_t size, std::mt19937& random);
std::string randomBytes(size_t size, uint32_t values, std::mt19937& random);
// Returns " --device ... --tier ..." for the device under test.
std::string onDevice();

} // namespace sluice::test
