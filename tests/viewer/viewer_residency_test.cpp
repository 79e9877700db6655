// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the viewer's policy of which levels are in memory, with a made-up machine, and its shader
// scripts.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "tools/samples/viewer/residency.h"
#include "tools/samples/viewer/script.h"

using namespace viewer;

namespace {

constexpr uint32_t kLevels = 6, kTail = 3;

// Holds images as the policy wants them. It takes some frames until a raised level has arrived, and
// until freed memory can be used.
class Machine {
public:
    explicit Machine(uint64_t budget, uint32_t textures)
        : policy({budget, 20, 4}), m_budget(budget), m_images(textures)
    {
        std::vector<uint64_t> bytesFrom;
        for (uint32_t level = 0; level < kLevels; ++level)
            bytesFrom.push_back(uint64_t{1} << 2 * (kLevels - level)); // 4096, 1024 ... 4
        for (uint32_t i = 0; i < textures; ++i) {
            policy.add(bytesFrom, kTail);
            policy.setInUse(i, true);
        }
        m_bytesFrom = bytesFrom;
    }

    // wanted: for each texture the level that is wanted, or kNotSeen.
    void frame(const std::vector<uint32_t>& wanted)
    {
        ++m_frame;
        for (uint32_t i = 0; i < m_images.size(); ++i)
            policy.feedback(i, wanted[i], wanted[i] == kNotSeen ? 0 : 100, m_frame);
        finishRaises();
        while (!m_freed.empty() && m_freed.front().second + 2 <= m_frame) {
            m_used -= m_freed.front().first;
            m_soonFree -= m_freed.front().first;
            m_freed.erase(m_freed.begin());
        }
        for (const ResidencyStep& step : policy.plan(m_used, m_soonFree))
            take(step);
        CHECK(m_used <= m_budget);
    }
    void frames(uint32_t count, const std::vector<uint32_t>& wanted)
    {
        for (uint32_t i = 0; i < count; ++i)
            frame(wanted);
    }

    Residency policy;
    uint32_t raised = 0, lowered = 0, cancelled = 0;

private:
    struct Image {
        uint32_t detail = kLevels, coming = kLevels; // levels; kLevels means none
        bool hasTail = false, isCancelled = false;
        uint64_t since = 0;
    };

    void free(uint64_t bytes)
    {
        m_soonFree += bytes;
        m_freed.emplace_back(bytes, m_frame);
    }

    void take(const ResidencyStep& step)
    {
        Image& image = m_images[step.texture];
        if (step.kind == ResidencyStep::raise) {
            ++raised;
            CHECK(image.coming == kLevels);
            m_used += m_bytesFrom[step.level];
            image.coming = step.level;
            image.isCancelled = false;
            image.since = m_frame;
            policy.started(step.texture, step.level);
        } else if (step.kind == ResidencyStep::cancel) {
            cancelled += image.isCancelled ? 0 : 1;
            image.isCancelled = true;
        } else {
            ++lowered;
            if (image.detail != kLevels) free(m_bytesFrom[image.detail]);
            image.detail = kLevels;
            if (step.level < kTail) {
                m_used += m_bytesFrom[step.level];
                image.detail = step.level;
            } else if (step.level > kTail && image.hasTail) {
                free(m_bytesFrom[kTail]);
                image.hasTail = false;
            }
            policy.lowered(step.texture, step.level);
        }
    }

    void finishRaises()
    {
        for (uint32_t i = 0; i < m_images.size(); ++i) {
            Image& image = m_images[i];
            if (image.coming == kLevels || (image.since + 3 > m_frame && !image.isCancelled))
                continue;
            if (image.isCancelled) {
                free(m_bytesFrom[image.coming]);
            } else if (image.coming == kTail && !image.hasTail) {
                image.hasTail = true;
            } else {
                if (image.detail != kLevels) free(m_bytesFrom[image.detail]);
                image.detail = image.coming;
            }
            policy.finished(i, !image.isCancelled);
            image.coming = kLevels;
        }
    }

    uint64_t m_budget, m_used = 0, m_soonFree = 0, m_frame = 0;
    std::vector<uint64_t> m_bytesFrom;
    std::vector<Image> m_images;
    // The number of bytes, and the frame in which they were freed.
    std::vector<std::pair<uint64_t, uint64_t>> m_freed;
};

} // namespace

