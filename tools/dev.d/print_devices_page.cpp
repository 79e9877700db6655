// SPDX-License-Identifier: MIT OR Apache-2.0
// sluice_devices_page FOLDER: prints docs/devices.md of the reports in the folder.
#include <cstdio>
#include <exception>

#include "tools/dev.d/devices_page.h"

int main(int argc, char** argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: sluice_devices_page FOLDER\n");
        return 1;
    }
    try {
        const std::string page = sluice::devicesPage(argv[1]);
        return std::fwrite(page.data(), 1, page.size(), stdout) == page.size() &&
                       std::fflush(stdout) == 0
                   ? 0
                   : 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}
