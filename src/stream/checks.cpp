// SPDX-License-Identifier: MIT OR Apache-2.0
#include "stream/checks.h"

#include "stream/file.h"
#include "stream/group.h"
#include "stream/transcodes.h"

namespace sluice::stream {

namespace {

constexpr uint64_t kMaxRequestSize = uint64_t(1) << 48;
constexpr uint32_t kMaxBlockWidth = 16;
// The Vulkan layouts that a barrier cannot change an image to: UNDEFINED and PREINITIALIZED.
constexpr uint32_t kNeverNewLayouts[] = {0, 8};

// Checks where the request's bytes come from. available: receives the size of that source.
void checkSource(ArgumentChecker& check, const SluiceStreamRequest& request,
                 SluiceStreamer streamer, uint64_t& available)
{
    available = UINT64_MAX;
    if (request.source == SLUICE_STREAM_FROM_MEMORY) {
        check.given(SLUICE_NAMED(request.memory));
        check.require(SLUICE_NAMED(request.offset), request.offset == 0, "is 0 for memory");
        return;
    }
    const SluiceStreamFile file = request.file;
    if (!check.atMost(SLUICE_NAMED(request.source), SLUICE_STREAM_FROM_MEMORY) ||
        !check.given(SLUICE_NAMED(request.file)))
        return;
    check.require(SLUICE_NAMED(request.file), file->owner == streamer, "is a file of the streamer");
    if (!check.isOk()) return;
    check.require(SLUICE_NAMED(request.file), !file->isGivenUp, "is not closed");
    check.end(file->openStatus());
    if (!check.isOk()) return;
    available = file->size;
    if (request.source == SLUICE_STREAM_FROM_FILE) return;
    check.require(SLUICE_NAMED(request.file), file->isArchive, "is an archive or a KTX2 file");
    check.require(SLUICE_NAMED(request.asset), request.asset < file->archive.assetCount,
                  "is less than the limit", SLUICE_ERROR_ARGUMENT, file->archive.assetCount);
    if (check.isOk()) available = file->tilesOf(request.asset).size;
}

// Checks the format to which UASTC blocks are to be transcoded.
void checkFormat(ArgumentChecker& check, const SluiceStreamRequest& request)
{
    const SluiceStreamImage& image = request.image;
    check.require(SLUICE_NAMED(request.image.format),
                  kHasTranscoder && uastcTarget(image.format, 0) != kNoUastcTarget,
                  "is 0, or a format that UASTC is transcoded to", SLUICE_ERROR_UNSUPPORTED);
    if (!check.isOk()) return;
    constexpr uint32_t kBc5 = 141;
    check.flags(SLUICE_NAMED(request.image.formatFlags),
                image.format == kBc5 ? SLUICE_UASTC_SECOND_IS_ALPHA : 0);
    check.require(SLUICE_NAMED(request.image.blockWidth), image.blockWidth == 4, "is 4 for UASTC");
    check.require(SLUICE_NAMED(request.image.blockHeight), image.blockHeight == 4,
                  "is 4 for UASTC");
    check.require(SLUICE_NAMED(request.image.blockSize), image.blockSize == SLUICE_UA_BLOCK_BYTES,
                  "is 16 for UASTC");
}

// Checks that the box is valid, and that it has as many bytes as the request.
void checkBox(ArgumentChecker& check, const SluiceStreamRequest& request)
{
    const SluiceStreamImage& image = request.image;
    check.atLeast(SLUICE_NAMED(request.image.blockWidth), 1);
    check.atMost(SLUICE_NAMED(request.image.blockWidth), kMaxBlockWidth);
    check.atLeast(SLUICE_NAMED(request.image.blockHeight), 1);
    check.atMost(SLUICE_NAMED(request.image.blockHeight), kMaxBlockWidth);
    check.atLeast(SLUICE_NAMED(request.image.blockSize), 1);
    check.atMost(SLUICE_NAMED(request.image.blockSize), kMaxBlockSize);
    check.atLeast(SLUICE_NAMED(request.image.layerCount), 1);
    check.require(SLUICE_NAMED(request.image.layerCount),
                  image.extent[2] == 1 || image.layerCount == 1, "is 1 if extent[2] is not 1");
    if (image.format != 0) checkFormat(check, request);
    if (!check.isOk()) return;
    const auto product = [](uint64_t a, uint64_t b) {
        return b != 0 && a > kMaxRequestSize / b ? kMaxRequestSize + 1 : a * b;
    };
    const uint64_t size = product(
        product(product(rowSize(image), rowCount(image)), image.extent[2]), image.layerCount);
    check.atLeast(SLUICE_NAMED(request.image.extent[0]), 1);
    check.atLeast(SLUICE_NAMED(request.image.extent[1]), 1);
    check.atLeast(SLUICE_NAMED(request.image.extent[2]), 1);
    check.require(SLUICE_NAMED(request.size), request.size == size,
                  "is the size of the image's box (limit)", SLUICE_ERROR_ARGUMENT, size);
    check.require(SLUICE_NAMED(request.image.extent[0]), rowSize(image) <= kStripSize,
                  "makes rows of at most the limit, in bytes", SLUICE_ERROR_UNSUPPORTED,
                  kStripSize);
}

void checkImage(ArgumentChecker& check, const SluiceStreamRequest& request)
{
    const SluiceStreamImage& image = request.image;
    check.given(SLUICE_NAMED(request.image.image));
    checkBox(check, request);
    if (!check.isOk()) return;
    check.multipleOf(SLUICE_NAMED(request.image.offset[0]), image.blockWidth);
    check.multipleOf(SLUICE_NAMED(request.image.offset[1]), image.blockHeight);
    for (const uint32_t layout : kNeverNewLayouts)
        check.require(SLUICE_NAMED(request.image.newLayout), image.newLayout != layout,
                      "is neither UNDEFINED nor PREINITIALIZED");
}

// Checks the buffer that receives the request's bytes. If they are transcoded, also checks that
// there is a GPU and that the box is valid.
void checkBuffer(ArgumentChecker& check, const SluiceStreamRequest& request, const Gpu& gpu)
{
    uint64_t size = request.size;
    check.given(SLUICE_NAMED(request.buffer.handle));
    if (isTranscoded(request)) {
        check.require(SLUICE_NAMED(request.image.format), gpu.isThere(), "is 0 without a GPU",
                      SLUICE_ERROR_UNSUPPORTED);
        checkBox(check, request);
        if (!check.isOk()) return;
        const uint64_t planes = uint64_t(request.image.extent[2]) * request.image.layerCount;
        size = madeSize(request.image, planes, 0, rowCount(request.image));
    }
    check.require(SLUICE_NAMED(request.buffer.size), request.buffer.size == size,
                  "is the size of what it receives (limit)", SLUICE_ERROR_ARGUMENT, size);
    check.atMost(SLUICE_NAMED(request.buffer.offset), UINT64_MAX - size);
}

void checkRequest(ArgumentChecker& check, const SluiceStreamRequest& request,
                  SluiceStreamer streamer, const Gpu& gpu)
{
    uint64_t available = 0;
    checkSource(check, request, streamer, available);
    if (!check.isOk() || !check.atMost(SLUICE_NAMED(request.size), kMaxRequestSize) ||
        !check.atMost(SLUICE_NAMED(request.offset), available))
        return;
    check.require(SLUICE_NAMED(request.size), request.size <= available - request.offset,
                  "is at most the limit, what the source has after offset", SLUICE_ERROR_ARGUMENT,
                  available - request.offset);
    check.require(SLUICE_NAMED(request.offset),
                  !check.isOk() || request.source != SLUICE_STREAM_FROM_ARCHIVE ||
                      request.file->mayRequest(request.offset, request.size),
                  "is, with size, inside one level of the KTX2 file");
    switch (request.target) {
    case SLUICE_STREAM_TO_HOST:
        check.require(SLUICE_NAMED(request.host), request.size == 0 || request.host != nullptr,
                      "is not NULL");
        break;
    case SLUICE_STREAM_TO_BUFFER: checkBuffer(check, request, gpu); break;
    default:
        check.atMost(SLUICE_NAMED(request.target), SLUICE_STREAM_TO_IMAGE);
        check.require(SLUICE_NAMED(request.target), gpu.hasImages(),
                      "is no image without a GPU that has images", SLUICE_ERROR_UNSUPPORTED);
        if (check.isOk()) checkImage(check, request);
    }
}

} // namespace

void checkGroup(ArgumentChecker& check, Held&, const SluiceStreamGroupInfo& info,
                SluiceStreamer streamer, uint32_t maxRequests, const Gpu& gpu)
{
    check.given(SLUICE_NAMED(info.requests));
    check.atLeast(SLUICE_NAMED(info.requestCount), 1);
    check.atMost(SLUICE_NAMED(info.requestCount), maxRequests);
    check.flags(SLUICE_NAMED(info.flags), SLUICE_STREAM_TELL_RECORDED);
    check.require(SLUICE_NAMED(info.wait.semaphore),
                  info.wait.semaphore == 0 || gpu.hasSemaphores(),
                  "is 0 without semaphores of Vulkan", SLUICE_ERROR_UNSUPPORTED);
    check.require(SLUICE_NAMED(info.signal.semaphore),
                  info.signal.semaphore == 0 || gpu.hasSemaphores(),
                  "is 0 without semaphores of Vulkan", SLUICE_ERROR_UNSUPPORTED);
    for (uint32_t i = 0; i < info.requestCount && check.isOk(); ++i) {
        check.at(i);
        checkRequest(check, info.requests[i], streamer, gpu);
    }
    check.at(ArgumentChecker::kNoIndex);
}

} // namespace sluice::stream
