// SPDX-License-Identifier: MIT OR Apache-2.0
// All that the streamer asks of the operating system, in one place, so that tests can make it fail.
#pragma once

#include <sluice/sluice_stream.h>

#include <cstdint>

namespace sluice::stream {

struct FileStatus {
    bool isRegular = false;
    uint64_t size = 0;
    uint64_t device = 0, number = 0; // together they tell a file from all others
};

// A read of System::readMany.
struct Read {
    int descriptor = -1;
    void* bytes = nullptr;
    uint64_t size = 0, offset = 0;
    int64_t got = 0; // as System::read returns it
};
// Reads of one thread between one lock and the next, at most.
constexpr uint32_t kReadsAtOnce = 16;

// Results below 0 are negative errnos. A descriptor of Windows is a HANDLE, of which 32 bits count.
class System {
public:
    virtual ~System() = default;
    // Opens a path for reading. isDirect asks for a way past the page cache, and gives EINVAL where
    // the system has none.
    virtual int open(const char* path, bool isDirect) const;
    virtual void close(int descriptor) const;
    virtual int status(int descriptor, FileStatus& status) const; // 0: it worked
    virtual int64_t read(int descriptor, void* bytes, uint64_t size, uint64_t offset) const;
    // Reads that go on at the same time where the system can do that; at most kReadsAtOnce.
    virtual void readMany(Read* reads, uint32_t count) const;
    // Returns whether the system can do that; if not, readMany gains nothing.
    virtual bool readsTogether() const;
    // The power of two that offset, size and memory of direct reads have to be multiples of. 0: the
    // file has no direct reads.
    virtual uint32_t directAlignment(int descriptor) const;

protected:
    // On Windows, files are bound to a completion port, by which many reads are under way at once.
    // If a file cannot be bound, each thread waits for its own reads.
    virtual bool usesCompletionPort() const { return true; }
};

const System& operatingSystem();

// The errno that says that a path has come to lead to another file.
extern const int kOtherFileError;

// A descriptor that is readable while it is set. openEvent gives -1 where the system has none;
// false: the call failed.
int openEvent();
bool setEvent(int event);
bool resetEvent(int event);
void closeEvent(int event);

// Zeroed memory at a multiple of the alignment, both multiples of 64 KiB, of huge pages where the
// system has them; nullptr: there is none.
void* mapMemory(uint64_t size, uint64_t alignment);
void unmapMemory(void* memory, uint64_t size);

// As sluiceCreateStreamer. The system outlives the streamer.
SluiceStatus createStreamer(const SluiceStreamerInfo* info, const System& system,
                            SluiceStreamer* streamer);

} // namespace sluice::stream
