// SPDX-License-Identifier: MIT OR Apache-2.0
// Options that several verbs have, with the same name and meaning in each.
#pragma once

#include <functional>

#include <CLI/CLI.hpp>

#include "tools/common/tool.h"

namespace sluice {

// Adds an option with a value, which the help calls `type`.
template <typename Value>
CLI::Option* addValue(CLI::App& verb, const char* names, const char* type, Value& value,
                      const std::string& help)
{
    return verb.add_option(names, value, help)->type_name(type);
}
// Adds an option whose value is a size: a number, which counts units of `unit` bytes, or a number
// with a unit, such as 1.5GiB. `set` receives the size in bytes. The size must be a multiple of
// `step` and lie between `least` and `most`.
struct SizeRule {
    uint64_t unit, step, least, most;
};
void addSize(CLI::App& verb, const char* name, const SizeRule& rule, const std::string& help,
             std::function<void(uint64_t)> set);
void addDevice(CLI::App& verb, DeviceOptions& options);
void addDecodeSpeed(CLI::App& verb, uint32_t& value);
void addCopyDepth(CLI::App& verb, uint32_t& value);
void addOutput(CLI::App& verb, std::string& output);
void addThreads(CLI::App& verb, uint32_t& threads);
// Adds -j for a verb that uses threads only on the CPU.
void addDecodeThreads(CLI::App& verb, uint32_t& threads);
// Adds --max-output, the most bytes to which a file may decode. The value is 0 if it is not given.
// `help` replaces the usual help text.
void addMaxOutput(CLI::App& verb, uint64_t& maxOutput, const char* help = nullptr);

} // namespace sluice
