// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Undoes the supercompression of KTX2 files on the CPU. Library: sluice_encode, because this needs
// libzstd and zlib. sluice's own codecs and filters work on KTX2 files without a scheme, and a GPU
// can copy from such files.
#ifndef SLUICE_IMAGE_ENCODE_H
#define SLUICE_IMAGE_ENCODE_H

#include <sluice/sluice_image.h>

#ifdef __cplusplus
extern "C" {
#endif

// Decodes a level.
//   scheme               SluiceImageScheme; with NONE the bytes are copied
//   packed, packedSize   the level's bytes in the file: level.size bytes at level.offset
//   bytes, size          receives exactly size bytes, the level's decodedSize; must not overlap
//                        packed
// ZSTD: one or more frames, which may include skippable ones; if a frame has a checksum, it is
// verified. The limits (docs/format.md, 12.2) are 65,536 frames, and for each frame 2^30 - 2^18
// decoded bytes and min(65,536, 4,096 + decoded bytes / 256) blocks. ZLIB: one stream, whose
// checksum is verified. For any packed bytes, nothing outside `bytes` is written, and less than 2
// MiB of memory is allocated. After a failure the contents of `bytes` are unspecified. Errors:
// ARGUMENT; FORMAT (the packed bytes are damaged, decode to more or fewer than size bytes, or
// exceed a limit); CHECKSUM (ZSTD); UNSUPPORTED (a dictionary is needed); OUT_OF_MEMORY.
// Thread-safe.
SLUICE_API SluiceStatus sluiceKtx2DecodeLevel(uint32_t scheme, const void* packed,
                                              size_t packedSize, void* bytes, size_t size);

// Plans a copy of a KTX2 file with scheme NONE. The copy's header, level index, descriptor and
// key/value data come first. Then the levels follow, the smallest first, each at the next multiple
// of the block's bytes and of 4; the bytes between them are 0. In some files with a scheme the
// descriptor gives 0 as the bytes of its plane; the copy has the block's bytes there. Everything
// else is unchanged.
//   bytes, size       the start of the file, at least up to the end of its key/value data
//   fileSize          bytes in the whole file
//   start, capacity   receives everything before the levels; may be NULL with capacity 0
//   startSize         receives the number of those bytes
//   levels            receives the levels of the new file, as sluiceParseImage will return them; it
//                     has room for SLUICE_IMAGE_MAX_LEVELS entries
//   plainSize         receives the size of the new file
// Errors: ARGUMENT; those of sluiceParseImage; BUFFER_SIZE also if capacity is less than
// *startSize, which is then set. Thread-safe.
SLUICE_API SluiceStatus sluiceKtx2PlanPlain(const void* bytes, size_t size, uint64_t fileSize,
                                            void* start, size_t capacity, uint64_t* startSize,
                                            SluiceImageLevel* levels, uint64_t* plainSize);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_IMAGE_ENCODE_H
