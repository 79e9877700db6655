// SPDX-License-Identifier: MIT OR Apache-2.0
// Files as the tool uses them: inputs that can be read anywhere, outputs that appear only when they
// are complete. "-" is stdin or stdout; both pass through an unnamed temporary file where they are
// not read or written in order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "tools/common/platform.h"
#include "tools/common/tool.h"

namespace sluice {

// How many bytes may come through a pipe, which are kept in a temporary file (--max-input).
void limitPipes(uint64_t bytes);

// Every failure is thrown as Failure{exitIo, ...} naming the file.
class InputFile {
public:
    explicit InputFile(const std::string& path);
    InputFile(std::string name, Bytes content);
    ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    const std::string& name() const { return m_name; } // for messages
    uint64_t size() const { return m_size; }
    // From now on the file is a part of itself, which must lie inside it.
    void restrictTo(uint64_t offset, uint64_t size) { m_begin += offset, m_size = size; }
    // From now on blocks of this many bytes (the last one may be shorter) must have these XXH3-64
    // when they are read.
    void checkBlocks(uint64_t blockBytes, std::vector<uint64_t> checks);
    // Gives what the file system says of the file now; false: it has no place there.
    bool facts(FileFacts& facts) const;
    // Reads exactly `size` bytes, which must lie inside the file.
    void read(uint64_t offset, void* bytes, size_t size) const;
    Bytes readAll() const;
    // As a text of lines that end with '\n', whatever editor wrote it: without the mark of UTF-8 and
    // without '\r' at ends of lines. Throws if it is larger than maxSize.
    std::string readText(uint64_t maxSize) const;
    // Reads up to that many bytes of the start.
    Bytes readStart(uint64_t size) const;

private:
    void readPlain(uint64_t offset, void* bytes, size_t size) const;
    void readChecked(uint64_t offset, void* bytes, size_t size) const;

    std::string m_name;
    Bytes m_content; // only a file in memory has this
    SystemFile m_file = kNoFile;
    uint64_t m_begin = 0, m_size = 0;
    // Used with checkBlocks; the block that was read last is kept.
    uint64_t m_blockBytes = 0;
    std::vector<uint64_t> m_checks;
    mutable uint64_t m_heldBlock = UINT64_MAX;
    mutable Bytes m_held;
};

// A file without its final name yet; without any where `name` is empty. A signal handler reads it.
struct TemporaryFile {
    SystemFile folder = kNoFile;
    char name[24] = {};
};

class OutputFile {
public:
    // Throws if the file exists and overwrite is not set; "-" writes to stdout on commit.
    OutputFile(const std::string& path, bool overwrite);
    // Makes the file `name` below the folder `root`, with missing folders. Throws if a folder in
    // `name` is a link, which could lead out of root, even if it is put there meanwhile.
    OutputFile(const std::string& root, const std::string& name, bool overwrite);
    ~OutputFile(); // without commit: nothing stays behind
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    void write(uint64_t offset, const void* bytes, size_t size);
    auto writer()
    {
        return
            [this](uint64_t offset, const void* bytes, size_t size) { write(offset, bytes, size); };
    }
    void read(uint64_t offset, void* bytes, size_t size) const; // what was written
    // Lets those execute it who may read it.
    void makeExecutable();
    void sync();   // waits until what was written is on the disk
    void commit(); // gives the file its name

private:
    void begin();
    void giveName();
    void copyToNamed();

    std::string m_path, m_name; // for messages, and in its folder
    TemporaryFile m_temporary;
    bool m_overwrite, m_isExecutable = false;
    SystemFile m_file = kNoFile;   // without a name, unless m_temporary has one
    SystemFile m_stream = kNoFile; // a device, a pipe or a descriptor, which commit() writes to
};

// Is it a name that OutputFile may give to a file before it has its own?
bool isTemporaryName(const std::string& path);

// Writes all of it to stdout.
void writeStdout(const void* bytes, size_t size);

// Throws if something of that name exists (a link counts, even a dangling one) and overwrite is not
// set. `refusal` is the message, if not the usual one.
void checkOverwrite(const std::string& path, bool overwrite, const char* refusal = nullptr);

// Throws if the output is the same file as one of the inputs, whatever names and links lead to it.
// Empty names and "-" are not files.
void refuseOwnInput(const std::string& output, const std::vector<std::string>& inputs);

// Checks the file of -o: refuses what checkOverwrite and refuseOwnInput refuse, and "-" if stdout
// is a terminal.
void checkOutput(const std::string& path, bool overwrite, const std::vector<std::string>& inputs);

// Throws if no file of this system can have this name below a folder. `path` is for the message.
void checkFileName(const std::string& name, const std::string& path);

// Makes a folder, and those that it is in.
void makeFolder(const std::string& path);

} // namespace sluice
