// SPDX-License-Identifier: MIT OR Apache-2.0
#include "stream/checks.h"

#include "stream/file.h"
#include "stream/group.h"

namespace sluice::stream {

namespace {

constexpr uint64_t kMaxRequestSize = uint64_t(1) << 48;
constexpr uint32_t kMaxBlockWidth = 16;
// The Vulkan layouts that a barrier cannot change an image to: UNDEFINED and PREINITIALIZED.
constexpr uint32_t kNeverNewLayouts[] = {0, 8};

// available: receives the size of the source in bytes.
SluiceStatus checkSource(const SluiceStreamRequest& request, SluiceStreamer streamer,
                         uint64_t& available)
{
    available = UINT64_MAX;
    if (request.source == SLUICE_STREAM_FROM_MEMORY)
        return request.memory != nullptr && request.offset == 0 ? SLUICE_OK : SLUICE_ERROR_ARGUMENT;
    if (request.source != SLUICE_STREAM_FROM_ARCHIVE && request.source != SLUICE_STREAM_FROM_FILE)
        return SLUICE_ERROR_ARGUMENT;
    if (request.file == nullptr || request.file->owner != streamer || request.file->isGivenUp)
        return SLUICE_ERROR_ARGUMENT;
    switch (request.file->state.load(std::memory_order_acquire)) {
    case SluiceStreamFile_T::opening: return SLUICE_ERROR_NOT_READY;
    case SluiceStreamFile_T::failed: return SLUICE_ERROR_IO;
    case SluiceStreamFile_T::isOpen: break;
    }
    available = request.file->size;
    if (request.source == SLUICE_STREAM_FROM_FILE) return SLUICE_OK;
    if (!request.file->isArchive || request.asset >= request.file->archive.assetCount)
        return SLUICE_ERROR_ARGUMENT;
    available = request.file->tilesOf(request.asset).size;
    return SLUICE_OK;
}

// Checks that the image's box is one, and as large as the request says.
SluiceStatus checkImage(const SluiceStreamRequest& request)
{
    const SluiceStreamImage& image = request.image;
    if (image.image == 0 || image.blockWidth == 0 || image.blockHeight == 0 ||
        image.blockSize == 0 || image.blockWidth > kMaxBlockWidth ||
        image.blockHeight > kMaxBlockWidth || image.blockSize > kMaxBlockSize ||
        image.layerCount == 0 || (image.extent[2] != 1 && image.layerCount != 1) ||
        image.offset[0] % image.blockWidth != 0 || image.offset[1] % image.blockHeight != 0)
        return SLUICE_ERROR_ARGUMENT;
    for (const uint32_t layout : kNeverNewLayouts)
        if (image.newLayout == layout) return SLUICE_ERROR_ARGUMENT;
    uint64_t size = 1;
    for (const uint64_t factor :
         {rowSize(image), rowCount(image), uint64_t(image.extent[2]), uint64_t(image.layerCount)}) {
        if (factor == 0 || size > kMaxRequestSize / factor) return SLUICE_ERROR_ARGUMENT;
        size *= factor;
    }
    if (size != request.size) return SLUICE_ERROR_ARGUMENT;
    return rowSize(image) <= kStripSize ? SLUICE_OK : SLUICE_ERROR_UNSUPPORTED;
}

SluiceStatus checkRequest(const SluiceStreamRequest& request, SluiceStreamer streamer,
                          const Gpu& gpu)
{
    uint64_t available = 0;
    const SluiceStatus status = checkSource(request, streamer, available);
    if (status != SLUICE_OK) return status;
    if (request.size > kMaxRequestSize || request.offset > available ||
        request.size > available - request.offset)
        return SLUICE_ERROR_ARGUMENT;
    switch (request.target) {
    case SLUICE_STREAM_TO_HOST:
        return request.size == 0 || request.host != nullptr ? SLUICE_OK : SLUICE_ERROR_ARGUMENT;
    case SLUICE_STREAM_TO_BUFFER:
        return request.buffer.size == request.size && request.buffer.handle != 0 &&
                       request.buffer.offset <= UINT64_MAX - request.size
                   ? SLUICE_OK
                   : SLUICE_ERROR_ARGUMENT;
    case SLUICE_STREAM_TO_IMAGE:
        return gpu.hasImages() ? checkImage(request) : SLUICE_ERROR_UNSUPPORTED;
    default: return SLUICE_ERROR_ARGUMENT;
    }
}

} // namespace

SluiceStatus checkGroup(Held&, const SluiceStreamGroupInfo& info, SluiceStreamer streamer,
                        uint32_t maxRequests, const Gpu& gpu)
{
    if (info.requests == nullptr || info.requestCount == 0 || info.requestCount > maxRequests ||
        (info.flags & ~uint32_t(SLUICE_STREAM_TELL_RECORDED)) != 0)
        return SLUICE_ERROR_ARGUMENT;
    if (!gpu.hasSemaphores() && (info.wait.semaphore != 0 || info.signal.semaphore != 0))
        return SLUICE_ERROR_UNSUPPORTED;
    for (uint32_t i = 0; i < info.requestCount; ++i) {
        const SluiceStatus status = checkRequest(info.requests[i], streamer, gpu);
        if (status != SLUICE_OK) return status;
    }
    return SLUICE_OK;
}

} // namespace sluice::stream
