// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Lossless filters: transformations of a tile's bytes that keep their number and make an entropy coder's work easier:
// differences and predictions over records of any stride, bytes of wider values split into planes, packets of run-length
// coded images taken apart. A tile is undone from its own bytes and its filter's description alone. docs/format.md, 8,
// specifies both; docs/format.md, 4.5, says where descriptions stand in an archive.
//
// Choosing and applying is the encoder's side (library: sluice_encode), undoing the decoder's (library: sluice).
#ifndef SLUICE_FILTER_H
#define SLUICE_FILTER_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

// The most bytes that a description has, and that a tile with a filter has.
#define SLUICE_FILTER_MAX_DESCRIPTION 16384u
#define SLUICE_FILTER_MAX_TILE 1048576u

// Checks every rule of docs/format.md, 8, that does not depend on a tile.
//   description   size bytes, any alignment and contents
// Errors: ARGUMENT, FORMAT, VERSION (another version, or something that this version does not know). Thread-safe.
SLUICE_API SluiceStatus sluiceCheckFilter(const void* description, size_t size);

// Undoes a filter on the CPU.
//   filtered   tileSize bytes, any alignment and contents
//   tile       receives tileSize bytes, any alignment; does not overlap filtered. Unspecified after an error
//   tileSize   1 .. SLUICE_FILTER_MAX_TILE
// The work is proportional to tileSize and the description's size, whatever their contents.
// Errors: ARGUMENT, FORMAT (also: the sections do not fit the tile), VERSION. Thread-safe.
SLUICE_API SluiceStatus sluiceUndoFilter(const void* description, size_t size, const void* filtered, void* tile,
                                         size_t tileSize);

// One line of text that says what a description does, for people: "18: plain | rest: width 128 u8 median -1, u8 median, u8 median -1".
//   text       capacity bytes, at least 1; always ends with a 0, cut short if need be
// Errors: ARGUMENT, FORMAT, VERSION (text is then empty). Thread-safe.
SLUICE_API SluiceStatus sluiceGetFilterText(const void* description, size_t size, char* text, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif // SLUICE_FILTER_H
