// SPDX-License-Identifier: MIT OR Apache-2.0
// Declares what tests ask of the operating system; the code is in system_posix.cpp and
// system_windows.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <sluice/sluice_stream.h>

namespace sluice::test {

size_t pageSize();
// Address space, of which the system backs what is touched, or which nobody may touch. nullptr: it
// cannot be had. Sizes are multiples of a page.
uint8_t* mapMemory(uint64_t size, bool isTouchable);
bool makeTouchable(uint8_t* memory, uint64_t size);
void unmapMemory(uint8_t* memory, uint64_t size);

// For operators new and delete, which must not call themselves.
void* allocateAligned(size_t alignment, size_t size);
void freeAligned(void* memory);

// Does a streamer have a descriptor? Then waitForEvents returns when it is readable, or false after
// some minutes; else after a millisecond.
bool streamersHaveDescriptors();
bool waitForEvents(SluiceStreamer streamer);

// Can a file be replaced while it is open? Wine 8 refuses that.
bool replacesOpenFiles();

// Runs "TOOL ARGUMENTS" in a folder, with its output in the files .out and .err there. Returns the
// exit code, below 0 where it was not run or did not end by itself. On POSIX a shell reads the line
// and `environment`, commands before it; on Windows there is none, and blanks and quotes alone mean
// something.
int runInFolder(const std::string& folder, const std::string& environment, const std::string& tool,
                const std::string& arguments);

} // namespace sluice::test
