// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/shared_options.h"

#include <sluice/sluice_encode.h>

namespace sluice {

void addSize(CLI::App& verb, const char* name, const SizeRule& rule, const std::string& help,
             std::function<void(uint64_t)> set)
{
    verb.add_option_function<std::string>(
            name,
            [set = std::move(set), rule, name](const std::string& text) {
                const uint64_t value = sizeFromText(name, text, rule.unit);
                if (value % rule.step != 0 || value < rule.least || value > rule.most)
                    throw Failure{
                        exitUsage,
                        formatText("%s: '%s' is not between %llu and %llu bytes", name,
                                   printable(text).c_str(), wide(rule.least), wide(rule.most)) +
                            (rule.step == 1
                                 ? std::string()
                                 : formatText(", or no multiple of %llu", wide(rule.step)))};
                set(value);
            },
            help)
        ->type_name("SIZE");
}

void addDevice(CLI::App& verb, DeviceOptions& options)
{
    addValue(verb, "--device", "DEV", options.device,
             "auto, cpu, vulkan, vulkan:N, vulkan:TEXT, cuda or cuda:N");
    addValue(verb, "--tier", "TIER", options.tier,
             "base, ext, emu4 ... emu128, native, fast or ref; the best one if not given");
}

void addDecodeSpeed(CLI::App& verb, uint32_t& value)
{
    verb.add_option("--decode-speed", value,
                    formatText("0 (smallest) to %u: larger files that decode faster; default 0",
                               SLUICE_GDEFLATE_MAX_DECODE_SPEED))
        ->check(CLI::Range(0u, SLUICE_GDEFLATE_MAX_DECODE_SPEED));
}

void addCopyDepth(CLI::App& verb, uint32_t& value)
{
    verb.add_option("--copy-depth", value,
                    formatText("gstd: 1 (fastest to decode) to %u (smallest): how deep copies are "
                               "nested; default 4",
                               SLUICE_GSTD_MAX_DEPTH))
        ->check(CLI::Range(1u, SLUICE_GSTD_MAX_DEPTH));
}

void addOutput(CLI::App& verb, std::string& output)
{
    addValue(verb, "-o,--output", "FILE", output, "the archive; - is stdout")->required();
}

void addThreads(CLI::App& verb, uint32_t& threads)
{
    verb.add_option("-j,--threads", threads, "threads; 0, the default, is one per core")
        ->check(CLI::Range(0u, 4096u));
}

void addDecodeThreads(CLI::App& verb, uint32_t& threads)
{
    threads = 0;
    verb.add_option("-j,--threads", threads,
                    "threads that decode tiles on the CPU; 0, the default, is one per core")
        ->check(CLI::Range(0u, 4096u));
}

void addMaxOutput(CLI::App& verb, uint64_t& maxOutput, const char* help)
{
    verb.add_option_function<std::string>(
            "--max-output",
            [&](const std::string& text) {
                maxOutput = sizeFromText("--max-output", text);
                if (maxOutput == 0)
                    throw Failure{exitUsage, "--max-output: 0 would refuse everything"};
            },
            help != nullptr
                ? help
                : "refuse what decodes to more, such as 500M or 1.5GiB; default 512M, or 100 times "
                  "the file's size if that is more")
        ->type_name("SIZE");
}

} // namespace sluice
