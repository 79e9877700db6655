// SPDX-License-Identifier: MIT OR Apache-2.0
// GPU-driven visibility, as an engine has it in each frame, without reading anything back:
//   a shader of the engine's own   sets a bit for each of a million instances that is visible
//   sluiceCmdCompact               keeps the draw commands of visible instances, in order, as an
//                                  indirect-draw list with its count; and by the same bits keeps
//                                  the places and the lengths of their payloads
//   sluiceCmdIntervalMove          gathers these payloads, of any length, into one array
// Then the host checks every word.
#include <sluice/sluice_compact.h>
#include <sluice/sluice_interval.h>

#include <cstdio>
#include <cstring>
#include <random>

#include "tools/samples/gpu.h"
#include "tools/samples/require.h"

#include "cull.h" // made from cull.comp

namespace {

constexpr uint32_t kInstances = 1'000'000;
constexpr uint32_t kMaxPayload = 31; // words of an instance's payload; on average half as many

struct Sphere {
    int32_t x, y, z, radius;
};

struct Cull {
    int32_t planes[4][4];
    uint64_t spheres;
    uint64_t mask;
    uint32_t instances;
    uint32_t padding;
};

bool isVisible(const Cull& cull, const Sphere& sphere)
{
    for (const auto& plane : cull.planes) {
        const int32_t distance =
            sphere.x * plane[0] + sphere.y * plane[1] + sphere.z * plane[2] + plane[3];
        if (distance < -64 * sphere.radius) return false;
    }
    return true;
}

struct Scene {
    Buffer spheres, draws, payloadBegin, payloadSize, payload; // data of all instances
    Buffer mask;
    Buffer visibleDraws, visibleCount, visibleBegin, visibleSize, visiblePayload, result;
    Buffer compactScratch, intervalScratch;
};

Scene makeScene(Gpu& gpu)
{
    Scene scene;
    scene.spheres = gpu.allocate(kInstances * sizeof(Sphere));
    scene.draws = gpu.allocate(kInstances * sizeof(VkDrawIndirectCommand));
    scene.payloadBegin = gpu.allocate(kInstances * 4);
    scene.payloadSize = gpu.allocate(kInstances * 4);
    std::mt19937 engine(1);
    const auto random = [&engine](uint32_t below) { return uint32_t(engine() % below); };
    const auto place = [&random] { return int32_t(random(20'000)) - 10'000; };
    uint32_t words = 0;
    for (uint32_t i = 0; i < kInstances; ++i) {
        scene.spheres.as<Sphere>()[i] = {place(), place(), place(), int32_t(random(200))};
        scene.draws.as<VkDrawIndirectCommand>()[i] = {3 * random(100), 1, random(65'536), i};
        scene.payloadBegin.as<uint32_t>()[i] = words;
        scene.payloadSize.as<uint32_t>()[i] = random(kMaxPayload + 1);
        words += scene.payloadSize.as<uint32_t>()[i];
    }
    scene.payload = gpu.allocate(uint64_t{words} * 4);
    for (uint32_t i = 0; i < words; ++i)
        scene.payload.as<uint32_t>()[i] = uint32_t(engine());

    scene.mask = gpu.allocate((kInstances + 31) / 32 * 4);
    scene.visibleDraws = gpu.allocate(scene.draws.buffer.size);
    scene.visibleCount = gpu.allocate(4);
    scene.visibleBegin = gpu.allocate(scene.payloadBegin.buffer.size);
    scene.visibleSize = gpu.allocate(scene.payloadSize.buffer.size);
    scene.visiblePayload = gpu.allocate(scene.payload.buffer.size);
    scene.result = gpu.allocate(8);
    return scene;
}

// Describes a compaction from `all` to `visible` of the elements whose bits are set in the mask.
SluiceCompactInfo compactInfo(const Scene& scene, const Buffer& all, const Buffer& visible,
                              uint32_t elementSize)
{
    SluiceCompactInfo info = {};
    info.test = SLUICE_COMPACT_MASK;
    info.elementSize = elementSize;
    info.maxCount = kInstances;
    info.input = all.buffer;
    info.selectors = scene.mask.buffer;
    info.output = visible.buffer;
    info.resultCount = scene.visibleCount.buffer;
    info.scratch = scene.compactScratch.buffer;
    return info;
}

SluiceIntervalMoveInfo gatherInfo(const Scene& scene)
{
    SluiceIntervalMoveInfo info = {};
    info.kind = SLUICE_INTERVAL_GATHER;
    info.elementSize = 4;
    info.positionSize = 4;
    info.intervals.maxCount = kInstances;
    info.intervals.count = scene.visibleCount.buffer; // a word that never leaves the GPU
    info.intervals.counts = scene.visibleSize.buffer;
    info.gather = scene.visibleBegin.buffer;
    info.source = scene.payload.buffer;
    info.destination = scene.visiblePayload.buffer;
    info.result = scene.result.buffer;
    info.scratch = scene.intervalScratch.buffer;
    return info;
}

void allocateScratch(Gpu& gpu, Scene& scene)
{
    SluiceRequirements needs = {};
    const uint32_t drawSize = sizeof(VkDrawIndirectCommand);
    // Draw commands are the largest elements, so their scratch is enough for the other arrays too.
    const SluiceCompactInfo compact = compactInfo(scene, scene.draws, scene.visibleDraws, drawSize);
    require(sluiceGetCompactRequirements(gpu.sluice(), &compact, &needs), "compact requirements");
    // Scratch must be zero before the first command; each command leaves it zero.
    scene.compactScratch = gpu.allocate(needs.scratchSize);
    const SluiceIntervalMoveInfo gather = gatherInfo(scene);
    require(sluiceGetIntervalRequirements(gpu.sluice(), &gather.intervals, &needs),
            "interval requirements");
    scene.intervalScratch = gpu.allocate(needs.scratchSize);
}

void recordFrame(Gpu& gpu, const Scene& scene, VkPipeline pipeline, const Cull& cull)
{
    const SluiceContext sluice = gpu.sluice();
    const SluiceCommands commands = sluiceVulkanCommands(gpu.begin());
    gpu.dispatch(pipeline, &cull, sizeof cull, (kInstances + 32 * 64 - 1) / (32 * 64));
    require(sluiceCmdBarrier(sluice, commands), "barrier");

    // All three compactions use the same scratch and count, so they run one after the other.
    const SluiceCompactInfo compacts[] = {
        compactInfo(scene, scene.draws, scene.visibleDraws, sizeof(VkDrawIndirectCommand)),
        compactInfo(scene, scene.payloadBegin, scene.visibleBegin, 4),
        compactInfo(scene, scene.payloadSize, scene.visibleSize, 4),
    };
    for (const SluiceCompactInfo& compact : compacts) {
        require(sluiceCmdCompact(sluice, commands, &compact), "compact");
        require(sluiceCmdBarrier(sluice, commands), "barrier");
    }

    const SluiceIntervalMoveInfo gather = gatherInfo(scene);
    require(sluiceCmdIntervalMove(sluice, commands, &gather), "interval gather");
    require(sluiceCmdBarrier(sluice, commands), "barrier");
    // Here an engine draws, with shaders that read visiblePayload:
    //   vkCmdDrawIndirectCount(commandBuffer, visibleDraws, 0, visibleCount, 0, kInstances, 16)
}

// Returns how many instances are visible. Throws if the GPU has found anything else.
uint32_t check(const Scene& scene, const Cull& cull)
{
    uint32_t visible = 0, words = 0;
    for (uint32_t i = 0; i < kInstances; ++i) {
        if (!isVisible(cull, scene.spheres.as<Sphere>()[i])) continue;
        const uint32_t size = scene.payloadSize.as<uint32_t>()[i],
                       begin = scene.payloadBegin.as<uint32_t>()[i];
        const bool drawn = std::memcmp(scene.visibleDraws.as<VkDrawIndirectCommand>() + visible,
                                       scene.draws.as<VkDrawIndirectCommand>() + i,
                                       sizeof(VkDrawIndirectCommand)) == 0;
        const bool gathered = std::memcmp(scene.visiblePayload.as<uint32_t>() + words,
                                          scene.payload.as<uint32_t>() + begin, size * 4) == 0;
        if (!drawn || !gathered)
            throw std::runtime_error("wrong draw or payload of instance " + std::to_string(i));
        ++visible;
        words += size;
    }
    if (*scene.visibleCount.as<uint32_t>() != visible || scene.result.as<uint32_t>()[0] != words ||
        scene.result.as<uint32_t>()[1] != 0)
        throw std::runtime_error("wrong number of draws or words");
    return visible;
}

void run()
{
    Gpu gpu(SLUICE_KERNELS_COMPACT | SLUICE_KERNELS_INTERVAL);
    const VkPipeline pipeline = gpu.createPipeline(cull, sizeof cull);
    Scene scene = makeScene(gpu);
    allocateScratch(gpu, scene);

    Cull frame = {};
    frame.spheres = scene.spheres.address;
    frame.mask = scene.mask.address;
    frame.instances = kInstances;
    // The camera looks along z; its view gets wider and narrower from frame to frame.
    const int32_t views[3][2] = {{45, 45}, {32, 55}, {60, 22}};
    for (const auto& view : views) {
        const int32_t planes[4][4] = {
            {view[0], 0, view[1], 0}, {-view[0], 0, view[1], 0}, {0, 45, 45, 0}, {0, -45, 45, 0}};
        std::memcpy(frame.planes, planes, sizeof planes);
        recordFrame(gpu, scene, pipeline, frame);
        const double milliseconds = gpu.submit();
        const uint32_t visible = check(scene, frame);
        std::printf("%s: %u of %u instances visible, %u words of payload, %.3f ms\n", gpu.name(),
                    visible, kInstances, scene.result.as<uint32_t>()[0], milliseconds);
    }
}

} // namespace

int main() { return runSample("visibility", run); }
