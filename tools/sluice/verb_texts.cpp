// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/verb_texts.h"

#include <algorithm>

namespace sluice {
namespace {

constexpr VerbText kTexts[] = {
    {"",
     "COMMAND [ARGUMENT]...",
     {{"sluice pack -o game.sluice assets", "packs a folder into an archive"},
      {"sluice unpack game.sluice -C out", "unpacks the archive into another folder"}}},
    {"pack",
     "-o OUT [FILE|DIR]...",
     {{"sluice pack -o game.sluice assets", "packs a folder, with names such as assets/foo"},
      {"sluice pack -o game.sluice -C assets textures",
       "packs a folder of it, with names such as textures/foo"}}},
    {"cache",
     "info|trim DIR",
     {{"sluice cache info cache", "says what the cache holds"},
      {"sluice cache trim cache --cache-size 1.5GiB", "removes what was not used for longest"}}},
    {"join",
     "-o OUT SHARD...",
     {{"sluice join -o game.sluice 1.shard 2.shard", "makes the archive of its two shards"},
      {"sluice join -f -q -o game.sluice 2.shard 1.shard",
       "makes the same archive again, for the order does not matter"}}},
    {"transcode",
     "-o OUT FILE.zst...",
     {{"sluice transcode -o data.sluice data.zst", "packs what the file decodes to, as data"},
      {"sluice transcode -l 12 -o all.sluice data.zst more.zst",
       "packs two files, as small as it can"}}},
    {"unpack",
     "[-o FILE | -C DIR] IN... [NAME]...",
     {{"sluice unpack game.sluice dlc.sluice -C out", "unpacks two archives into a folder"},
      {"sluice unpack game.sluice assets/readme.txt -o -", "prints one file of an archive"}}},
    {"info",
     "IN",
     {{"sluice info game.sluice --sort size", "lists the files, the largest first"},
      {"sluice info game.sluice --html map.html", "draws a map of the archive"}}},
    {"verify",
     "IN... [NAME]...",
     {{"sluice verify game.sluice", "decodes all, and checks it"},
      {"sluice verify game.sluice --compare . --keep-going",
       "compares all with the files that were packed here"}}},
    {"diff",
     "[-o PATCH] OLD NEW",
     {{"sluice diff old.sluice game.sluice", "lists what was added, removed, changed, renamed"},
      {"sluice diff old.sluice game.sluice -o game.patch", "also makes a patch"}}},
    {"patch",
     "-o NEW OLD PATCH",
     {{"sluice patch old.sluice game.patch -o new.sluice", "makes the new archive"},
      {"sluice patch -f old.sluice game.patch -o old.sluice", "replaces the old archive by it"}}},
    {"devices",
     "",
     {{"sluice devices", "lists the devices"},
      {"sluice devices -v --json", "prints all that is known about them, for programs"}}},
    {"selftest",
     "",
     {{"sluice selftest", "tests the device that unpack would take, on every tier"},
      {"sluice selftest --device cpu --tier fast", "tests one tier of the CPU"}}},
    {"tune",
     "",
     {{"sluice tune --json row.json", "measures for a minute, and prints the row"},
      {"sluice tune --candidates", "prints the row in use, and what would be measured"}}},
    {"bench",
     "",
     {{"sluice bench --input game.sluice --seconds 20", "measures how fast an archive decodes"},
      {"sluice bench --device cpu --filter =checksum", "measures one kernel on the CPU"}}},
    {"report",
     "-o FILE",
     {{"sluice report -o report.json --seconds 30", "examines all devices for half a minute"},
      {"sluice report -o cpu.json --device cpu", "examines the CPU alone"}}},
    {"completion",
     "bash|zsh|fish",
     {{"sluice completion bash >sluice.bash", "writes the script that bash sources"},
      {"sluice completion fish >sluice.fish", "writes the script for fish"}}},
    {"man",
     "[COMMAND]",
     {{"sluice man pack >sluice-pack.1", "writes the page of a command"},
      {"sluice man --folder man1", "writes all pages into a folder"}}},
};

} // namespace

const VerbText& textsOf(const std::string& verb)
{
    const auto found = std::find_if(std::begin(kTexts), std::end(kTexts),
                                    [&](const VerbText& one) { return verb == one.verb; });
    return found != std::end(kTexts) ? *found : kTexts[0];
}

std::string synopsisOf(const std::string& verb)
{
    const VerbText& texts = textsOf(verb);
    const std::string arguments = texts.arguments;
    return "sluice" + (texts.verb[0] == 0 ? "" : " " + verb) + " [-f] [-q] [-v] [OPTION]..." +
           (arguments.empty() ? "" : " " + arguments);
}

} // namespace sluice
