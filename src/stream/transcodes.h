// SPDX-License-Identifier: MIT OR Apache-2.0
// The step in which the UASTC blocks of units become an image's format. On the GPU it follows the
// decodes of a batch: a command for all levels of about one size, of one format and between the
// same rings. On the CPU the thread that has decoded a unit does it.
#pragma once

#include <sluice/sluice_uastc.h>

#include <algorithm>
#include <vector>

#include "api/components.h"
#include "api/plan_uastc.h"
#include "formats/integers.h"
#include "stream/group.h"

namespace sluice::stream {

class Gpu;

constexpr bool kHasTranscoder = SLUICE_HAVE_UASTC != 0;

// Limits of a batch, and what they take of each slot of control and results, and of scratch.
constexpr uint32_t kTranscodeRegions = kHasTranscoder ? 4096 : 0;
constexpr uint32_t kTranscodeLists = kHasTranscoder ? 256 : 0;
constexpr uint64_t kTranscodeControl = uint64_t(kTranscodeRegions) * SLUICE_UA_REGION_BYTES;
constexpr uint64_t kTranscodeResults = uint64_t(kTranscodeRegions + 2 * kTranscodeLists) * 4;
constexpr uint64_t kTranscodeScratch =
    uint64_t(kTranscodeRegions + kTranscodeLists) * SLUICE_UA_SCRATCH_WORDS * 4;

// Return whether the request's bytes become another format on their way, and then the bytes of 4 x
// 4 texels in it.
inline bool isTranscoded(const SluiceStreamRequest& request) { return request.image.format != 0; }
inline uint32_t madeBlockSize(const SluiceStreamImage& image)
{
    return uastcBytes(uastcTarget(image.format, image.formatFlags));
}
inline bool makesTexels(const SluiceStreamImage& image) { return madeBlockSize(image) == 64; }
// Returns whether the blocks of a unit are transcoded where tiles have been decoded to.
inline bool keepsPlaces(const SluiceStreamImage& image)
{
    return madeBlockSize(image) == SLUICE_UA_BLOCK_BYTES;
}

// Returns the bytes that these planes and rows of blocks become.
inline uint64_t madeSize(const SluiceStreamImage& image, uint64_t planes, uint64_t row,
                         uint64_t rows)
{
    if (!makesTexels(image))
        return planes * rows * (rowSize(image) / SLUICE_UA_BLOCK_BYTES) * madeBlockSize(image);
    const uint64_t end = std::min<uint64_t>((row + rows) * 4, image.extent[1]);
    return planes * (end - row * 4) * image.extent[0] * 4;
}
inline uint64_t madeSize(const SluiceStreamImage& image, const Unit& unit)
{
    return madeSize(image, unit.planes, unit.row, unit.rows);
}
// Returns where a unit's bytes begin in the request's box, as it is in the image's format.
inline uint64_t madeOffset(const SluiceStreamImage& image, const Unit& unit)
{
    return madeSize(image, unit.plane, 0, rowCount(image)) + madeSize(image, 1, 0, unit.row);
}

// Texels of planes follow each other without gaps, so that planes of a height that is no multiple
// of 4 are regions of their own. Blocks of any number of planes are one region.
inline uint32_t regionCount(const SluiceStreamImage& image, const Unit& unit)
{
    return makesTexels(image) && image.extent[1] % 4 != 0 ? unit.planes : 1;
}
// Returns region `number` of a unit whose blocks and output are at these addresses.
SluiceUastcRegion regionOf(const SluiceStreamImage& image, const Unit& unit, uint32_t number,
                           uint64_t blocks, uint64_t made);

// Returns how many times as much work as BC7 a format is.
inline double transcodeWork(const SluiceStreamImage& image)
{
    constexpr double kEncoded = 6; // of formats whose blocks are made from texels, roughly
    return uastcGroup(uastcTarget(image.format, image.formatFlags)) < SLUICE_UA_GROUP_BC ? 1
                                                                                         : kEncoded;
}

// Transcodes a unit on the CPU. blocks: its UASTC blocks, 16-byte aligned. Returns the status of
// the regions together: OK, BAD_CODE where blocks are invalid, or another one where that failed.
SluiceTileStatus transcodeOnCpu(SluiceContext context, const SluiceStreamImage& image,
                                const Unit& unit, const uint8_t* blocks, uint8_t* made);

// The units of a batch that the GPU transcodes, in the order in which they were added.
class Transcodes {
public:
    void reserve();
    void clear();
    bool empty() const { return m_regions.empty(); }
    bool hasRoom(const SluiceStreamImage& image, const Unit& unit) const;
    void add(const SluiceStreamImage& image, const Unit& unit);
    // Writes the lists. slot: the batch's, in control and results.
    void prepare(const SluiceStreamerInfo& info, const Gpu& gpu, uint32_t slot);
    SluiceStatus record(const SluiceStreamerInfo& info, SluiceCommands commands) const;
    // Once the batch is complete, returns the status of a region, counted as they were added.
    SluiceTileStatus status(uint32_t region) const;

private:
    // Says in which rings the blocks and the output are.
    enum class Way : uint8_t {
        inPlace, // of the output ring
        between, // from the source ring to the output ring
        apart,   // both in the output ring; such a list has one unit, since ranges must not overlap
    };
    struct Span {
        uint64_t offset, size;
    };
    struct List {
        uint32_t format, flags, sizeClass;
        Way way;
        Span blocks, made; // of a unit that is apart, in the output ring
        uint32_t largest;  // blocks of a region
        uint32_t count, first;
    };
    struct Region {
        SluiceUastcRegion region; // with offsets in the rings
        uint32_t list, place;
    };
    uint32_t listFor(const List& wanted);
    static uint32_t sizeClassOf(uint64_t blocks);
    static Way wayOf(const SluiceStreamImage& image, const Unit& unit);

    std::vector<Region> m_regions;
    std::vector<List> m_lists;
    const uint32_t* m_results = nullptr;     // the host's view of the batch's statuses
    uint64_t m_control = 0, m_resultsAt = 0; // where the lists begin, in bytes of their buffers
};

} // namespace sluice::stream
