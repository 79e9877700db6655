// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Chooses filters for an asset and applies them; library: sluice_encode. sluice_filter.h undoes
// them.
#ifndef SLUICE_FILTER_ENCODE_H
#define SLUICE_FILTER_ENCODE_H

#include <sluice/sluice_filter.h>

#ifdef __cplusplus
extern "C" {
#endif

// The kinds of filters that a plan may use, which can be or-ed.
typedef enum SluiceFilterFeatures {
    // Stores the columns of records in separate planes, and each byte of a wide column in a plane
    // of its own. Without it, the bytes of records stay interleaved.
    SLUICE_FILTER_PLANES = 1,
    SLUICE_FILTER_DIFFERENCE = 2, // the difference to the previous record, up to the third order
    SLUICE_FILTER_UP = 4,         // prediction from the record above, in the previous row
    SLUICE_FILTER_GRADIENT = 8,   // prediction: left + up - up left
    // Two predictions: the median of left, up and the gradient; and the average of left and up.
    SLUICE_FILTER_MEDIAN = 16,
    SLUICE_FILTER_SUBTRACT = 32, // subtracts one column from another: green from red and blue
    SLUICE_FILTER_FLOAT = 64,    // moves a float's exponent to the top bits, its sign to the bottom
    SLUICE_FILTER_TGA_PACKETS = 128, // takes run-length coded Targa images apart
    SLUICE_FILTER_BLOCKS = 256,      // separates colours and indices of block-compressed textures
    SLUICE_FILTER_ALL = 511,
    SLUICE_FILTER_FEATURES_MAX_ENUM = 0x7fffffff
} SluiceFilterFeatures;

// The structure of an asset's bytes.
typedef enum SluiceFilterLayout {
    // Detected from the bytes: .tga, .wav, .md3, .bsp (Quake III), .dds, .glb; otherwise by trial.
    SLUICE_FILTER_LAYOUT_AUTO = 0,
    // Records of `stride` bytes that start at `begin`, with columns of `columnSize` bytes.
    SLUICE_FILTER_LAYOUT_RECORDS = 1,
    // A KTX2 or DDS file of any format that sluiceParseImage reads without a scheme; other files
    // are treated as AUTO. A tile starts at each level of 64 KiB or more, and another after that
    // level. Smaller levels share tiles with their neighbours. (Tiles begin at multiples of 4, so a
    // level's tile begins up to 3 bytes earlier if the level does not.)
    SLUICE_FILTER_LAYOUT_IMAGE = 2,
    SLUICE_FILTER_LAYOUT_MAX_ENUM = 0x7fffffff
} SluiceFilterLayout;

// Controls how filters are chosen. The members from `stride` on belong to layout RECORDS.
typedef struct SluiceFilterPlanInfo {
    // Bytes of the largest tile: a multiple of 4, 4,096 .. SLUICE_FILTER_MAX_TILE. Tiles end at
    // rows or records where possible, so most are slightly smaller, except those of segments with a
    // doubtful filter (SluiceFilterSegment::doubtful).
    uint32_t maxTileSize;
    uint32_t features; // SluiceFilterFeatures, or-ed; 0: nothing is filtered
    // 0: filters are chosen by trial on one sample, which is fastest; 1: on two samples; 2: on more
    // and larger samples and with more care. With 1 the trials take 0.1 to 0.4 times as long as
    // zstd -19 takes to encode the same bytes; with 0 half of that, with 2 three times that.
    uint32_t effort;
    uint32_t force;      // 1: uses filters even if the trial finds no gain
    uint32_t layout;     // SluiceFilterLayout
    uint32_t stride;     // bytes per record: 1 .. 128, a multiple of columnSize
    uint32_t columnSize; // bytes per column: 1, 2 or 4
    // Records per row, for predictions from the row above, 0 .. 2^20; 0: there are no rows.
    uint32_t rowRecords;
    uint64_t begin; // bytes before the first record; they are not filtered
} SluiceFilterPlanInfo;

// A range of an asset's bytes with the same filter, divided into tiles of tileSize bytes; the last
// tile may be shorter.
typedef struct SluiceFilterSegment {
    uint64_t size;            // bytes; a multiple of 4 if anything follows in the asset
    const void* description;  // the filter's description; NULL: no filter. Belongs to the plan
    uint32_t descriptionSize; // bytes, a multiple of 4
    // Bytes per tile: at most maxTileSize, and a multiple of 4 unless the asset has only one tile.
    uint32_t tileSize;
    // The filterOffset of the segment's tile records in an archive: 4 plus the offset, in the
    // plan's parameters, of the item with the description. 0: no filter.
    uint32_t filterOffset;
    // 1: The filter was chosen by trial, not forced, and its gain is small, or the file is. An
    // encoder other than the trial's may then give a smaller result without the filter.
    uint32_t doubtful;
} SluiceFilterSegment;

typedef struct SluiceFilterPlan_T* SluiceFilterPlan;

// Chooses segments and filters for an asset. The same bytes and info give the same plan on every
// machine.
//   bytes    size bytes, the whole asset
//   plan     receives the plan; destroy it with sluiceDestroyFilterPlan. It keeps no pointer to
//            bytes
// As far as the trial can tell, filters never make an asset larger, except by their descriptions;
// with force they may. Any bytes are accepted (a damaged file is not an error). Memory is bounded
// by the sum of a constant (about 100 MiB at most, the encoders of the trials), the plan, 4 bytes
// per packet of a run-length coded image and ten times a .glb file's JSON. Errors: ARGUMENT,
// OUT_OF_MEMORY. Thread-safe for different plans.
SLUICE_API SluiceStatus sluiceCreateFilterPlan(const void* bytes, uint64_t size,
                                               const SluiceFilterPlanInfo* info,
                                               SluiceFilterPlan* plan);
SLUICE_API void sluiceDestroyFilterPlan(SluiceFilterPlan plan); // NULL is allowed

// Returns the plan's segments, which belong to the plan; their sizes add up to the asset's. NULL if
// there are none (an empty asset).
SLUICE_API const SluiceFilterSegment* sluiceGetFilterSegments(SluiceFilterPlan plan,
                                                              uint32_t* count);

// Returns the items of an archive's parameter block that describe the plan's filters; they belong
// to the plan. *size is a multiple of 4. Each description is included once. NULL and 0 if nothing
// is filtered.
SLUICE_API const void* sluiceGetFilterParameters(SluiceFilterPlan plan, uint32_t* size);

// Applies a filter to a tile.
//   tile       tileSize bytes
//   filtered   receives tileSize bytes; must not overlap tile
// Errors: ARGUMENT (also if the sections do not fit the tile), FORMAT, VERSION, OUT_OF_MEMORY.
// Thread-safe.
SLUICE_API SluiceStatus sluiceApplyFilter(const void* description, size_t size, const void* tile,
                                          void* filtered, size_t tileSize);

#ifdef __cplusplus
}
#endif

#endif // SLUICE_FILTER_ENCODE_H
