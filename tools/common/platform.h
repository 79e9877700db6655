// SPDX-License-Identifier: MIT OR Apache-2.0
// The functions by which the tool uses the operating system. Their code is in platform_posix.cpp,
// platform_windows.cpp, machine_posix.cpp and machine_windows.cpp. Paths and names are UTF-8, with
// '/' between folders. A function fails by returning false, kNoFile or a number below 0; errno says
// why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// --- The program ---

// Must be called once, before all others. Prepares the standard streams. Returns the arguments
// without the program's name.
std::vector<std::string> startProgram(int argc, char** argv);
std::string programPath();
// Makes the program call `cleanUp` if it is ended from outside. A signal handler may make the call,
// so `cleanUp` may only call removeIn and read atomics.
void onInterrupt(void (*cleanUp)());
double processSeconds(); // CPU time of all threads of this process

// --- Streams ---

enum class OutputStream {
    out,
    error,
};
bool isTerminal(OutputStream stream);
uint32_t terminalColumns(OutputStream stream); // 0: the stream is no terminal

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
        link, // anything that leads elsewhere
        other,
        gone, // the entry vanished while its folder was read
    };
    Kind kind = Kind::other;
    bool isExecutable = false;       // for its owner; false on Windows
    uint64_t size = 0;               // bytes of a file
    uint64_t device = 0, number = 0; // together they identify the file
    FileTime modified;               // when its content changed last
    FileTime changed;                // when its content or its metadata changed last
};

inline bool isSameFile(const FileFacts& a, const FileFacts& b)
{
    return a.device == b.device && a.number == b.number;
}

struct FolderEntry {
    std::string name;
    FileFacts facts; // for a link, facts of the link itself
};

SystemFile standardInput();
SystemFile standardOutput();
SystemFile openForReading(const std::string& path);
// Opens a regular file. Fails with EINVAL for anything else; a pipe does not block the call. A link
// is followed only if followsLinks is set.
SystemFile openRegular(const std::string& path, bool followsLinks);
// Returns whether the path leads to something that is written to but cannot be replaced by a file:
// a device, a pipe, or a descriptor of this process (/dev/fd/3). False on Windows.
bool leadsToStream(const std::string& path);
SystemFile openStream(const std::string& path); // for writing; only where leadsToStream is true
// Follows links. Returns where the path finally leads, whether or not something is there; a path
// that is no link is returned as it is.
std::string followLinks(const std::string& path);
// Opens a file for reads that bypass the page cache. Offset, size and memory address of such a read
// must be multiples of the page size.
SystemFile openForDirectReading(const std::string& path);
// Makes a new file. Fails if there is one.
SystemFile createFile(const std::string& path);
// Makes a file without a name in the folder for temporary files. The file vanishes when it is
// closed. `path` receives a path in that folder, for messages.
SystemFile openUnnamed(std::string& path);
bool closeFile(SystemFile file);
// Makes the system report errors of earlier writes now, not only when the file is closed.
bool flushFile(SystemFile file);
bool syncFile(SystemFile file);
bool touchFile(SystemFile file);          // sets the time of modification to now
bool makeFileExecutable(SystemFile file); // for all who may read it; no effect on Windows
// Gives `file` the permissions of the entry `name` of the folder and, if the user may, its owner
// and group. Does nothing on Windows.
void takeModeOf(SystemFile folder, const std::string& name, SystemFile file);

bool factsOf(SystemFile file, FileFacts& facts);
bool factsOf(const std::string& path, bool followsLinks, FileFacts& facts);
// The next four functions transfer some of the bytes. They return how many, 0 if the file ends
// there, or -1 after an error (errno).
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
// Makes a folder below `parent` under a new name that begins with `start`. Returns its path, or an
// empty text on failure.
std::string makeTemporaryFolder(const std::string& parent, const std::string& start);
bool listFolder(const std::string& path, std::vector<FolderEntry>& entries);
bool listFolder(SystemFile folder, std::vector<FolderEntry>& entries);
std::optional<uint64_t> freeSpace(const std::string& folder);
// Returns whether the folder's files are in memory, so that no read there is from a disk; nothing
// if the system does not say.
std::optional<bool> isFolderInMemory(const std::string& folder);
bool dropFromMemory(const std::string& path); // drops the file's pages from the page cache

// Functions for an open folder, which stays the same folder even if it is renamed or removed.
// `name` is an entry in it; if the entry is a link, it is not followed.
SystemFile openFolder(const std::string& path);
SystemFile openFolderIn(SystemFile folder, const std::string& name);
bool createFolderIn(SystemFile folder, const std::string& name);
bool factsIn(SystemFile folder, const std::string& name, FileFacts& facts);
SystemFile openIn(SystemFile folder,
                  const std::string& name);               // to read a file; nothing else is opened
SystemFile createIn(SystemFile folder, const char* name); // EEXIST: the name is taken
// Fails with EEXIST if the new name is taken and `replaces` is not set.
bool renameIn(SystemFile folder, const char* name, const std::string& newName, bool replaces);
bool removeIn(SystemFile folder, const char* name);
// Makes a file without a name in the folder. The file vanishes when it is closed, unless linkIn has
// given it a name. Returns kNoFile if the system or the file system has no such files.
SystemFile createUnnamedIn(SystemFile folder);
// Returns a path by which this process can open an open file again, even one that has no name.
// Empty: there is none.
std::string pathOfDescriptor(SystemFile file);
// Gives a file without a name this name in the folder. Fails with EEXIST if the name is taken.
bool linkIn(SystemFile file, SystemFile folder, const std::string& name);
// Marks the file as used by this process until it is closed, so that removeAbandonedIn keeps it.
// Returns false if another process has removed the file or is about to.
bool holdFile(SystemFile file);
// Removes from the folder those regular files of this user whose names isOurs() accepts and that no
// process holds (holdFile). Does nothing on Windows.
void removeAbandonedIn(SystemFile folder, bool (*isOurs)(const std::string& name));

// --- Names ---

// Returns why, on this system, no file below a folder can have this name, which may contain
// folders. Returns an empty text if a file can.
std::string whyNoFileName(const std::string& name);
// Returns whether this system's file systems take names that differ only in case for one name. If
// they do, two names mean the same file if foldedFileName() makes them equal.
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
std::string hostName();      // empty: unknown
bool hasPosixShell();        // whether the system runs commands by a POSIX shell
// Returns texts that tell this machine from others that use the same folder over a network.
std::vector<std::string> machineIdentity();

} // namespace sluice
