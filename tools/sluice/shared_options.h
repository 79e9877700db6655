// SPDX-License-Identifier: MIT OR Apache-2.0
// Options that several verbs have: each has one name and one meaning.
#pragma once

#include <CLI/CLI.hpp>

#include "tools/common/tool.h"

namespace sluice {

void addDevice(CLI::App& verb, DeviceOptions& options);
void addDecodeSpeed(CLI::App& verb, uint32_t& value);
void addCopyDepth(CLI::App& verb, uint32_t& value);
void addOutput(CLI::App& verb, std::string& output);
void addThreads(CLI::App& verb, uint32_t& threads);
// Adds -j for a verb that uses threads only if the device is the CPU.
void addDecodeThreads(CLI::App& verb, uint32_t& threads);
// Adds --max-output, which limits how many bytes a file may decode to. The value stays 0 if it is
// not given.
void addMaxOutput(CLI::App& verb, uint64_t& maxOutput);

} // namespace sluice
