// SPDX-License-Identifier: MIT OR Apache-2.0
// Files as the tool uses them: inputs that can be read anywhere, outputs that appear only when they
// are complete. "-" is stdin or stdout; their data passes through an unnamed temporary file if it
// is not read or written in order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "tools/common/platform.h"
#include "tools/common/tool.h"

namespace sluice {

// Limits the bytes that are accepted from a pipe, which are kept in a temporary file (--max-input).
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
    // Restricts the file to a part of itself, which must lie inside it.
    void restrictTo(uint64_t offset, uint64_t size) { m_begin += offset, m_size = size; }
    // From now on, every read checks the blocks that it touches. Blocks have this many bytes (the
    // last one may be shorter), and `checks` are their XXH3-64.
    void checkBlocks(uint64_t blockBytes, std::vector<uint64_t> checks);
    // Gives what the file system says of the file now; false: it has no place there.
    bool facts(FileFacts& facts) const;
    // Reads exactly `size` bytes, which must lie inside the file.
    void read(uint64_t offset, void* bytes, size_t size) const;
    Bytes readAll() const;
    // Returns the content as text whose lines end with '\n', whatever editor wrote it: without a
    // UTF-8 byte order mark and without '\r' at the ends of lines. Throws if the file is larger
    // than maxSize.
    std::string readText(uint64_t maxSize) const;
    // Reads the first `size` bytes, or the whole file if it is shorter.
    Bytes readStart(uint64_t size) const;

private:
    void readPlain(uint64_t offset, void* bytes, size_t size) const;
    void readChecked(uint64_t offset, void* bytes, size_t size) const;

    std::string m_name;
    Bytes m_content; // only a file in memory has this
    SystemFile m_file = kNoFile;
    uint64_t m_begin = 0, m_size = 0;
    // These serve checkBlocks. m_held caches the block that was read last.
    uint64_t m_blockBytes = 0;
    std::vector<uint64_t> m_checks;
    mutable uint64_t m_heldBlock = UINT64_MAX;
    mutable Bytes m_held;
};

// A file that does not have its final name yet. If `name` is empty, it has no name at all. A signal
// handler reads this.
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
    ~OutputFile(); // without commit, leaves nothing behind
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    void write(uint64_t offset, const void* bytes, size_t size);
    auto writer()
    {
        return
            [this](uint64_t offset, const void* bytes, size_t size) { write(offset, bytes, size); };
    }
    void read(uint64_t offset, void* bytes, size_t size) const; // what was written
    // Makes the file executable for everyone who may read it.
    void makeExecutable();
    void sync();   // waits until what was written is on the disk
    void commit(); // gives the file its name

private:
    void begin();
    void giveName();
    void copyToNamed();

    std::string m_path, m_name; // the path for messages, the name in the folder
    TemporaryFile m_temporary;
    bool m_overwrite, m_isExecutable = false;
    SystemFile m_file = kNoFile;   // without a name, unless m_temporary has one
    SystemFile m_stream = kNoFile; // a device, a pipe or a descriptor, which commit() writes to
};

// Returns whether OutputFile may give this name to a temporary file.
bool isTemporaryName(const std::string& path);

// Writes all bytes to stdout.
void writeStdout(const void* bytes, size_t size);

// Throws if something of that name exists (even a dangling link) and overwrite is not set.
// `refusal` is the message, if not the usual one.
void checkOverwrite(const std::string& path, bool overwrite, const char* refusal = nullptr);

// Throws if the output is the same file as one of the inputs, whatever names and links lead to it.
// Empty names and "-" are not files.
void refuseOwnInput(const std::string& output, const std::vector<std::string>& inputs);

// Checks the file of -o. Refuses what checkOverwrite and refuseOwnInput refuse, and refuses "-" if
// stdout is a terminal.
void checkOutput(const std::string& path, bool overwrite, const std::vector<std::string>& inputs);

// Throws if no file below a folder can have this name on this system. `path` is for the message.
void checkFileName(const std::string& name, const std::string& path);

// Makes a folder and its missing parents.
void makeFolder(const std::string& path);

} // namespace sluice
