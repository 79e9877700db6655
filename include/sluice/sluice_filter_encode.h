// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Chooses the filters that an asset gets, and applies them; library: sluice_encode. sluice_filter.h
// undoes them.
#ifndef SLUICE_FILTER_ENCODE_H
#define SLUICE_FILTER_ENCODE_H

#include <sluice/sluice_filter.h>

#ifdef __cplusplus
extern "C" {
#endif

// A plan may use these, or-ed.
typedef enum SluiceFilterFeatures {
    SLUICE_FILTER_PLANES = 1,        // columns, and the bytes of wide ones, in planes of their own;
                                     // else records stay as they are
    SLUICE_FILTER_DIFFERENCE = 2,    // the record before, to the third order
    SLUICE_FILTER_UP = 4,            // the record above, in the row before
    SLUICE_FILTER_GRADIENT = 8,      // left + up - up left
    SLUICE_FILTER_MEDIAN = 16,       // the median of left, up and the gradient, or the average
    SLUICE_FILTER_SUBTRACT = 32,     // one column from another: green from red and blue
    SLUICE_FILTER_FLOAT = 64,        // a float's exponent on top of its planes
    SLUICE_FILTER_TGA_PACKETS = 128, // run-length coded Targa images taken apart
    SLUICE_FILTER_BLOCKS = 256,      // colours and indices of block-compressed textures
    SLUICE_FILTER_ALL = 511,
    SLUICE_FILTER_FEATURES_MAX_ENUM = 0x7fffffff
} SluiceFilterFeatures;

// Says what the bytes of an asset are.
typedef enum SluiceFilterLayout {
    // Found from the bytes: .tga, .wav, .md3, .bsp (Quake III), .dds, .glb; otherwise by trial.
    SLUICE_FILTER_LAYOUT_AUTO = 0,
    // Records of `stride` bytes from `begin` on, in columns of `columnSize` bytes.
    SLUICE_FILTER_LAYOUT_RECORDS = 1,
    // A KTX2 or DDS file of any format that sluiceParseImage reads without a scheme, else as AUTO.
    // Each level of 64 KiB or more starts a tile, and so does what follows one: smaller levels
    // share tiles with their neighbours. (Tiles begin at multiples of 4: up to 3 bytes earlier if a
    // level does not.)
    SLUICE_FILTER_LAYOUT_IMAGE = 2,
    SLUICE_FILTER_LAYOUT_MAX_ENUM = 0x7fffffff
} SluiceFilterLayout;

// Says how filters are chosen. The members from `stride` on are for layout RECORDS.
typedef struct SluiceFilterPlanInfo {
    // Bytes of the largest tile: a multiple of 4, 4,096 .. SLUICE_FILTER_MAX_TILE. Tiles end at
    // rows or records where possible, so most are somewhat smaller, except those whose filter is in
    // doubt.
    uint32_t maxTileSize;
    uint32_t features; // SluiceFilterFeatures, or-ed; 0: nothing is filtered
    // 0: filters by trial on one sample, the cheapest; 1: by trial on two; 2: on more and larger
    // ones and with more care. At 1 the trials take 0.1 to 0.4 times as long as zstd -19 takes to
    // encode the same bytes, at 0 half of that, at 2 three times.
    uint32_t effort;
    uint32_t force;      // 1: uses filters even if the trial finds that they do not pay
    uint32_t layout;     // SluiceFilterLayout
    uint32_t stride;     // bytes of a record: 1 .. 128, a multiple of columnSize
    uint32_t columnSize; // bytes of a column: 1, 2 or 4
    // Records of a row for the predictions that look upwards, 0 .. 2^20; 0: there are no rows.
    uint32_t rowRecords;
    uint64_t begin; // bytes before the first record, which are not filtered
} SluiceFilterPlanInfo;

// Consecutive bytes of an asset with one filter, cut into tiles of tileSize bytes of which the last
// may be shorter.
typedef struct SluiceFilterSegment {
    uint64_t size;            // bytes; a multiple of 4 if anything follows in the asset
    const void* description;  // of the filter; NULL: none. Belongs to the plan
    uint32_t descriptionSize; // bytes, a multiple of 4
    // Bytes: at most maxTileSize, a multiple of 4 but for an asset's only tile.
    uint32_t tileSize;
    // For the tile records: where the description's item is in the plan's parameters, + 4; 0: none.
    uint32_t filterOffset;
    // 1: the filter was chosen by trial, not forced, and its gain or the file is so small that an
    // encoder other than the trial's may do better without it.
    uint32_t doubtful;
} SluiceFilterSegment;

typedef struct SluiceFilterPlan_T* SluiceFilterPlan;

// Chooses segments and filters for an asset. The same bytes and info give the same plan on every
// machine.
//   bytes    size bytes, the whole asset
//   plan     receives the plan; destroy it with sluiceDestroyFilterPlan. It keeps no pointer to
//            bytes
// Never makes an asset larger than without filters but for the descriptions, as far as the trial
// can tell; with force it may. Whatever the bytes are (a damaged file is not an error), memory is
// bounded by a constant (about 100 MiB at most, the encoders of the trials), the plan, 4 bytes for
// each packet of a run-length coded image and ten times a .glb file's JSON. Errors: ARGUMENT,
// OUT_OF_MEMORY. Thread-safe for different plans.
SLUICE_API SluiceStatus sluiceCreateFilterPlan(const void* bytes, uint64_t size,
                                               const SluiceFilterPlanInfo* info,
                                               SluiceFilterPlan* plan);
SLUICE_API void sluiceDestroyFilterPlan(SluiceFilterPlan plan); // NULL is allowed

// Returns the plan's segments, which belong to it: their sizes add up to the asset's. NULL if there
// are none (an empty asset).
SLUICE_API const SluiceFilterSegment* sluiceGetFilterSegments(SluiceFilterPlan plan,
                                                              uint32_t* count);

// Returns the items of an archive's parameter block that describe the plan's filters, which belong
// to it; *size is a multiple of 4. Each description stands once. NULL and 0 if nothing is filtered.
SLUICE_API const void* sluiceGetFilterParameters(SluiceFilterPlan plan, uint32_t* size);

// Applies a filter to a tile.
//   tile       tileSize bytes
//   filtered   receives tileSize bytes; does not overlap tile
// Errors: ARGUMENT (also: the sections do not fit the tile), FORMAT, VERSION, OUT_OF_MEMORY.
// Thread-safe.
SLUICE_API SluiceStatus sluiceApplyFilter(const void* description, size_t size, const void* tile,
                                          void* filtered, size_t tileSize);

#ifdef __cplusplus
}
#endif

#endif // SLUICE_FILTER_ENCODE_H
