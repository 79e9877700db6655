// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes the rules of `sluice pack`: they are refused with a message, or applied to some names.
#include <cstdint>
#include <string>

#include "tools/sluice/pack/pack_rules.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    using namespace sluice;
    try {
        const PackRules rules("rules", std::string(reinterpret_cast<const char*>(data), size));
        AssetOptions base;
        base.codec = "gstd";
        for (const char* name : {"a", "a/b.tga", "sound/music/one.wav"})
            rules.explain(name, base);
    } catch (const Failure&) {
    }
    return 0;
}
