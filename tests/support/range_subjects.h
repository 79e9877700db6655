// SPDX-License-Identifier: MIT OR Apache-2.0
// One small piece of work for every command that decodes from one range of memory into another, so
// that one test can move the ends of the ranges, or the memory, under all of them.
#pragma once

#include "tests/support/devices.h"

namespace sluice::test {

// Where a subject's bytes lie, and the ranges that its command is given.
struct Placement {
    SluiceBuffer source, destination;           // the ranges
    uint64_t sourceAddress, destinationAddress; // of the bytes
    uint64_t sourceOffset, destinationOffset;   // the same, from where the ranges begin on
};

struct Subject {
    std::string name;
    Bytes source;           // empty: the command has none
    Bytes before, expected; // the destination's bytes; before: empty: anything
    uint32_t refused;       // the status if one of them lies outside its range
    // Multiples of these may a range's begin be moved by.
    uint32_t sourceStep = 4, destinationStep = 4;
    // Returns the status of everything that it decodes.
    std::function<Words(Device& on, const Placement& at)> run;
};

// Where a subject has several tables in its source there is one with each of them at the begin and
// one with each at the end.
std::vector<Subject> rangeSubjects();
// Work of some thousand bytes for every command that gives its tiles statuses: each kind of block,
// table, filter and type.
std::vector<Subject> largerSubjects();

} // namespace sluice::test
