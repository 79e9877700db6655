// SPDX-License-Identifier: MIT OR Apache-2.0
// Declares what tests need of the operating system. The code is in system_posix.cpp and
// system_windows.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <sluice/sluice_stream.h>

namespace sluice::test {

size_t pageSize();
// Reserves address space. If isTouchable, the system backs the pages that are touched; otherwise no
// page may be touched. Returns nullptr if there is none. Sizes are multiples of a page.
uint8_t* mapMemory(uint64_t size, bool isTouchable);
bool makeTouchable(uint8_t* memory, uint64_t size);
void unmapMemory(uint8_t* memory, uint64_t size);

// These are for operators new and delete, which must not call themselves.
void* allocateAligned(size_t alignment, size_t size);
void freeAligned(void* memory);

// streamersHaveDescriptors says whether a streamer has a descriptor. If so, waitForEvents returns
// when it is readable, or false after some minutes. Otherwise it returns after a millisecond.
bool streamersHaveDescriptors();
bool waitForEvents(SluiceStreamer streamer);

// Returns whether a file can be replaced while it is open. Wine 8 refuses that.
bool replacesOpenFiles();

// Runs "TOOL ARGUMENTS" in a folder; its output goes to the files .out and .err there. Returns the
// exit code, or less than 0 if it was not run or did not end by itself. On POSIX a shell runs the
// commands in `environment` and then the line. On Windows there is no shell; only blanks and quotes
// are special.
int runInFolder(const std::string& folder, const std::string& environment, const std::string& tool,
                const std::string& arguments);

} // namespace sluice::test
