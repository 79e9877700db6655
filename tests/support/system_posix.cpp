// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/support/system.h"

#include <cstdlib>

#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::test {

size_t pageSize() { return size_t(sysconf(_SC_PAGESIZE)); }

uint8_t* mapMemory(uint64_t size, bool isTouchable)
{
    void* const memory =
        mmap(nullptr, size_t(size), isTouchable ? PROT_READ | PROT_WRITE : PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory != MAP_FAILED ? static_cast<uint8_t*>(memory) : nullptr;
}

bool makeTouchable(uint8_t* memory, uint64_t size)
{
    return mprotect(memory, size_t(size), PROT_READ | PROT_WRITE) == 0;
}

void unmapMemory(uint8_t* memory, uint64_t size) { munmap(memory, size_t(size)); }

void* allocateAligned(size_t alignment, size_t size) { return std::aligned_alloc(alignment, size); }
void freeAligned(void* memory) { std::free(memory); }

bool streamersHaveDescriptors() { return true; }

bool waitForEvents(SluiceStreamer streamer)
{
    pollfd wait = {sluiceStreamEventFd(streamer), POLLIN, 0};
    // Ten minutes, since software devices are slow.
    return wait.fd >= 0 && ::poll(&wait, 1, 600000) == 1;
}

bool replacesOpenFiles() { return true; }

int runInFolder(const std::string& folder, const std::string& environment, const std::string& tool,
                const std::string& arguments)
{
    const std::string line = "cd '" + folder + "' && { " + environment + " SLUICE='" + tool +
                             "'; { '" + tool + "' " + arguments + "; } >.out 2>.err </dev/null; }";
    const int result = std::system(line.c_str());
    return WIFEXITED(result) ? WEXITSTATUS(result) : -1;
}

} // namespace sluice::test
