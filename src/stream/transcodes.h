// SPDX-License-Identifier: MIT OR Apache-2.0
// Transcodes the UASTC blocks of units to another texture format. On the GPU this follows the
// decodes of a batch. A command transcodes all regions that have about the same size, the same
// format and the same source and destination rings. On the CPU, the thread that has decoded a unit
// also transcodes it.
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

// Limits of what a batch transcodes, and the bytes that the limits take: in the batch's slots of
// control and results, and in scratch.
constexpr uint32_t kTranscodeRegions = kHasTranscoder ? 4096 : 0;
constexpr uint32_t kTranscodeLists = kHasTranscoder ? 256 : 0;
constexpr uint64_t kTranscodeControl = uint64_t(kTranscodeRegions) * SLUICE_UA_REGION_BYTES;
constexpr uint64_t kTranscodeResults = uint64_t(kTranscodeRegions + 2 * kTranscodeLists) * 4;
constexpr uint64_t kTranscodeScratch =
    uint64_t(kTranscodeRegions + kTranscodeLists) * SLUICE_UA_SCRATCH_WORDS * 4;

// Returns whether the request's bytes are transcoded.
inline bool isTranscoded(const SluiceStreamRequest& request) { return request.image.format != 0; }
// Returns the size in bytes of 4 x 4 texels after transcoding.
inline uint32_t madeBlockSize(const SluiceStreamImage& image)
{
    return uastcBytes(uastcTarget(image.format, image.formatFlags));
}
inline bool makesTexels(const SluiceStreamImage& image) { return madeBlockSize(image) == 64; }
// Returns whether a unit's blocks are transcoded in place, because their size does not change.
inline bool keepsPlaces(const SluiceStreamImage& image)
{
    return madeBlockSize(image) == SLUICE_UA_BLOCK_BYTES;
}

// Returns the bytes of these planes and rows of blocks after transcoding.
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
// Returns the byte offset of a unit in the request's box, both after transcoding.
inline uint64_t madeOffset(const SluiceStreamImage& image, const Unit& unit)
{
    return madeSize(image, unit.plane, 0, rowCount(image)) + madeSize(image, 1, 0, unit.row);
}

// Returns the number of regions in a unit. Planes of texels follow each other without gaps, but if
// their height is not a multiple of 4, the last row of blocks exceeds each plane. Then each plane
// is a region of its own. Otherwise all planes are one region.
inline uint32_t regionCount(const SluiceStreamImage& image, const Unit& unit)
{
    return makesTexels(image) && image.extent[1] % 4 != 0 ? unit.planes : 1;
}
// Returns region `number` of a unit whose blocks and output are at these addresses.
SluiceUastcRegion regionOf(const SluiceStreamImage& image, const Unit& unit, uint32_t number,
                           uint64_t blocks, uint64_t made);

// Returns the cost of transcoding to a format, relative to BC7.
inline double transcodeWork(const SluiceStreamImage& image)
{
    constexpr double kEncoded = 6; // rough, for formats whose blocks are encoded from texels
    return uastcGroup(uastcTarget(image.format, image.formatFlags)) < SLUICE_UA_GROUP_BC ? 1
                                                                                         : kEncoded;
}

// Returns the status of two regions together. A failure takes precedence over OK, and any other
// failure over invalid blocks (BAD_CODE), with which the transcoded bytes are delivered.
SluiceTileStatus worseOf(SluiceTileStatus a, SluiceTileStatus b);

// Transcodes a unit on the CPU. blocks: its UASTC blocks, 16-byte aligned. Returns OK, BAD_CODE if
// blocks are invalid, or the status of another failure.
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
    // Writes the lists of regions. slot: the index of the batch's slot in control and results.
    void prepare(const SluiceStreamerInfo& info, const Gpu& gpu, uint32_t slot);
    SluiceStatus record(const SluiceStreamerInfo& info, SluiceCommands commands) const;
    // Returns the status of a region of a complete batch. region: index in the order of add().
    SluiceTileStatus status(uint32_t region) const;

private:
    // Says in which rings the blocks and the output are.
    enum class Way : uint8_t {
        inPlace, // within the output ring
        between, // from the source ring to the output ring
        apart,   // both in the output ring; one unit a list, since the ranges must not overlap
    };
    struct Span {
        uint64_t offset, size;
    };
    struct List {
        uint32_t format, flags, sizeClass;
        Way way;
        Span blocks, made; // ranges in the output ring, only if `way` is apart
        uint32_t largest;  // blocks of the largest region
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
    uint64_t m_control = 0, m_resultsAt = 0; // byte offsets of the lists in control and results
};

} // namespace sluice::stream
