// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the form in which the library holds its SPIR-V. When the library is built, it is checked
// that every module comes back as the compiler made it.
#include "tests/support/devices.h"
#include "vulkan/registry.h"
#include "vulkan/shader_code.h"
#include "vulkan/tiers.h"
#include "vulkan/tuning.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

namespace {

using namespace sluice;
using sluice::test::skipCase;
using Words = std::vector<uint32_t>;

constexpr ShaderVariant kVariants[] = {ShaderVariant::base,       ShaderVariant::ext,
                                       ShaderVariant::baseNarrow, ShaderVariant::extNarrow,
                                       ShaderVariant::emu,        ShaderVariant::extInt64};

// Returns whether instructions fill the module exactly, each result id is below the bound, and no
// id is made twice.
bool isModule(const Words& words)
{
    if (words.size() < kModuleHeaderWords || words[0] != 0x07230203) return false;
    std::vector<bool> made(words[3]);
    for (size_t at = kModuleHeaderWords; at < words.size();) {
        const uint32_t length = words[at] >> 16, result = resultPlace(words[at] & 0xffff);
        if (length == 0 || length > words.size() - at) return false;
        if (result != 0) {
            if (result >= length) return false;
            const uint32_t id = words[at + result];
            if (id == 0 || id >= words[3] || made[id]) return false;
            made[id] = true;
        }
        at += length;
    }
    return true;
}

} // namespace

TEST_CASE("shader packing: every variant of every shader unpacks to a module")
{
    for (const Pipeline pipeline : AllPipelines()) {
        for (const ShaderVariant variant : kVariants) {
            CAPTURE(pipelineRow(pipeline).name);
            CAPTURE(int(variant));
            const PackedShader shader = findShader(pipelineRow(pipeline).shader, variant);
            REQUIRE(shader.packed != nullptr);
            Words words(shader.wordCount);
            REQUIRE(unpackShader(shader, words.data()));
            CHECK(isModule(words));
        }
    }
    CHECK(findShader("none of them", ShaderVariant::ext).packed == nullptr);
}

// Checks that the list in cmake/Shaders.cmake has the constants that are used today.
TEST_CASE("shader packing: an NVIDIA GPU gets GDeflate and filters with their constants fixed")
{
    if (!hasFixedShaders()) {
        skipCase("this build has no such shaders");
        return;
    }
    DeviceTraits traits;
    traits.variant = ShaderVariant::ext;
    traits.vendor = kVendorNvidia;
    traits.subgroupSize = 32;
    traits.maxInvocations = 1024;
    traits.maxSubgroups = 32;
    traits.sharedBytes = 48 << 10;
    traits.processors = 132;
    traits.forwardProgress = traits.plainStoresVisible = true;
    size_t fixed = 0;
    for (const bool isComputeQueue : {false, true}) {
        traits.ampleSharedMemory = isComputeQueue;
        VulkanTuning tuning = tuningFor(traits);
        fitTuning(traits, tuning);
        for (const Pipeline pipeline : AllPipelines()) {
            const PipelineRow& row = pipelineRow(pipeline);
            const std::string shader = row.shader;
            if (!row.applies(traits, tuning) || (shader != "gdeflate" && shader != "filter"))
                continue;
            const PipelineConstants constants =
                constantsOf(row, traits, tuning, row.workgroup(traits, tuning));
            CAPTURE(row.name);
            CAPTURE(isComputeQueue);
            const PackedShader found = findShader(row.shader, traits.variant, constants);
            REQUIRE(found.packed != nullptr);
            CHECK(found.firstWord != findShader(row.shader, traits.variant).firstWord);
            Words words(found.wordCount);
            REQUIRE(unpackShader(found, words.data()));
            CHECK(isModule(words));
            // There is no instruction from OpSpecConstantTrue to OpSpecConstantOp.
            for (size_t at = kModuleHeaderWords; at < words.size(); at += words[at] >> 16)
                CHECK(((words[at] & 0xffff) < 48 || (words[at] & 0xffff) > 52));
            ++fixed;
        }
    }
    CHECK(fixed == 10);
}

namespace {

struct ByHand {
    // The words are the header, OpTypeVoid %1, OpLabel %5, and two OpIAdd of type %1, whose
    // operands are %1 and the new id itself.
    const Words words = {0x07230203, 0x00010500, 0,          9, 0, 0x00020013, 1,
                         0x000200f8, 5,          0x00050080, 1, 6, 1,          6,
                         0x00050080, 1,          7,          1, 7};
    std::vector<uint8_t> bytes;

    ByHand()
    {
        // Results are sent as differences 1, 4 and 1, in zigzag order. Of OpIAdd's operands, %1 is
        // sent as a word; the other one is 0 away from the newest id.
        const Words literals = {0x07230203, 0x00010500, 0,          9, 0, 0x00020013, 2,
                                0x000200f8, 8,          0x00050080, 2, 2, 2,          1};
        bytes.push_back(0xe3); // 14 literals, then a match of length 5
        for (uint32_t value : literals) {
            for (; value >= 0x80; value >>= 7)
                bytes.push_back(uint8_t(value | 0x80));
            bytes.push_back(uint8_t(value));
        }
        bytes.push_back(5); // the distance of the match
    }
};

} // namespace

TEST_CASE("shader packing: a module worked out by hand")
{
    ByHand one;
    const uint32_t count = uint32_t(one.words.size());
    Words words(count);
    REQUIRE(unpackShader({one.bytes.data(), one.bytes.size(), 0, count}, words.data()));
    CHECK(words == one.words);

    // If bytes are missing at the end, they are refused. So is a match that begins before the first
    // code.
    for (size_t size = 0; size < one.bytes.size(); ++size)
        CHECK_FALSE(unpackShader({one.bytes.data(), size, 0, count}, words.data()));
    one.bytes.back() = 15;
    CHECK_FALSE(unpackShader({one.bytes.data(), one.bytes.size(), 0, count}, words.data()));
    one.bytes.back() = 0;
    CHECK_FALSE(unpackShader({one.bytes.data(), one.bytes.size(), 0, count}, words.data()));
}

TEST_CASE("shader packing: damaged bytes are read within bounds")
{
    const ByHand one;
    const uint32_t count = uint32_t(one.words.size());
    std::mt19937 random(1);
    uint32_t refused = 0;
    for (uint32_t i = 0; i < 20000; ++i) {
        std::vector<uint8_t> bytes = one.bytes;
        for (uint32_t edits = 1 + uint32_t(random() % 3); edits != 0; --edits)
            bytes[random() % bytes.size()] = uint8_t(random());
        Words words(size_t(count) + 1, 0x5a5a5a5a);
        refused += unpackShader({bytes.data(), bytes.size(), 0, count}, words.data()) ? 0 : 1;
        REQUIRE(words[count] == 0x5a5a5a5a);
    }
    CHECK(refused != 0);
}
