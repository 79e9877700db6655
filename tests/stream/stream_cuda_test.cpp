// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests streaming to CUDA's device memory; the GPU decodes, the CPU does, or both do.
#include "tests/stream/stream_gpu.h"
#include "tests/support/uastc.h"

#include <sluice/sluice_stream_cuda.h>

TEST_CASE("stream cuda: what has no device is refused")
{
    SluiceStreamGpu* gpu = nullptr;
    CHECK(sluiceCreateStreamCuda(-1, &gpu) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCreateStreamCuda(0, nullptr) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCreateStreamCuda(1000, &gpu) == SLUICE_ERROR_UNSUPPORTED);
    CHECK(gpu == nullptr);
    sluiceDestroyStreamCuda(nullptr);
}

#ifdef SLUICE_HAVE_CUDA

#include <algorithm>
#include <cfloat>
#include <chrono>
#include <map>
#include <thread>

#include <cuda_runtime_api.h>

using namespace sluice::test;

namespace {

// Allocates device and host memory of CUDA and frees it when this object is destroyed.
class CudaMemory {
public:
    ~CudaMemory()
    {
        for (void* one : m_device)
            (void)cudaFree(one);
        for (void* one : m_host)
            (void)cudaFreeHost(one);
    }
    SluiceBuffer device(uint64_t size)
    {
        void* memory = nullptr;
        REQUIRE(cudaMalloc(&memory, size_t(size)) == cudaSuccess);
        m_device.push_back(memory);
        REQUIRE(cudaMemset(memory, Buffer::kPoison, size_t(size)) == cudaSuccess);
        return sluiceCudaBuffer(memory, size);
    }
    SluiceStreamMemory host(uint64_t size)
    {
        void* memory = nullptr;
        REQUIRE(cudaMallocHost(&memory, size_t(size)) == cudaSuccess);
        m_host.push_back(memory);
        void* onDevice = nullptr;
        REQUIRE(cudaHostGetDevicePointer(&onDevice, memory, 0) == cudaSuccess);
        return {sluiceCudaBuffer(onDevice, size), memory};
    }

private:
    std::vector<void*> m_device, m_host;
};

SluiceStreamer createStreamer(CudaMemory& memory, const SluiceStreamGpu* gpu, SluiceContext context,
                              Decoder decoder)
{
    SluiceStreamerInfo info = {};
    info.context = context;
    info.gpu = gpu;
    info.maxGroups = 16;
    info.maxRequests = 64;
    info.maxBatches = 3;
    info.threads = 2;
    info.decoding = decodingOf(decoder);
    SluiceStreamerRequirements required = {};
    REQUIRE(sluiceGetStreamerRequirements(&info, &required) == SLUICE_OK);
    info.source = memory.host(SLUICE_STREAM_MIN_SOURCE);
    info.output = memory.host(SLUICE_STREAM_MIN_OUTPUT);
    if (required.scratchSize != 0) {
        if (required.outputHost == 0)
            info.output = {memory.device(SLUICE_STREAM_MIN_OUTPUT), nullptr};
        info.control = memory.host(required.controlSize);
        info.results = memory.host(required.resultsSize);
        info.scratch = memory.device(required.scratchSize);
    }
    SluiceStreamer streamer = nullptr;
    REQUIRE(sluiceCreateStreamer(&info, &streamer) == SLUICE_OK);
    return streamer;
}

constexpr uint32_t kWidth = 128, kHeight = 120; // of an image of UASTC in memory

SluiceStreamRequest transcoded(const Bytes& blocks, const UastcTarget& target,
                               const SluiceStreamMemory& to, uint64_t place, uint64_t size)
{
    SluiceStreamRequest request = fromMemory(blocks.data(), blocks.size(), nullptr);
    request.target = SLUICE_STREAM_TO_BUFFER;
    request.buffer = {to.buffer.handle, to.buffer.offset + place, size};
    request.image.blockWidth = request.image.blockHeight = 4;
    request.image.blockSize = 16;
    request.image.layerCount = request.image.extent[2] = 1;
    request.image.extent[0] = kWidth;
    request.image.extent[1] = kHeight;
    request.image.format = target.format;
    return request;
}

// Records batches and polls until an event of this kind arrives. Other events go to `others`.
SluiceStreamEvent waitFor(SluiceStreamer streamer, cudaStream_t stream, SluiceStreamEventKind kind,
                          std::vector<SluiceStreamEvent>& others)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    for (uint64_t value = 1;; ++value) {
        REQUIRE(std::chrono::steady_clock::now() < end);
        SluiceStreamBudget budget = {FLT_MAX, 0, 0, 0, 0, 0, value};
        SluiceStreamBatch batch = {};
        REQUIRE(sluiceStreamRecord(streamer, sluiceCudaCommands(stream), &budget, &batch) ==
                SLUICE_OK);
        SluiceStreamEvent event = {};
        uint32_t count = 1;
        REQUIRE(sluiceStreamPoll(streamer, &event, &count) == SLUICE_OK);
        if (count == 1 && event.kind == kind) return event;
        if (count == 1) others.push_back(event);
        std::this_thread::yield();
    }
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("stream cuda: buffers, directly and through the ring, files, memory and the host")
{
    if (device().backend() != SLUICE_BACKEND_CUDA) {
        skipCase("streams to CUDA");
        return;
    }
    int index = 0;
    REQUIRE(cudaGetDevice(&index) == cudaSuccess); // the device of device()
    const Bytes &bytes = vulkanContent().small.bytes, &whole = vulkanContent().file;
    const uint64_t size = bytes.size();
    needUastc(device());
    const Bytes vectors = uastcVectors("uastc.bin"),
                blocks(vectors.begin(), vectors.begin() + kWidth / 4 * kHeight / 4 * 16);
    for (const Decoder decoder : kDecoders) {
        CAPTURE(int(decoder));
        SluiceStreamGpu* gpu = nullptr;
        REQUIRE(sluiceCreateStreamCuda(index, &gpu) == SLUICE_OK);
        SluiceContext cpu = nullptr;
        REQUIRE(sluiceCreateCpuContext(&cpu) == SLUICE_OK);
        cudaStream_t stream = nullptr;
        REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
        {
            CudaMemory memory;
            const SluiceStreamer streamer = createStreamer(
                memory, gpu, decoder == Decoder::cpuContext ? cpu : device().context(), decoder);
            MemoryFile file(whole);
            const SluiceStreamFileInterface interface = file.interface();
            const SluiceStreamOpenInfo openInfo = {nullptr, &interface, 1, 0};
            SluiceStreamFile opened = nullptr;
            REQUIRE(sluiceStreamOpen(streamer, &openInfo, &opened) == SLUICE_OK);
            std::vector<SluiceStreamEvent> events;
            REQUIRE(waitFor(streamer, stream, SLUICE_STREAM_OPENED, events).status == SLUICE_OK);

            const SluiceStreamMemory to = {memory.device(2 << 20), nullptr};
            Bytes expected(size_t(to.buffer.size), Buffer::kPoison), host(size);
            std::vector<SluiceStreamRequest> requests;
            const auto want = [&](const Bytes& from, uint64_t offset, uint64_t count,
                                  uint64_t place) -> SluiceStreamRequest& {
                requests.push_back(bufferRequest(opened, offset, count, to, place));
                requests.back().asset = VulkanContent::kSmall;
                std::copy_n(from.begin() + ptrdiff_t(offset), count,
                            expected.begin() + ptrdiff_t(place));
                return requests.back();
            };
            want(bytes, 0, size, 0);
            want(bytes, 3001, 50003, 300000); // begins and ends within tiles
            want(bytes, 0, size, 500001);     // at an unaligned address
            want(whole, 100, 2000, 800003).source = SLUICE_STREAM_FROM_FILE;
            SluiceStreamRequest& copied = want(bytes, 0, 60000, 900000);
            copied.source = SLUICE_STREAM_FROM_MEMORY;
            copied.memory = bytes.data();
            requests.push_back(fromArchive(opened, VulkanContent::kSmall, 0, size, host.data()));

            for (const UastcTarget& target : {kUastcTargets[0], kUastcTargets[2]}) { // BC7, texels
                const Bytes made = uastcMade(target, blocks, {0, kWidth, kHeight}).output;
                const uint64_t place = 500000 + 100000 * requests.size(); // behind the others
                requests.push_back(transcoded(blocks, target, to, place, made.size()));
                std::copy(made.begin(), made.end(), expected.begin() + ptrdiff_t(place));
            }

            SluiceStreamGroupInfo group = {};
            group.requests = requests.data();
            group.requestCount = uint32_t(requests.size());
            group.flags = SLUICE_STREAM_TELL_RECORDED;
            SluiceStreamGroup handle = 0;
            REQUIRE(sluiceStreamSubmit(streamer, &group, &handle) == SLUICE_OK);
            const SluiceStreamEvent ended = waitFor(streamer, stream, SLUICE_STREAM_END, events);
            CHECK(ended.group == handle);
            CHECK(ended.status == SLUICE_OK);
            REQUIRE(events.size() == 1);
            CHECK(events[0].kind == SLUICE_STREAM_RECORDED);
            Bytes got(expected.size());
            REQUIRE(cudaMemcpy(got.data(), reinterpret_cast<const void*>(to.buffer.handle),
                               got.size(), cudaMemcpyDeviceToHost) == cudaSuccess);
            CHECK(got == expected);
            CHECK(host == bytes);
            SluiceStreamCounters counters = {};
            REQUIRE(sluiceStreamGetCounters(streamer, &counters) == SLUICE_OK);
            CHECK(counters.groups + counters.sourceUsed + counters.outputUsed == 0);

            // CUDA has neither images nor semaphores.
            SluiceStreamRequest image = imageRequest(
                opened, 0, kImages[0], vulkanContent().images[0], 0, VkImage(VK_NULL_HANDLE));
            image.image.image = 1;
            group.requests = &image;
            group.requestCount = 1;
            CHECK(sluiceStreamSubmit(streamer, &group, &handle) == SLUICE_ERROR_UNSUPPORTED);
            group.requests = requests.data();
            group.signal = {1, 1};
            CHECK(sluiceStreamSubmit(streamer, &group, &handle) == SLUICE_ERROR_UNSUPPORTED);
            const SluiceStreamBudget signals = {FLT_MAX, 0, 0, 0, 0, 1, 1};
            SluiceStreamBatch batch = {};
            CHECK(sluiceStreamRecord(streamer, sluiceCudaCommands(stream), &signals, &batch) ==
                  SLUICE_ERROR_UNSUPPORTED);
            CHECK(sluiceStreamDiscard(streamer, 1) == SLUICE_ERROR_ARGUMENT);
            REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
            sluiceDestroyStreamer(streamer);
        }
        REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
        sluiceDestroyStreamCuda(gpu);
        sluiceDestroyContext(cpu);
    }
}

TEST_SUITE_END();

#endif // SLUICE_HAVE_CUDA
