// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/shared_options.h"

#include <sluice/sluice_encode.h>

#include "tools/sluice/pack/cache_folder.h"

namespace sluice {

void addDevice(CLI::App& verb, DeviceOptions& options)
{
    verb.add_option("--device", options.device,
                    "auto, cpu, vulkan, vulkan:N, vulkan:TEXT, cuda or cuda:N")
        ->type_name("DEV");
    verb.add_option("--tier", options.tier,
                    "base, ext, emu4 ... emu128, native, fast or ref; the best one if not given")
        ->type_name("TIER");
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
    verb.add_option("-o,--output", output, "the archive; - is stdout")
        ->type_name("FILE")
        ->required();
}

void addThreads(CLI::App& verb, uint32_t& threads)
{
    verb.add_option("-j,--threads", threads, "threads; default one per core")
        ->check(CLI::Range(1u, 4096u));
}

void addDecodeThreads(CLI::App& verb, uint32_t& threads)
{
    threads = 0;
    verb.add_option("-j,--threads", threads,
                    "threads that decode tiles on the CPU; default one per core")
        ->check(CLI::Range(1u, 4096u));
}

void addMaxOutput(CLI::App& verb, uint64_t& maxOutput)
{
    verb.add_option_function<std::string>(
            "--max-output",
            [&](const std::string& text) {
                maxOutput = sizeFromText("--max-output", text);
                if (maxOutput == 0)
                    throw Failure{exitUsage, "--max-output: 0 would refuse everything"};
            },
            "refuse what decodes to more, such as 500M or 20G; default 512M, or 100 times the "
            "file's size if that is more")
        ->type_name("SIZE");
}

} // namespace sluice
