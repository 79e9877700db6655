// SPDX-License-Identifier: MIT OR Apache-2.0
// Packs a picture with sluice pack --images and reads what sluice unpack makes of it.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/support/images.h"
#include "tests/tool/tool_run.h"

namespace sluice::test {

// Packs and unpacks a file as a texture.
struct UnpackedTexture {
    UnpackedTexture(const Folder& tool, const std::string& name, const std::string& options = "")
    {
        REQUIRE(tool("pack -f --images -o t.sluice " + options + " " + name) == 0);
        CHECK(tool.errors().empty());
        REQUIRE(tool.onCpu("unpack -f t.sluice -o t.ktx2") == 0);
        const std::string bytes = tool.read("t.ktx2");
        file.assign(bytes.begin(), bytes.end());
        parsed = parseImage(file);
        REQUIRE(parsed.status == SLUICE_OK);
    }
    Bytes level(uint32_t i) const
    {
        const SluiceImageLevel& level = parsed.levels[i];
        return Bytes(file.begin() + ptrdiff_t(level.offset),
                     file.begin() + ptrdiff_t(level.offset + level.size));
    }
    // Returns the largest difference between a channel of level 0 and what wanted(x, y, channel)
    // returns.
    template <typename Wanted>
    int worst(const Wanted& wanted) const
    {
        const Bytes top = level(0);
        int most = 0;
        for (uint32_t i = 0; i < top.size(); ++i)
            most = std::max(most, std::abs(top[i] - wanted(i / 4 % parsed.info.width,
                                                           i / 4 / parsed.info.width, i % 4)));
        return most;
    }

    Bytes file;
    ParsedImage parsed;
};

} // namespace sluice::test
