// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/platform.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace sluice {
namespace {

constexpr int exitCannotStart = 2; // exitIo, as for a file that cannot be opened
constexpr int kMaxLinks = 40;      // Linux follows at most this many links in a path
constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

int descriptorOf(SystemFile file) { return int(file); }

FileFacts factsFrom(const struct stat& status)
{
    FileFacts facts;
    facts.kind = S_ISREG(status.st_mode)   ? FileFacts::Kind::file
                 : S_ISDIR(status.st_mode) ? FileFacts::Kind::folder
                 : S_ISLNK(status.st_mode) ? FileFacts::Kind::link
                                           : FileFacts::Kind::other;
    facts.isExecutable = (status.st_mode & S_IXUSR) != 0;
    facts.size = uint64_t(status.st_size);
    facts.device = uint64_t(status.st_dev);
    facts.number = uint64_t(status.st_ino);
    facts.modified = {status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
    facts.changed = {status.st_ctim.tv_sec, status.st_ctim.tv_nsec};
    return facts;
}

constexpr int kRegularFlags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

// Opens a file only if it is a regular one: opening a device may have side effects, and opening a
// pipe may block. `look` fills a struct stat for the file, `open` opens the file.
template <typename Look, typename Open>
SystemFile openedIfRegular(const Look& look, const Open& open)
{
    struct stat status = {};
    if (look(status) != 0) return kNoFile;
    errno = EINVAL;
    if (!S_ISREG(status.st_mode)) return kNoFile;
    const int file = open();
    if (file < 0 || (fstat(file, &status) == 0 && S_ISREG(status.st_mode))) return file;
    close(file); // between `look` and `open` another process has replaced the file
    errno = EINVAL;
    return kNoFile;
}

using DirectoryStream = std::unique_ptr<DIR, int (*)(DIR*)>;

// Opens the folder once more to list it, because listing moves the position of the descriptor.
DirectoryStream streamOf(SystemFile folder)
{
    const int again = openat(descriptorOf(folder), ".", kFolderFlags);
    DirectoryStream stream(again >= 0 ? fdopendir(again) : nullptr, closedir);
    if (again >= 0 && stream == nullptr) close(again);
    return stream;
}

bool setErrno(const std::error_code& error)
{
    errno = error.value();
    return !error;
}

void (*cleanUpOnSignal)() = nullptr;

void onSignal(int signal)
{
    cleanUpOnSignal();
    std::signal(signal, SIG_DFL);
    raise(signal);
}

} // namespace

std::vector<std::string> startProgram(int argc, char** argv)
{
    // If a standard stream is closed, the next file that is opened gets the stream's descriptor
    // number, and messages would go into that file. So /dev/null is opened in place of each closed
    // stream: stdin for writing and the others for reading, so that using them fails.
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) != descriptor)
            std::_Exit(exitCannotStart);
    return {argv + 1, argv + argc};
}

std::string programPath()
{
    std::error_code error;
    const std::string path = fs::read_symlink("/proc/self/exe", error).string();
    setErrno(error);
    return path;
}

void onInterrupt(void (*cleanUp)())
{
    cleanUpOnSignal = cleanUp;
    // These are all signals that end a program by default, except those for the program's own
    // faults, such as SIGSEGV.
    std::vector<int> signals = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGPIPE,   SIGALRM, SIGUSR1,
                                SIGUSR2, SIGXCPU, SIGXFSZ, SIGIO,   SIGVTALRM, SIGPROF};
#ifdef SIGPWR
    signals.insert(signals.end(), {SIGPWR, SIGSTKFLT});
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal)
        signals.push_back(signal);
#endif
    for (const int signal : signals) // a signal that nohup made ignored stays ignored
        if (std::signal(signal, onSignal) == SIG_IGN) std::signal(signal, SIG_IGN);
}

