// SPDX-License-Identifier: MIT OR Apache-2.0
// Everything that the streamer uses of the operating system, in one place, so that tests can make
// it fail.
#pragma once

#include <sluice/sluice_stream.h>

#include <cstdint>

namespace sluice::stream {

// The alignment of direct reads where the system does not report one, and the most that is used. A
// page is enough everywhere.
constexpr uint32_t kUsualAlignment = 4096, kMaxAlignment = 65536;

struct FileStatus {
    bool isRegular = false;
    uint64_t size = 0;
    uint64_t device = 0, number = 0; // together they identify a file
};

// A read of System::readMany.
struct Read {
    int descriptor = -1;
    void* bytes = nullptr;
    uint64_t size = 0, offset = 0;
    int64_t got = 0; // what System::read returns
};
// The most reads that one thread makes between two holds of the lock.
constexpr uint32_t kReadsAtOnce = 16;

// Negative results are negated errno values. On Windows a descriptor is a HANDLE, of which only the
// lower 32 bits are significant.
class System {
public:
    virtual ~System() = default;
    // Opens a file for reading. With isDirect, reads bypass the page cache; the result is -EINVAL
    // where the system cannot do that.
    virtual int open(const char* path, bool isDirect) const;
    virtual void close(int descriptor) const;
    virtual int status(int descriptor, FileStatus& status) const; // 0: success
    virtual int64_t read(int descriptor, void* bytes, uint64_t size, uint64_t offset) const;
    // Makes at most kReadsAtOnce reads, at the same time where the system can do that.
    virtual void readMany(Read* reads, uint32_t count) const;
    // Returns whether readMany can make reads at the same time. If not, calling it gains nothing.
    virtual bool readsTogether() const;
    // Returns the power of two that the offset, size and memory address of direct reads must be
    // multiples of; 0 if the file has no direct reads.
    virtual uint32_t directAlignment(int descriptor) const;

protected:
    // On Windows, files are bound to a completion port, so that one thread can have many reads
    // under way. If a file cannot be bound, each thread waits for its own reads.
    virtual bool usesCompletionPort() const { return true; }
};

const System& operatingSystem();

// The errno for a path that no longer refers to the file that was opened first.
extern const int kOtherFileError;

// An event is a descriptor that is readable while it is set. openEvent returns -1 where the system
// has no such descriptors. setEvent and resetEvent return false if the call failed.
int openEvent();
bool setEvent(int event);
bool resetEvent(int event);
void closeEvent(int event);

// Maps zeroed memory at a multiple of the alignment, with huge pages where the system has them.
// Size and alignment are multiples of 64 KiB. Returns nullptr if there is no memory.
void* mapMemory(uint64_t size, uint64_t alignment);
void unmapMemory(void* memory, uint64_t size);

// Does what sluiceCreateStreamer does, but makes system calls through `system`, which must outlive
// the streamer.
SluiceStatus createStreamer(const SluiceStreamerInfo* info, const System& system,
                            SluiceStreamer* streamer);

} // namespace sluice::stream
