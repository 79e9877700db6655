// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fstream>

#include <sys/utsname.h>

#include "tools/common/platform.h"

namespace sluice {
namespace {

// Finds the first line of a file that begins with `key`. Returns what follows the separator (':' or
// '=') in that line; empty if there is no such line.
std::string valueOf(const char* path, const std::string& key)
{
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.rfind(key, 0) != 0) continue;
        const size_t begin = line.find_first_not_of(" \t:=\"", key.size());
        if (begin == std::string::npos) return "";
        return line.substr(begin, line.find_last_not_of("\" ") + 1 - begin);
    }
    return "";
}

} // namespace

std::string systemText()
{
    struct utsname names = {};
    if (uname(&names) != 0) return "unknown";
    const std::string kernel =
        std::string(names.sysname) + " " + names.release + " " + names.machine;
    const std::string system = valueOf("/etc/os-release", "PRETTY_NAME");
    return system.empty() ? kernel : system + ", " + kernel;
}

std::string hostName()
{
    struct utsname names = {};
    return uname(&names) == 0 ? names.nodename : "";
}

std::vector<std::string> machineIdentity()
{
    std::vector<std::string> texts = {hostName()};
    std::ifstream file("/etc/machine-id", std::ios::binary);
    std::string number(64, '\0');
    file.read(number.data(), std::streamsize(number.size()));
    number.resize(size_t(file.gcount()));
    if (!number.empty()) texts.push_back(number); // otherwise only the host name is known
    return texts;
}

bool hasPosixShell() { return true; }

std::string processorText() { return valueOf("/proc/cpuinfo", "model name"); }

} // namespace sluice