TEST_CASE("viewer residency: tails come first, then what is wanted, at once")
{
    Machine machine(100'000, 4);
    machine.frames(5, {kNotSeen, kNotSeen, kNotSeen, kNotSeen});
    for (uint32_t i = 0; i < 4; ++i)
        CHECK(machine.policy.resident(i) == kTail);
    machine.frames(6, {0, 2, kNotSeen, 5});
    CHECK(machine.policy.resident(0) == 0);
    CHECK(machine.policy.resident(1) == 2);
    CHECK(machine.policy.resident(2) == kTail);
    CHECK(machine.policy.resident(3) == kTail);
    CHECK(machine.policy.isSettled());
    CHECK(machine.lowered == 0);
}

TEST_CASE("viewer residency: levels stay while there is memory, and a look away costs nothing")
{
    Machine machine(100'000, 2);
    machine.frames(10, {0, kNotSeen});
    machine.frames(200, {kNotSeen, 0});
    CHECK(machine.policy.resident(0) == 0); // nothing else needs its memory
    CHECK(machine.lowered == 0);
    const uint32_t raised = machine.raised;
    machine.frames(10, {0, 0});
    CHECK(machine.raised == raised);
}

TEST_CASE("viewer residency: what was seen longest ago makes room, within the budget")
{
    Machine machine(15'000, 4); // room for two textures of 4,096 bytes, the tails, and changes
    machine.frames(10, {0, kNotSeen, kNotSeen, kNotSeen});
    machine.frames(40, {kNotSeen, 0, kNotSeen, kNotSeen});
    machine.frames(40, {kNotSeen, kNotSeen, 0, kNotSeen});
    CHECK(machine.policy.resident(2) == 0);
    machine.frames(40, {kNotSeen, kNotSeen, kNotSeen, 0});
    CHECK(machine.policy.resident(3) == 0);
    CHECK(machine.policy.resident(0) == kTail); // it was the first one to go
    CHECK(machine.lowered >= 1);
    for (uint32_t i = 0; i < 4; ++i)
        CHECK(machine.policy.resident(i) <= kTail);
}

TEST_CASE("viewer residency: where all is wanted and does not fit, all are coarser alike")
{
    Machine machine(12'000, 8); // eight textures of level 0 have 32,768 bytes
    machine.frames(100, {0, 0, 0, 0, 0, 0, 0, 0});
    CHECK(machine.policy.bias() == 1);
    for (uint32_t i = 0; i < 8; ++i)
        CHECK(machine.policy.resident(i) == 1);
    CHECK(machine.policy.isSettled());
    const uint32_t raised = machine.raised;
    machine.frames(200, {0, 0, 0, 0, 0, 0, 0, 0}); // nothing changes any more
    CHECK(machine.raised == raised);
}

TEST_CASE("viewer residency: what is not wanted any more is cancelled")
{
    Machine machine(100'000, 1);
    machine.frames(5, {kNotSeen});
    machine.frame({0});
    CHECK(machine.policy.isBusy(0));
    machine.policy.setInUse(0, false);
    machine.frame({kNotSeen});
    CHECK(machine.cancelled == 1);
    machine.frame({kNotSeen});
    CHECK(!machine.policy.isBusy(0));
    CHECK(machine.policy.resident(0) == kTail);
}

TEST_CASE("viewer residency: damaged levels are not asked for again")
{
    Residency policy({100'000, 20, 4});
    policy.add({64, 16, 4}, 2);
    policy.setInUse(0, true);
    REQUIRE(policy.plan(0, 0).size() == 1);
    policy.started(0, 2);
    policy.finished(0, true);
    policy.feedback(0, 0, 1, 1);
    REQUIRE(policy.plan(4, 0).size() == 1);
    policy.started(0, 0);
    policy.failed(0);
    CHECK(policy.isDamaged(0));
    const std::vector<ResidencyStep> steps = policy.plan(4, 0);
    REQUIRE(steps.size() == 1);
    CHECK(steps[0].level == 1);
}

TEST_CASE("viewer residency: random wants never break the budget, and settle")
{
    std::mt19937 engine(3);
    const auto random = [&engine](uint32_t below) { return uint32_t(engine() % below); };
    Machine machine(9'000, 12);
    std::vector<uint32_t> wanted(12, kNotSeen);
    for (uint32_t i = 0; i < 3000; ++i) {
        if (random(10) == 0) wanted[random(12)] = random(3) == 0 ? kNotSeen : random(6);
        if (random(50) == 0) machine.policy.setInUse(random(12), random(4) != 0);
        machine.frame(wanted);
    }
    for (uint32_t i = 0; i < 12; ++i)
        machine.policy.setInUse(i, true);
    machine.frames(300, wanted);
    CHECK(machine.policy.isSettled());
    CHECK(machine.lowered > 15);
}

TEST_CASE("viewer scripts: which texture, and how it covers")
{
    Materials materials;
    readScript("// a comment\n"
               "textures/test/Lamp\n{\n\tqer_editorimage textures/test/editor.tga\n"
               "\t{\n\t\tmap $lightmap\n\t}\n"
               "\t{\n\t\tmap textures/test/lamp_a.tga\n\t\tblendFunc GL_DST_COLOR GL_ZERO\n\t}\n"
               "\t{\n\t\tmap textures/test/glow.tga\n\t\tblendfunc add\n\t}\n}\n"
               "textures/test/grate { surfaceparm trans /* many\nlines */\n"
               "{ map textures/test/grate.tga\nalphaFunc GE128 } }\n"
               "textures/test/sky\n{\nsurfaceparm sky\n}\n"
               "textures/test/flame\n{\n{\nanimMap 8 textures/a.tga textures/b.tga\n"
               "blendFunc GL_ONE GL_ONE\n}\n}\n"
               "textures/test/glass {\n{\nmap textures/glass.jpg\nblendfunc blend\n}\n}\n"
               "textures/test/plain {\n qer_editorimage textures\\test\\brick.jpg\n}\n",
               materials);
    CHECK(materials.size() == 6);
    CHECK(materials["textures/test/lamp"].texture == "textures/test/lamp_a");
    CHECK(materials["textures/test/lamp"].cover == Cover::opaque);
    CHECK(materials["textures/test/grate"].texture == "textures/test/grate");
    CHECK(materials["textures/test/grate"].cover == Cover::masked);
    CHECK(materials["textures/test/sky"].texture.empty());
    CHECK(materials["textures/test/flame"].texture == "textures/a");
    CHECK(materials["textures/test/flame"].cover == Cover::added);
    CHECK(materials["textures/test/glass"].cover == Cover::blended);
    CHECK(materials["textures/test/plain"].texture == "textures/test/brick");
    CHECK(textureName("Textures\\A.b/C.TGA") == "textures/a.b/c");
    for (const char* odd :
         {"", "{", "}}}}", "a {", "a { { { map", "/*", "\"", "a\n{\n{\nmap\n}\n}"})
        readScript(odd, materials); // whatever it reads from that
}
