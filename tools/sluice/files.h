// SPDX-License-Identifier: MIT OR Apache-2.0
// Files as the tool uses them: inputs that can be read anywhere, outputs that appear only when they
// are complete. "-" is stdin or stdout; both pass through an unnamed temporary file, since archives
// are not read or written in order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace sluice {

// Every failure is thrown as Failure{exitIo, ...} naming the file.
class InputFile {
public:
    explicit InputFile(const std::string& path);
    ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    const std::string& name() const { return name_; } // for messages
    uint64_t size() const { return size_; }
    // Reads exactly `size` bytes, which must lie inside the file.
    void read(uint64_t offset, void* bytes, size_t size) const;

private:
    std::string name_;
    int descriptor_ = -1;
    uint64_t size_ = 0;
};

class OutputFile {
public:
    // Throws if the file exists and overwrite is not set; "-" writes to stdout on commit.
    OutputFile(const std::string& path, bool overwrite);
    ~OutputFile(); // without commit: nothing stays behind
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    void write(uint64_t offset, const void* bytes, size_t size);
    void commit(); // gives the file its name

private:
    std::string path_, temporary_;
    bool overwrite_;
    int descriptor_ = -1;
};

// Throws if something of that name exists (a link counts, even a dangling one) and overwrite is not
// set.
void checkOverwrite(const std::string& path, bool overwrite,
                    const char* refusal = "exists; -f overwrites it");

// Makes the folders of `name` below `root` and returns the file's path. Throws where one of them is
// a link: a link could lead out of root.
std::string makeFolders(const std::string& root, const std::string& name);

} // namespace sluice
