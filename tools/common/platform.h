// SPDX-License-Identifier: MIT OR Apache-2.0
// Declares what the tool needs from the operating system; the code is in platform_posix.cpp,
// platform_windows.cpp, machine_posix.cpp and machine_windows.cpp. Paths and names are UTF-8, and
// '/' separates folders. A function that returns false, kNoFile or a number below 0 has failed, and
// errno says why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// --- The program ---

// Must be called first, once. Prepares the streams and returns the arguments without the program's
// name.
std::vector<std::string> startProgram(int argc, char** argv);
std::string programPath();
// If the program is ended from outside, `cleanUp` is called first, perhaps by a signal handler, so
// it may only call removeIn and read atomics.
void onInterrupt(void (*cleanUp)());
double processSeconds(); // CPU time, summed over all processors

// --- Streams ---

enum class OutputStream {
    out,
    error,
};
bool isTerminal(OutputStream stream);
uint32_t terminalColumns(); // of stderr; 0: unknown

// --- Files ---

// An open file or folder: a POSIX descriptor or a Windows HANDLE.
using SystemFile = intptr_t;
constexpr SystemFile kNoFile = -1;

struct FileTime {
    int64_t seconds = 0, nanoseconds = 0; // since 1970
};

struct FileFacts {
    enum class Kind {
        file,
        folder,
        link, // and anything else that leads elsewhere
        other,
        gone, // an entry of a folder that vanished while the folder was read
    };
    Kind kind = Kind::other;
    bool isExecutable = false;       // by its owner; never on Windows
    uint64_t size = 0;               // of a file
    uint64_t device = 0, number = 0; // together they identify the file
    FileTime modified;               // when its content changed last
    FileTime changed;                // when its content or its metadata changed last
};

struct FolderEntry {
    std::string name;
    FileFacts facts; // of a link, not of what it leads to
};

SystemFile standardInput();
SystemFile standardOutput();
SystemFile openForReading(const std::string& path);
// Returns whether the path leads to something that is written to and never replaced: a device, a
// pipe, or a descriptor of this process (/dev/fd/3). Always false on Windows.
bool leadsToStream(const std::string& path);
SystemFile openStream(const std::string& path);
// Returns the path that a link finally leads to, whether or not something is there; the path itself
// if it is no link.
std::string followLinks(const std::string& path);
// Opens a file so that reads bypass the page cache. They must read whole pages into page-aligned
// memory.
SystemFile openForDirectReading(const std::string& path);
// Makes a new file, which must not exist.
SystemFile createFile(const std::string& path);
// Makes a file without a name in the folder for temporary files. It vanishes when it is closed.
// `path` receives the folder that was tried, for a message.
SystemFile openUnnamed(std::string& path);
bool closeFile(SystemFile file);
// Hands what was written to the system, so that errors show now and not when the file is closed.
bool flushFile(SystemFile file);
bool syncFile(SystemFile file);
bool touchFile(SystemFile file);          // sets the time of modification to now
bool makeFileExecutable(SystemFile file); // for all who may read it; no effect on Windows
// Gives `file` the permissions of an entry of the folder and, if the user may set them, its owner
// and group. Does nothing on Windows.
void takeModeOf(SystemFile folder, const std::string& name, SystemFile file);

bool factsOf(SystemFile file, FileFacts& facts);
bool factsOf(const std::string& path, bool followsLinks, FileFacts& facts);
// These transfer some bytes and return their number; 0 means the end.
int64_t readSome(SystemFile file, void* bytes, size_t size); // from the current position
int64_t readSomeAt(SystemFile file, uint64_t offset, void* bytes, size_t size);
int64_t writeSome(SystemFile file, const void* bytes, size_t size);
int64_t writeSomeAt(SystemFile file, uint64_t offset, const void* bytes, size_t size);

bool removeFile(const std::string& path);
bool removeFolder(const std::string& path);

// --- Folders ---

bool createFolders(const std::string& path); // with missing parents; succeeds if it exists
bool createFolder(const std::string& path);
std::string temporaryFolder();
// Makes a folder below `parent` with a new name that begins with `start`. Returns an empty text if
// that failed.
std::string makeTemporaryFolder(const std::string& parent, const std::string& start);
bool listFolder(const std::string& path, std::vector<FolderEntry>& entries);
bool listFolder(SystemFile folder, std::vector<FolderEntry>& entries);
std::optional<uint64_t> freeSpace(const std::string& folder);
std::optional<bool> isFolderInMemory(const std::string& folder); // then no read there is cold
bool dropFromMemory(const std::string& path);                    // the pages that the system caches

// An open folder remains the same folder even if it is renamed or removed. `name` is one entry in
// it, and is not followed if it is a link.
SystemFile openFolder(const std::string& path);
SystemFile openFolderIn(SystemFile folder, const std::string& name);
bool createFolderIn(SystemFile folder, const std::string& name);
bool factsIn(SystemFile folder, const std::string& name, FileFacts& facts);
SystemFile openIn(SystemFile folder,
                  const std::string& name);               // to read a file; nothing else is opened
SystemFile createIn(SystemFile folder, const char* name); // EEXIST: the name is taken
// EEXIST: the new name is taken, and `replaces` is not set.
bool renameIn(SystemFile folder, const char* name, const std::string& newName, bool replaces);
bool removeIn(SystemFile folder, const char* name);
// Makes a file in the folder that has no name yet and vanishes when this process ends. Returns
// kNoFile if the system or the file system has no such files.
SystemFile createUnnamedIn(SystemFile folder);
bool linkIn(SystemFile file, SystemFile folder, const std::string& name); // EEXIST: it is taken
// Marks the file as in use by this process until it is closed, so that removeAbandonedIn keeps it.
// Returns false if another process was faster and is removing the file.
bool holdFile(SystemFile file);
// Removes regular files of this user from the folder if isOurs() accepts their names and no process
// holds them. Does nothing on Windows.
void removeAbandonedIn(SystemFile folder, bool (*isOurs)(const std::string& name));

// --- Names ---

// Returns why no file below a folder can have this name (which may contain folders) on this system.
// Returns an empty text if one can.
std::string whyNoFileName(const std::string& name);
// Returns whether file systems treat names that differ in case as the same. Two names mean one file
// if they are equal when folded.
bool fileNamesFold();
std::string foldedFileName(const std::string& name);

inline bool isFile(const std::string& path)
{
    FileFacts facts;
    return factsOf(path, true, facts) && facts.kind == FileFacts::Kind::file;
}

// --- The machine ---

std::string systemText();    // "Debian GNU/Linux 12 (bookworm), Linux 6.1.0 x86_64"
std::string processorText(); // empty: unknown
std::string hostName();      // empty: it has none
bool hasPosixShell();        // which runs commands
// Texts that distinguish this machine from others that may share a folder with it.
std::vector<std::string> machineIdentity();

} // namespace sluice