double processSeconds()
{
    struct rusage used = {};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) {
        return double(time.tv_sec) + double(time.tv_usec) * 1e-6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

bool isTerminal(OutputStream stream)
{
    return isatty(stream == OutputStream::out ? STDOUT_FILENO : STDERR_FILENO) != 0;
}

uint32_t terminalColumns(OutputStream stream)
{
    const int file = stream == OutputStream::out ? STDOUT_FILENO : STDERR_FILENO;
    struct winsize window = {};
    return ioctl(file, TIOCGWINSZ, &window) == 0 ? window.ws_col : 0;
}

// --- Files ---

SystemFile standardInput() { return STDIN_FILENO; }
SystemFile standardOutput() { return STDOUT_FILENO; }

SystemFile openForReading(const std::string& path)
{
    return open(path.c_str(), O_RDONLY | O_CLOEXEC);
}

SystemFile openRegular(const std::string& path, bool followsLinks)
{
    const int follow = followsLinks ? 0 : O_NOFOLLOW;
    return openedIfRegular(
        [&](struct stat& status) {
            return fstatat(AT_FDCWD, path.c_str(), &status, followsLinks ? 0 : AT_SYMLINK_NOFOLLOW);
        },
        [&] { return open(path.c_str(), kRegularFlags | follow); });
}

std::string followLinks(const std::string& path)
{
    fs::path at = path;
    std::error_code error;
    for (int links = 0; links < kMaxLinks && fs::is_symlink(at, error); ++links) {
        const fs::path target = fs::read_symlink(at, error);
        if (error) break;
        at = at.parent_path() / target; // an absolute `target` replaces the whole path
    }
    return at.string();
}

bool leadsToStream(const std::string& path)
{
    struct stat status = {};
    if (stat(path.c_str(), &status) != 0) return false;
    if (!S_ISREG(status.st_mode)) return !S_ISDIR(status.st_mode);
    const std::string own = "/proc/" + std::to_string(getpid()) + "/", end = "/fd";
    // Returns whether the folder holds this process's open files: /proc/PID/fd or, for one of its
    // threads, /proc/PID/task/TID/fd.
    const auto holdsDescriptors = [&](const std::string& folder) {
        return folder.size() > own.size() && folder.compare(0, own.size(), own) == 0 &&
               folder.compare(folder.size() - end.size(), end.size(), end) == 0;
    };
    fs::path at = path;
    std::error_code error;
    for (int links = 0; links < kMaxLinks && fs::is_symlink(at, error); ++links) {
        const fs::path folder = at.has_parent_path() ? at.parent_path() : fs::path(".");
        if (holdsDescriptors(fs::canonical(folder, error).string())) return true;
        at = folder / fs::read_symlink(at, error);
    }
    return false;
}

SystemFile openStream(const std::string& path)
{
    // O_APPEND: if the path is a descriptor of a file, what others wrote to that file stays.
    return open(path.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
}

SystemFile openForDirectReading(const std::string& path)
{
#ifdef O_DIRECT
    return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT);
#else
    (void)path;
    errno = EINVAL;
    return kNoFile;
#endif
}

SystemFile createFile(const std::string& path)
{
    return open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
}

SystemFile openUnnamed(std::string& path)
{
    path = temporaryFolder() + "/sluice-XXXXXX";
#ifdef O_TMPFILE
    const int unnamed =
        open(temporaryFolder().c_str(), O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (unnamed >= 0) return unnamed;
#endif
    const int descriptor = mkostemp(path.data(), O_CLOEXEC);
    if (descriptor >= 0) unlink(path.c_str());
    return descriptor;
}

bool closeFile(SystemFile file) { return close(descriptorOf(file)) == 0; }

bool flushFile(SystemFile file)
{
    const int other = fcntl(descriptorOf(file), F_DUPFD_CLOEXEC, 0);
    return other >= 0 && close(other) == 0;
}

bool syncFile(SystemFile file) { return fsync(descriptorOf(file)) == 0; }
bool touchFile(SystemFile file) { return futimens(descriptorOf(file), nullptr) == 0; }

bool makeFileExecutable(SystemFile file)
{
    struct stat status = {};
    if (fstat(descriptorOf(file), &status) != 0) return false;
    const mode_t readers = status.st_mode & (S_IRUSR | S_IRGRP | S_IROTH);
    return fchmod(descriptorOf(file), status.st_mode | readers >> 2) == 0;
}

void takeModeOf(SystemFile folder, const std::string& name, SystemFile file)
{
    struct stat status = {};
    const int to = descriptorOf(file);
    if (fstatat(descriptorOf(folder), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;
    mode_t mode = status.st_mode & 0777;
    // If the group cannot be set, the file's present group must not get the old group's rights.
    if (fchown(to, status.st_uid, status.st_gid) != 0 && fchown(to, uid_t(-1), status.st_gid) != 0)
        mode &= mode_t(~0070);
    fchmod(to, mode);
}

bool factsOf(SystemFile file, FileFacts& facts)
{
    struct stat status = {};
    if (fstat(descriptorOf(file), &status) != 0) return false;
    facts = factsFrom(status);
    return true;
}

bool factsOf(const std::string& path, bool followsLinks, FileFacts& facts)
{
    struct stat status = {};
    if ((followsLinks ? stat : lstat)(path.c_str(), &status) != 0) return false;
    facts = factsFrom(status);
    return true;
}

int64_t readSome(SystemFile file, void* bytes, size_t size)
{
    ssize_t got = 0;
    do
        got = read(descriptorOf(file), bytes, size);
    while (got < 0 && errno == EINTR);
    return got;
}

int64_t readSomeAt(SystemFile file, uint64_t offset, void* bytes, size_t size)
{
    ssize_t got = 0;
    do
        got = pread(descriptorOf(file), bytes, size, off_t(offset));
    while (got < 0 && errno == EINTR);
    return got;
}

int64_t writeSome(SystemFile file, const void* bytes, size_t size)
{
    ssize_t put = 0;
    do
        put = write(descriptorOf(file), bytes, size);
    while (put < 0 && errno == EINTR);
    return put;
}

int64_t writeSomeAt(SystemFile file, uint64_t offset, const void* bytes, size_t size)
{
    ssize_t put = 0;
    do
        put = pwrite(descriptorOf(file), bytes, size, off_t(offset));
    while (put < 0 && errno == EINTR);
    return put;
}

bool removeFile(const std::string& path) { return unlink(path.c_str()) == 0; }
bool removeFolder(const std::string& path) { return rmdir(path.c_str()) == 0; }

// --- Folders ---

bool createFolders(const std::string& path)
{
    std::error_code error;
    fs::create_directories(path, error);
    return setErrno(error);
}

bool createFolder(const std::string& path) { return mkdir(path.c_str(), 0777) == 0; }

std::string temporaryFolder()
{
    const char* folder = std::getenv("TMPDIR");
    return folder != nullptr && *folder != 0 ? folder : "/tmp";
}

std::string makeTemporaryFolder(const std::string& parent, const std::string& start)
{
    std::string name = parent + "/" + start + "XXXXXX";
    return mkdtemp(name.data()) != nullptr ? name : "";
}

bool listFolder(const std::string& path, std::vector<FolderEntry>& entries)
{
    const SystemFile folder = openFolder(path);
    const bool isListed = folder != kNoFile && listFolder(folder, entries);
    const int error = errno;
    if (folder != kNoFile) closeFile(folder);
    errno = error;
    return isListed;
}

bool listFolder(SystemFile opened, std::vector<FolderEntry>& entries)
{
    const DirectoryStream folder = streamOf(opened);
    if (folder == nullptr) return false;
    for (;;) {
        errno = 0;
        const dirent* const found = readdir(folder.get());
        if (found == nullptr) return errno == 0;
        FolderEntry entry = {found->d_name, {}};
        if (entry.name == "." || entry.name == "..") continue;
        struct stat status = {};
        if (fstatat(dirfd(folder.get()), found->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
            if (errno != ENOENT) return false;
            entry.facts.kind = FileFacts::Kind::gone;
        } else {
            entry.facts = factsFrom(status);
        }
        entries.push_back(std::move(entry));
    }
}

std::optional<uint64_t> freeSpace(const std::string& folder)
{
    struct statvfs about = {};
    if (statvfs(folder.c_str(), &about) != 0) return {};
    return uint64_t(about.f_bavail) * about.f_frsize;
}

std::optional<bool> isFolderInMemory(const std::string& folder)
{
    constexpr long kTmpfs = 0x01021994, kRamfs = 0x858458f6;
    struct statfs about = {};
    if (statfs(folder.c_str(), &about) != 0) return {};
    return long(about.f_type) == kTmpfs || long(about.f_type) == kRamfs;
}

bool dropFromMemory(const std::string& path)
{
    const SystemFile file = openForReading(path);
    if (file == kNoFile) return false;
    posix_fadvise(descriptorOf(file), 0, 0, POSIX_FADV_DONTNEED);
    return closeFile(file);
}

SystemFile openFolder(const std::string& path) { return open(path.c_str(), kFolderFlags); }

SystemFile openFolderIn(SystemFile folder, const std::string& name)
{
    return openat(descriptorOf(folder), name.c_str(), kFolderFlags | O_NOFOLLOW);
}

bool createFolderIn(SystemFile folder, const std::string& name)
{
    return mkdirat(descriptorOf(folder), name.c_str(), 0777) == 0;
}

bool factsIn(SystemFile folder, const std::string& name, FileFacts& facts)
{
    struct stat status = {};
    if (fstatat(descriptorOf(folder), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    facts = factsFrom(status);
    return true;
}

SystemFile openIn(SystemFile folder, const std::string& name)
{
    const int in = descriptorOf(folder);
    return openedIfRegular(
        [&](struct stat& status) {
            return fstatat(in, name.c_str(), &status, AT_SYMLINK_NOFOLLOW);
        },
        [&] { return openat(in, name.c_str(), kRegularFlags | O_NOFOLLOW); });
}

SystemFile createIn(SystemFile folder, const char* name)
{
    return openat(descriptorOf(folder), name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                  0666);
}

bool renameIn(SystemFile folder, const char* name, const std::string& newName, bool replaces)
{
    const int in = descriptorOf(folder);
    const char* const to = newName.c_str();
    if (replaces) return renameat(in, name, in, to) == 0;
#ifdef SYS_renameat2
    constexpr uint32_t kNoReplace = 1;
    if (syscall(SYS_renameat2, in, name, in, to, kNoReplace) == 0) return true;
    if (errno != EINVAL && errno != ENOSYS) return false;
#endif
    // Network file systems lack renameat2 with RENAME_NOREPLACE. There, a hard link with the new
    // name is made, which fails if the name is taken, and then the old name is removed.
    if (linkat(in, name, in, to, 0) == 0) return unlinkat(in, name, 0) == 0;
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) return false;
    struct stat status = {};
    const bool isTaken = fstatat(in, to, &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (isTaken) errno = EEXIST;
    return !isTaken && renameat(in, name, in, to) == 0;
}

bool removeIn(SystemFile folder, const char* name)
{
    return unlinkat(descriptorOf(folder), name, 0) == 0;
}

std::string pathOfDescriptor(SystemFile file)
{
    return "/proc/self/fd/" + std::to_string(descriptorOf(file));
}

namespace {

// Returns whether all processes that can write to the folder see each other's locks. On a network
// file system that depends on how each machine has mounted it, so only local file systems count.
bool isLocal(SystemFile folder)
{
    // ext2 to ext4, XFS, Btrfs, tmpfs, ramfs, overlayfs, F2FS, ZFS, bcachefs and FAT.
    constexpr uint32_t kLocal[] = {0xef53,     0x58465342, 0x9123683e, 0x01021994, 0x858458f6,
                                   0x794c7630, 0xf2f52010, 0x2fc12fc1, 0xca451a4e, 0x4d44};
    struct statfs about = {};
    return fstatfs(descriptorOf(folder), &about) == 0 &&
           std::find(std::begin(kLocal), std::end(kLocal), uint32_t(about.f_type)) !=
               std::end(kLocal);
}

// Returns whether a file that nobody has locked was left by a process that ended. Where locks of
// other machines may be invisible, only a file that was not written for a day counts.
bool isAbandoned(const struct stat& status, bool isLocal)
{
    constexpr time_t kDay = 24 * 60 * 60;
    return S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
           (isLocal || time(nullptr) - status.st_mtime > kDay);
}

} // namespace

SystemFile createUnnamedIn(SystemFile folder)
{
#ifdef O_TMPFILE
    const int file = openat(descriptorOf(folder), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    if (file < 0 || access(pathOfDescriptor(file).c_str(), F_OK) == 0) return file;
    close(file); // without /proc the file could never get a name
#else
    (void)folder;
#endif
    errno = ENOTSUP;
    return kNoFile;
}

bool linkIn(SystemFile file, SystemFile folder, const std::string& name)
{
    return linkat(AT_FDCWD, pathOfDescriptor(file).c_str(), descriptorOf(folder), name.c_str(),
                  AT_SYMLINK_FOLLOW) == 0;
}

bool holdFile(SystemFile file)
{
    // Where flock always fails, it fails in removeAbandonedIn too, which then removes nothing. So
    // the file is safe there, and errors other than EWOULDBLOCK do no harm.
    if (flock(descriptorOf(file), LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
    struct stat status = {};
    return fstat(descriptorOf(file), &status) == 0 && status.st_nlink != 0;
}

void removeAbandonedIn(SystemFile folder, bool (*isOurs)(const std::string& name))
{
    const DirectoryStream entries = streamOf(folder);
    if (entries == nullptr) return;
    const int in = descriptorOf(folder);
    const bool local = isLocal(folder);
    while (const dirent* const entry = readdir(entries.get())) {
        const char* const name = entry->d_name;
        struct stat status = {}, held = {};
        if (!isOurs(name) || fstatat(in, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            !isAbandoned(status, local))
            continue;
        const int file = descriptorOf(openIn(folder, name));
        if (file < 0) continue;
        // Removing the file is safe while this process has locked it: a process that makes a file
        // locks it and then checks that the file still has a name (holdFile). `name` must still be
        // that of the locked file: since that was opened, another process may have removed it, and
        // a third may have made a new file of the same name.
        if (flock(file, LOCK_EX | LOCK_NB) == 0 && fstat(file, &held) == 0 &&
            isAbandoned(held, local) && fstatat(in, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            status.st_dev == held.st_dev && status.st_ino == held.st_ino)
            unlinkat(in, name, 0);
        close(file);
    }
}

// --- Names ---

std::string whyNoFileName(const std::string&) { return ""; }
bool fileNamesFold() { return false; }
std::string foldedFileName(const std::string& name) { return name; }

} // namespace sluice
