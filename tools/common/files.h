// SPDX-License-Identifier: MIT OR Apache-2.0
// Files as the tool uses them: inputs that are read at any offset, and outputs that appear only
// when they are complete. "-" means stdin or stdout. A stream can only be read or written in order,
// so InputFile and OutputFile keep a stream's data in an unnamed temporary file.
#pragma once

#include <cstdint>
#include <string>

#include "tools/common/platform.h"
#include "tools/common/tool.h"

namespace sluice {

// Sets how many bytes a pipe may deliver (--max-input). There is a limit because these bytes are
// kept in a temporary file.
void limitPipes(uint64_t bytes);

// Says which files may be opened for reading. A file that the user names may be a pipe. A file that
// was found in a folder, or beside another file, may have been put there by somebody else: if it is
// a pipe, opening it must not block, and if it is a link, it must not lead elsewhere.
enum class InputKind {
    any,
    file,
    fileNoLink,
};

// An input. Failures are thrown as Failure{exitIo}, with the file's name in the text.
class InputFile {
public:
    explicit InputFile(const std::string& path, InputKind kind = InputKind::any);
    InputFile(std::string name, Bytes content);
    ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    const std::string& name() const { return m_name; } // for messages
    uint64_t size() const { return m_size; }
    // Restricts this object to a range of the file. The range must lie inside the file.
    void restrictTo(uint64_t offset, uint64_t size) { m_begin += offset, m_size = size; }
    // Makes every later read check the blocks that the read touches. A block has blockBytes bytes,
    // the last one maybe fewer, and `checks` holds the XXH3-64 of each block.
    void checkBlocks(uint64_t blockBytes, std::vector<uint64_t> checks);
    // Gets what the file system says of the file now; for a pipe, of the temporary file that holds
    // its data. Returns false for a file in memory.
    bool facts(FileFacts& facts) const;
    // Throws if the file's size or time of modification has changed since the file was opened.
    void checkUnchanged() const;
    // Reads exactly `size` bytes; the range must lie inside the file.
    void read(uint64_t offset, void* bytes, size_t size) const;
    Bytes readAll() const;
    // Returns the content as text with '\n' at the ends of lines, whatever editor wrote it: without
    // a byte order mark, and without '\r' before '\n'. Throws if the file is larger than maxSize.
    std::string readText(uint64_t maxSize) const;
    // Returns the first `size` bytes, or the whole file if it is shorter.
    Bytes readStart(uint64_t size) const;

private:
    void readPlain(uint64_t offset, void* bytes, size_t size) const;
    void readChecked(uint64_t offset, void* bytes, size_t size) const;

    std::string m_name;
    Bytes m_content; // content of a file in memory
    SystemFile m_file = kNoFile;
    FileFacts m_opened; // facts of m_file when it was opened
    uint64_t m_begin = 0, m_size = 0;
    // For checkBlocks. m_held holds the block that was read last; m_heldBlock is its index.
    uint64_t m_blockBytes = 0;
    std::vector<uint64_t> m_checks;
    mutable uint64_t m_heldBlock = UINT64_MAX;
    mutable Bytes m_held;
};

// A file that does not have its final name yet. If `name` is empty, the file has no name at all.
// Signal handlers read this struct, so `name` is an array and no std::string.
struct TemporaryFile {
    SystemFile folder = kNoFile;
    char name[24] = {};
};

class OutputFile {
public:
    // Throws if the file exists and `overwrite` is not set. "-" is written to stdout on commit().
    OutputFile(const std::string& path, bool overwrite);
    // Makes the file `name` below the folder `root`, and missing folders. Throws if a folder in
    // `name` is a link, since a link could lead out of root. This holds even if another process
    // puts the link there during the call.
    OutputFile(const std::string& root, const std::string& name, bool overwrite);
    // Makes or replaces the file `name` in an open folder. The object closes the folder in the end.
    // `path` is for messages.
    OutputFile(SystemFile folder, std::string name, std::string path);
    ~OutputFile(); // removes the file if commit() was not called
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    void write(uint64_t offset, const void* bytes, size_t size);
    auto writer()
    {
        return
            [this](uint64_t offset, const void* bytes, size_t size) { write(offset, bytes, size); };
    }
    void read(uint64_t offset, void* bytes, size_t size) const; // reads what was written
    // Makes the file executable for everyone who may read it.
    void makeExecutable();
    void sync();   // waits until what was written is on the disk
    void commit(); // gives the file its name

private:
    void begin();
    void giveName();
    void copyToNamed();

    std::string m_path, m_name; // m_path is for messages, m_name for the folder
    TemporaryFile m_temporary;
    bool m_overwrite, m_isExecutable = false;
    SystemFile m_file = kNoFile;   // the file being written; its name, if any, is m_temporary.name
    SystemFile m_stream = kNoFile; // a device, a pipe or a descriptor to which commit() copies
};

// Returns whether this is a name that OutputFile gives to temporary files.
bool isTemporaryName(const std::string& path);

// Writes all bytes to stdout.
void writeStdout(const void* bytes, size_t size);

// Throws if something has this name, even a dangling link, and `overwrite` is not set. `refusal`
// replaces the usual message.
void checkOverwrite(const std::string& path, bool overwrite, const char* refusal = nullptr);

// Throws if the output is the same file as one of the inputs, even under another name or through a
// link. Empty names and "-" do not count.
void refuseOwnInput(const std::string& output, const std::vector<std::string>& inputs);

// Throws if two outputs lead to the same file: the second output would replace the first.
void refuseSameOutputs(const std::vector<std::string>& outputs);

// Checks the value of -o. Throws what checkOverwrite and refuseOwnInput throw. Throws also if the
// value is "-" and stdout is a terminal.
void checkOutput(const std::string& path, bool overwrite, const std::vector<std::string>& inputs);

// Throws if no file below a folder can have this name on this system. `path` is for the message.
void checkFileName(const std::string& name, const std::string& path);

// Makes a folder and its missing parents.
void makeFolder(const std::string& path);

} // namespace sluice
