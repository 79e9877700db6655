// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes one small piece of work, a subject, for every command that decodes from one range of memory
// into another. One test can then move the ends of the ranges, or the memory, for all of them.
#pragma once

#include "tests/support/devices.h"

namespace sluice::test {

// Says where a subject's bytes are, and which ranges its command is given.
struct Placement {
    SluiceBuffer source, destination;           // the ranges
    uint64_t sourceAddress, destinationAddress; // those of the bytes
    // Where the bytes are, counted from where the ranges begin.
    uint64_t sourceOffset, destinationOffset;
    uint64_t ignored; // what every member holds that the command ignores
};

struct Subject {
    std::string name;
    Bytes source;           // empty: the command has no source
    Bytes before, expected; // bytes of the destination; an empty `before`: any bytes
    uint32_t refused;       // the status if its bytes are outside of a range
    // The beginning of a range may move by multiples of these.
    uint32_t sourceStep = 4, destinationStep = 4;
    // Runs the command and returns the status of each part that it decodes.
    std::function<Words(Device& on, const Placement& at)> run;
};

// Returns the subjects. If one has several tables in its source, there is a subject with each of
// them first, and so with each of them last.
std::vector<Subject> rangeSubjects();
// Returns larger work, some thousand bytes each, for every command that gives statuses to tiles. It
// has each kind of block, table, filter and type.
std::vector<Subject> largerSubjects();

} // namespace sluice::test
