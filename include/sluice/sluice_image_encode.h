// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Undoes the supercompression of KTX2 files, on the CPU. Library: sluice_encode, because this needs
// libzstd and zlib. Our own codecs and filters work on KTX2 files without a scheme, and a GPU can
// copy from them.
#ifndef SLUICE_IMAGE_ENCODE_H
#define SLUICE_IMAGE_ENCODE_H

#include <sluice/sluice_image.h>

#ifdef __cplusplus
extern "C" {
#endif

// Decodes a level.
//   scheme               SluiceImageScheme; with NONE the bytes are copied
//   packed, packedSize   the level's bytes in the file: level.size of them from level.offset
//   bytes, size          receives exactly size bytes, the level's decodedSize; does not overlap
//                        packed
// ZSTD: any number of frames, skippable ones among them; checksums are verified where there are
// any. ZLIB: one stream, with its checksum. Whatever the packed bytes are, nothing outside `bytes`
// is written and no more memory is allocated than a decoder takes: 160 KiB. After a failure the
// bytes are unspecified. Errors: ARGUMENT; FORMAT (damaged; they decode to more or less than size);
// CHECKSUM (ZSTD); UNSUPPORTED (they need a dictionary); OUT_OF_MEMORY. Thread-safe.
SLUICE_API SluiceStatus sluiceKtx2DecodeLevel(uint32_t scheme, const void* packed,
                                              size_t packedSize, void* bytes, size_t size);

// Plans the same KTX2 file with scheme NONE: its header, level index, descriptor and key/value data
// are in front, then the levels, the smallest first, each at the next multiple of the block's bytes
// and of 4; the bytes between are 0. A descriptor that says nothing of its plane, as those of some
// files with a scheme, gets the block's bytes there. Everything else is unchanged.
//   bytes, size       the start of the file, at least up to the end of its key/value data
//   fileSize          bytes in the whole file
//   start, capacity   receives what stands before the levels; may be NULL with capacity 0
//   startSize         receives how many bytes that is
//   levels            receives the levels of the new file, as sluiceParseImage will give them; room
//                     for SLUICE_IMAGE_MAX_LEVELS of them
//   plainSize         receives the size of the new file
// Errors: ARGUMENT; as sluiceParseImage; BUFFER_SIZE also if capacity is less than *startSize,
// which is set then. Thread-safe.
SLUICE_API SluiceStatus sluiceKtx2PlanPlain(const void* bytes, size_t size, uint64_t fileSize,
                                            void* start, size_t capacity, uint64_t* startSize,
                                            SluiceImageLevel* levels, uint64_t* plainSize);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_IMAGE_ENCODE_H
