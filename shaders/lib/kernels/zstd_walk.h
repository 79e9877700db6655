// SPDX-License-Identifier: MIT OR Apache-2.0
// The first step of the Zstandard decode (phase 1 in docs/format.md, 12.3). One invocation per
// region walks from block to block and checks all headers. If the round has more than one turn,
// this happens twice: first for all regions of the round, to find what they need of the pool
// (SLUICE_ZS_MEASURE), then for those of a turn. For each block the walk stores where its
// pieces are in the source, where its literals and sequences go in scratch, and which blocks own
// its tree and its tables. The walk is serial, since each header says where the next one is. A
// dispatch walks a limited number of blocks and frames, and the next dispatch continues.
#ifndef SLUICE_KERNELS_ZSTD_WALK_H
#define SLUICE_KERNELS_ZSTD_WALK_H

#include "zstd_slot.h"

SLUICE_KERNEL_BEGIN

struct ZstdWalk {
    u32 status, at, frames, blocks, least, flags, frameBlocks, maxFrameBlocks, contentSize, maximum,
        literals, sequences, tree, table0, table1, table2;
    bool done;
};

SLUICE_DEVICE ZstdWalk zstdLoadWalk(SLUICE_IN(ZstdSlot) z) {
    ZstdWalk w;
    w.status = SLUICE_ST_OK;
    w.done = loadStoredWord(z.head, SLUICE_ZS_HEAD_DONE) != 0u;
    w.at = loadStoredWord(z.head, SLUICE_ZS_HEAD_AT);
    w.frames = loadStoredWord(z.head, SLUICE_ZS_HEAD_FRAMES);
    w.blocks = loadStoredWord(z.head, SLUICE_ZS_HEAD_BLOCKS);
    w.least = loadStoredWord(z.head, SLUICE_ZS_HEAD_LEAST);
    w.flags = loadStoredWord(z.head, SLUICE_ZS_HEAD_FLAGS);
    w.frameBlocks = loadStoredWord(z.head, SLUICE_ZS_HEAD_FRAME_BLOCKS);
    w.maxFrameBlocks = loadStoredWord(z.head, SLUICE_ZS_HEAD_MAX_FRAME_BLOCKS);
    w.contentSize = loadStoredWord(z.head, SLUICE_ZS_HEAD_CONTENT_SIZE);
    w.maximum = loadStoredWord(z.head, SLUICE_ZS_HEAD_BLOCK_MAXIMUM);
    w.literals = loadStoredWord(z.head, SLUICE_ZS_HEAD_LITERALS);
    w.sequences = loadStoredWord(z.head, SLUICE_ZS_HEAD_SEQUENCES);
    w.tree = loadStoredWord(z.head, SLUICE_ZS_HEAD_OWNERS);
    w.table0 = loadStoredWord(z.head, SLUICE_ZS_HEAD_OWNERS + 1u);
    w.table1 = loadStoredWord(z.head, SLUICE_ZS_HEAD_OWNERS + 2u);
    w.table2 = loadStoredWord(z.head, SLUICE_ZS_HEAD_OWNERS + 3u);
    return w;
}

SLUICE_DEVICE void zstdStoreWalk(SLUICE_IN(ZstdSlot) z, SLUICE_IN(ZstdWalk) w) {
    storeWord(z.head, SLUICE_ZS_HEAD_DONE, w.done ? 1u : 0u);
    storeWord(z.head, SLUICE_ZS_HEAD_AT, w.at);
    storeWord(z.head, SLUICE_ZS_HEAD_FRAMES, w.frames);
    storeWord(z.head, SLUICE_ZS_HEAD_BLOCKS, w.blocks);
    storeWord(z.head, SLUICE_ZS_HEAD_LEAST, w.least);
    storeWord(z.head, SLUICE_ZS_HEAD_FLAGS, w.flags);
    storeWord(z.head, SLUICE_ZS_HEAD_FRAME_BLOCKS, w.frameBlocks);
    storeWord(z.head, SLUICE_ZS_HEAD_MAX_FRAME_BLOCKS, w.maxFrameBlocks);
    storeWord(z.head, SLUICE_ZS_HEAD_CONTENT_SIZE, w.contentSize);
    storeWord(z.head, SLUICE_ZS_HEAD_BLOCK_MAXIMUM, w.maximum);
    storeWord(z.head, SLUICE_ZS_HEAD_LITERALS, w.literals);
    storeWord(z.head, SLUICE_ZS_HEAD_SEQUENCES, w.sequences);
    storeWord(z.head, SLUICE_ZS_HEAD_OWNERS, w.tree);
    storeWord(z.head, SLUICE_ZS_HEAD_OWNERS + 1u, w.table0);
    storeWord(z.head, SLUICE_ZS_HEAD_OWNERS + 2u, w.table1);
    storeWord(z.head, SLUICE_ZS_HEAD_OWNERS + 3u, w.table2);
}

// Sets up the head of a region, the words of scratch that say how far it is decoded. Regions past
// the end of the list of regions stay PENDING.
SLUICE_DEVICE ZstdWalk zstdBeginWalk(SLUICE_IN(ZstdParams) p, SLUICE_IN(ZstdSlot) z) {
    ZstdWalk w;
    u32 region = SLUICE_ST_PENDING;
    if (z.region < regionCount(p))
        region = !zstdAllowed(p, z.region) ? SLUICE_ST_BAD_REGION
                 : z.dictionarySize == 0u  ? SLUICE_ST_OK
                                           : zstdDictionaryWord(z, SLUICE_ZS_DICTIONARY_STATUS);
    w.status = SLUICE_ST_OK;
    w.done = region != SLUICE_ST_OK;
    w.at = w.frames = w.blocks = w.least = w.flags = w.frameBlocks = w.maxFrameBlocks = 0u;
    w.contentSize = w.maximum = w.literals = w.sequences = 0u;
    w.tree = w.table0 = w.table1 = w.table2 = 0u;
    storeWord(z.head, SLUICE_ZS_HEAD_FAULT, region == SLUICE_ST_OK ? SLUICE_ZS_NO_FAULT : region);
    return w;
}

// Reads the header of a frame whose magic number has been read. Returns a status.
SLUICE_DEVICE u32 zstdFrameHeader(SLUICE_IN(ZstdSlot) z, SLUICE_INOUT(ZstdWalk, w)) {
    if (w.at == z.size) return SLUICE_ST_TRUNCATED;
    u32 descriptor = zstdByte(z, w.at);
    ++w.at;
    if ((descriptor & 8u) != 0u) return SLUICE_ST_BAD_CODE;
    bool single = (descriptor & 32u) != 0u;
    u32 idFlag = descriptor & 3u, sizeFlag = descriptor >> 6, windowBytes = single ? 0u : 1u;
    u32 idBytes = idFlag == 3u ? 4u : idFlag;
    u32 sizeBytes = sizeFlag != 0u ? 1u << sizeFlag : single ? 1u : 0u;
    if (z.size - w.at < windowBytes + idBytes + sizeBytes) return SLUICE_ST_TRUNCATED;
    u32 window = zstdByte(z, w.at), id = zstdWord(z, w.at + windowBytes);
    if (idBytes < 4u) id = lowBits(id, 8u * idBytes);
    u32 low = zstdWord(z, w.at + windowBytes + idBytes),
        high = sizeBytes == 8u ? zstdWord(z, w.at + windowBytes + idBytes + 4u) : 0u;
    if (sizeBytes < 4u) low = lowBits(low, 8u * sizeBytes);
    if (sizeBytes == 2u) low += 256u;
    w.at += windowBytes + idBytes + sizeBytes;
    if (single) {
        window = high != 0u ? SLUICE_ZS_BLOCK_BYTES : low;
    } else {
        u32 log = min(10u + (window >> 3), 20u); // 1 MiB, far above the largest block
        window = (1u << log) + (1u << log >> 3) * (window & 7u);
    }
    w.maximum = min(max(window, SLUICE_ZS_MIN_WINDOW), SLUICE_ZS_BLOCK_BYTES);
    if (id != 0u && id != zstdDictionaryWord(z, SLUICE_ZS_DICTIONARY_ID))
        return SLUICE_ST_UNSUPPORTED;
    bool hasSize = sizeBytes != 0u;
    u32 decoded = hasSize ? low : z.decoded;
    if ((hasSize && high != 0u) || decoded > SLUICE_ZS_MAX_HISTORY - zstdDictionaryContent(z))
        return SLUICE_ST_LIMIT;
    w.contentSize = low;
    w.maxFrameBlocks = SLUICE_ZS_FRAME_BLOCKS(decoded);
    w.frameBlocks = 0u;
    w.flags = SLUICE_ZS_IN_FRAME | (hasSize ? SLUICE_ZS_HAS_SIZE : 0u) |
              ((descriptor & 4u) != 0u ? SLUICE_ZS_HAS_CHECKSUM : 0u);
    if (zstdDictionaryWord(z, SLUICE_ZS_DICTIONARY_HAS_TABLES) != 0u) {
        w.flags |= SLUICE_ZS_HAS_TREE | SLUICE_ZS_HAS_TABLES;
        w.tree = w.table0 = w.table1 = w.table2 = SLUICE_ZS_OWNER_DICTIONARY;
    }
    return SLUICE_ST_OK;
}

// Reads the beginning of a frame, or a skippable frame.
SLUICE_DEVICE u32 zstdFrame(SLUICE_IN(ZstdSlot) z, SLUICE_INOUT(ZstdWalk, w)) {
    if (w.frames == SLUICE_ZS_MAX_FRAMES) return SLUICE_ST_LIMIT;
    ++w.frames;
    if (z.size - w.at < 4u) return SLUICE_ST_TRUNCATED;
    u32 magic = zstdWord(z, w.at);
    w.at += 4u;
    if (magic == SLUICE_ZS_MAGIC) return zstdFrameHeader(z, w);
    if ((magic & ~15u) != SLUICE_ZS_SKIPPABLE_MAGIC) return SLUICE_ST_BAD_CODE;
    u32 left = z.size - w.at;
    if (left < 4u || zstdWord(z, w.at) > left - 4u) return SLUICE_ST_TRUNCATED;
    w.at += 4u + zstdWord(z, w.at);
    return SLUICE_ST_OK;
}

// Holds what the headers of a block say.
struct ZstdBlock {
    u32 kind, last, content, contentSize, size;
    u32 literalKind, streams, literals, literalsAt, literalBytes, sequences, modes, tables,
        tableBytes;
};

SLUICE_DEVICE u32 zstdBlockHeader(SLUICE_IN(ZstdSlot) z, SLUICE_INOUT(ZstdWalk, w),
                                  SLUICE_INOUT(ZstdBlock, b)) {
    if (z.size - w.at < 3u) return SLUICE_ST_TRUNCATED;
    u32 header = zstdWord(z, w.at) & 0xffffffu, size = header >> 3;
    w.at += 3u;
    b.last = header & 1u;
    b.kind = header >> 1 & 3u;
    if (b.kind > SLUICE_ZS_COMPRESSED) return SLUICE_ST_BAD_CODE;
    if (size > w.maximum) return SLUICE_ST_LIMIT;
    b.content = w.at;
    b.contentSize = b.kind == SLUICE_ZS_RLE ? 1u : size;
    b.size = b.kind == SLUICE_ZS_COMPRESSED ? 0u : size;
    if (b.contentSize > z.size - w.at) return SLUICE_ST_TRUNCATED;
    w.at += b.contentSize;
    return SLUICE_ST_OK;
}

SLUICE_DEVICE u32 zstdLiteralsHeader(SLUICE_IN(ZstdSlot) z, SLUICE_INOUT(ZstdWalk, w),
                                     SLUICE_INOUT(ZstdBlock, b)) {
    if (b.contentSize == 0u) return SLUICE_ST_TRUNCATED;
    u32 low = zstdWord(z, b.content), format = low >> 2 & 3u, bytes;
    b.literalKind = low & 3u;
    bool coded = b.literalKind >= SLUICE_ZS_LITERALS_HUFFMAN;
    if (coded)
        bytes = max(format, 1u) + 2u;
    else
        bytes = format == 1u ? 2u : format == 3u ? 3u : 1u;
    if (b.contentSize < bytes) return SLUICE_ST_TRUNCATED;
    if (coded) {
        u32 bits = 10u + 4u * (max(format, 1u) - 1u);
        // From bit 4 of the header on there are two numbers of `bits` bits each.
        u32 numbers = funnelRight(low, zstdWord(z, b.content + 4u), 4u);
        b.literals = lowBits(numbers, bits);
        b.literalBytes =
            lowBits(funnelRight(numbers, zstdWord(z, b.content + 4u) >> 4, bits), bits);
        b.streams = format == 0u ? 1u : 4u;
    } else {
        b.literals = (bytes < 3u ? lowBits(low, 8u * bytes) : low & 0xffffffu) >>
                     ((format & 1u) == 0u ? 3u : 4u);
        b.literalBytes = b.literalKind == SLUICE_ZS_LITERALS_RLE ? 1u : b.literals;
        b.streams = 0u;
    }
    if (b.literals > w.maximum) return SLUICE_ST_LIMIT;
    if (b.streams == 4u && b.literals < SLUICE_ZS_FOUR_STREAMS_LITERALS) return SLUICE_ST_BAD_CODE;
    if (b.literalKind == SLUICE_ZS_LITERALS_TREELESS && (w.flags & SLUICE_ZS_HAS_TREE) == 0u)
        return SLUICE_ST_BAD_CODE;
    if (b.literalBytes > b.contentSize - bytes) return SLUICE_ST_TRUNCATED;
    if (b.literalKind == SLUICE_ZS_LITERALS_HUFFMAN) {
        w.flags |= SLUICE_ZS_HAS_TREE;
        w.tree = w.blocks;
    }
    b.literalsAt = b.content + bytes;
    return SLUICE_ST_OK;
}

SLUICE_DEVICE u32 zstdSequencesHeader(SLUICE_IN(ZstdSlot) z, SLUICE_INOUT(ZstdWalk, w),
                                      SLUICE_INOUT(ZstdBlock, b)) {
    u32 at = b.literalsAt + b.literalBytes, end = b.content + b.contentSize;
    if (at == end) return SLUICE_ST_TRUNCATED;
    u32 word = zstdWord(z, at), first = word & 255u;
    u32 bytes = first < 128u ? 1u : first < 255u ? 2u : 3u;
    if (end - at < bytes) return SLUICE_ST_TRUNCATED;
    b.sequences = bytes == 1u   ? first
                  : bytes == 2u ? (first - 128u) << 8 | (word >> 8 & 255u)
                                : (word >> 8 & 0xffffu) + 0x7f00u;
    at += bytes;
    if (b.sequences == 0u) return at == end ? SLUICE_ST_OK : SLUICE_ST_BAD_CODE;
    if (b.sequences * SLUICE_ZS_MIN_MATCH > w.maximum) return SLUICE_ST_LIMIT;
    if (at == end) return SLUICE_ST_TRUNCATED;
    u32 modes = zstdByte(z, at);
    ++at;
    if ((modes & 3u) != 0u) return SLUICE_ST_BAD_CODE;
    u32 mode0 = modes >> 6, mode1 = modes >> 4 & 3u, mode2 = modes >> 2 & 3u;
    bool repeats =
        mode0 == SLUICE_ZS_REPEAT || mode1 == SLUICE_ZS_REPEAT || mode2 == SLUICE_ZS_REPEAT;
    if (repeats && (w.flags & SLUICE_ZS_HAS_TABLES) == 0u) return SLUICE_ST_BAD_CODE;
    w.flags |= SLUICE_ZS_HAS_TABLES;
    w.table0 = mode0 == SLUICE_ZS_REPEAT ? w.table0 : w.blocks;
    w.table1 = mode1 == SLUICE_ZS_REPEAT ? w.table1 : w.blocks;
    w.table2 = mode2 == SLUICE_ZS_REPEAT ? w.table2 : w.blocks;
    b.modes = mode0 | mode1 << 2 | mode2 << 4;
    b.tables = at;
    b.tableBytes = end - at;
    return SLUICE_ST_OK;
}

SLUICE_DEVICE void zstdStoreBlock(SLUICE_IN(ZstdSlot) z, SLUICE_IN(ZstdWalk) w,
                                  SLUICE_IN(ZstdBlock) b) {
    u32 n = w.blocks;
    zstdSetBlockWord(z, n, SLUICE_ZS_BLOCK_CONTENT, b.content);
    zstdSetBlockWord(z, n, SLUICE_ZS_BLOCK_INFO,
                     b.kind | b.literalKind << SLUICE_ZS_INFO_LITERALS |
                         b.modes << SLUICE_ZS_INFO_MODES |
                         (w.frameBlocks == 0u ? SLUICE_ZS_INFO_FIRST : 0u) |
                         (b.last != 0u ? SLUICE_ZS_INFO_LAST : 0u) |
                         (b.streams == 4u ? SLUICE_ZS_INFO_FOUR_STREAMS : 0u) |
                         ((w.flags & SLUICE_ZS_HAS_SIZE) != 0u ? SLUICE_ZS_INFO_HAS_SIZE : 0u) |
                         w.maximum << SLUICE_ZS_INFO_MAXIMUM);
    zstdSetBlockWord(z, n, SLUICE_ZS_BLOCK_SIZE, b.size + b.literals);
    zstdSetBlockWord(z, n, SLUICE_ZS_BLOCK_SEQUENCES, b.sequences);
    zstdSetBlockWord(z, n, SLUICE_ZS_BLOCK_LITERALS, b.literalsAt);
    zstdSetBlockWord(z, n, SLUICE_ZS_BLOCK_LITERAL_BYTES, b.literalBytes);
    zstdSetBlockWord(z, n, SLUICE_ZS_BLOCK_TABLES, b.tables);
    zstdSetBlockWord(z, n, SLUICE_ZS_BLOCK_TABLE_BYTES, b.tableBytes);
    zstdSetBlockWord(z, n, SLUICE_ZS_BLOCK_LITERALS_AT, w.literals);
    zstdSetBlockWord(z, n, SLUICE_ZS_BLOCK_SEQUENCES_AT, w.sequences);
    zstdSetBlockWord(z, n, SLUICE_ZS_BLOCK_OWNERS, w.tree);
    zstdSetBlockWord(z, n, SLUICE_ZS_BLOCK_OWNERS + 1u, w.table0);
    zstdSetBlockWord(z, n, SLUICE_ZS_BLOCK_OWNERS + 2u, w.table1);
    zstdSetBlockWord(z, n, SLUICE_ZS_BLOCK_OWNERS + 3u, w.table2);
    zstdSetBlockWord(z, n, SLUICE_ZS_BLOCK_CONTENT_SIZE, w.contentSize);
    // zstd_sequences writes these words later, unless the block has no sequences.
    zstdSetBlockWord(z, n, SLUICE_ZS_BLOCK_TAKEN, b.sequences == 0u ? 0u : SLUICE_ZS_NOT_DECODED);
    zstdSetBlockWord(z, n, SLUICE_ZS_BLOCK_MATCHES, 0u);
    for (u32 i = 0u; i < SLUICE_ZS_REPEATS; ++i)
        zstdSetBlockWord(z, n, SLUICE_ZS_BLOCK_REPEATS + i, zstdMarker(i));
}

// Reads the headers of a block, and finds the checksum after the last block of a frame. Unless the
// walk only measures, stores what later steps need of the block (words SLUICE_ZS_BLOCK_*).
SLUICE_DEVICE u32 zstdReadBlock(SLUICE_IN(ZstdParams) p, SLUICE_IN(ZstdSlot) z,
                                SLUICE_INOUT(ZstdWalk, w)) {
    if (w.frameBlocks == w.maxFrameBlocks || w.blocks == p.maxBlocks) return SLUICE_ST_LIMIT;
    ZstdBlock b;
    b.literalKind = b.streams = b.literals = b.literalsAt = b.literalBytes = 0u;
    b.sequences = b.modes = b.tables = b.tableBytes = 0u;
    u32 status = zstdBlockHeader(z, w, b);
    if (status != SLUICE_ST_OK) return status;
    if (b.kind == SLUICE_ZS_COMPRESSED) {
        status = zstdLiteralsHeader(z, w, b);
        if (status == SLUICE_ST_OK) status = zstdSequencesHeader(z, w, b);
        if (status != SLUICE_ST_OK) return status;
    }
    w.least += b.size + b.literals + b.sequences * SLUICE_ZS_MIN_MATCH;
    if (w.least > z.decoded) return SLUICE_ST_TOO_LONG;
    bool checksum = b.last != 0u && (w.flags & SLUICE_ZS_HAS_CHECKSUM) != 0u;
    if (checksum && z.size - w.at < 4u) return SLUICE_ST_TRUNCATED;
    if ((p.pass & SLUICE_ZS_MEASURE) == 0u) {
        zstdStoreBlock(z, w, b);
        // The word is the checksum's offset in the source; 0 says that there is none.
        zstdSetBlockWord(z, w.blocks, SLUICE_ZS_BLOCK_CHECKSUM, checksum ? w.at : 0u);
    }
    if (checksum) w.at += 4u;
    if (b.streams != 0u) w.literals += b.streams * zstdStreamRoom(b.literals, b.streams);
    w.sequences += b.sequences;
    ++w.frameBlocks;
    ++w.blocks;
    if (b.last != 0u) w.flags &= ~SLUICE_ZS_IN_FRAME;
    return SLUICE_ST_OK;
}

// `index` is the region's number in the turn; in the round, if the walk only measures.
SLUICE_DEVICE void zstdWalk(SLUICE_IN(ZstdParams) p, u32 index) {
    bool measures = (p.pass & SLUICE_ZS_MEASURE) != 0u;
    if (index >= (measures ? p.roundRegions : zstdTurnRegions(p))) return;
    ZstdSlot z;
    if (measures)
        z = zstdRegion(p, index);
    else
        z = zstdSlot(p, index);
    ZstdWalk w;
    if ((p.pass & SLUICE_ZS_FIRST) != 0u) {
        w = zstdBeginWalk(p, z);
        storeWord(z.head, SLUICE_ZS_HEAD_PLACED, 0u);
        storeWord(z.head, SLUICE_ZS_HEAD_POSITION, 0u);
        storeWord(z.head, SLUICE_ZS_HEAD_FRAME_BEGIN, 0u);
        storeWord(z.head, SLUICE_ZS_HEAD_HASH_BLOCK, 0u);
        storeWord(z.head, SLUICE_ZS_HEAD_HASH_AT, SLUICE_ZS_NOT_HASHING);
        storeWord(z.head, SLUICE_ZS_HEAD_EXPAND_BLOCK, 0u);
        storeWord(z.head, SLUICE_ZS_HEAD_EXPAND_AT, 0u);
        storeWord(z.head, SLUICE_ZS_HEAD_EXPAND_NEXT, 0u);
    } else {
        w = zstdLoadWalk(z);
    }
    SLUICE_DONT_UNROLL
    for (u32 turn = 0u; turn < SLUICE_ZS_SERIAL_TURNS && !w.done; ++turn) {
        if ((w.flags & SLUICE_ZS_IN_FRAME) != 0u)
            w.status = zstdReadBlock(p, z, w);
        else if (w.at == z.size)
            w.done = true;
        else
            w.status = zstdFrame(z, w);
        w.done = w.done || w.status != SLUICE_ST_OK;
    }
    if (!sgLoopsGoOn() || ((p.pass & SLUICE_ZS_LAST) != 0u && !w.done))
        w.status = SLUICE_ST_INTERNAL;
    if (w.status != SLUICE_ST_OK) {
        w.done = true;
        zstdFault(z, 0u, 0u, 0u, w.status);
    }
    zstdStoreWalk(z, w);
}

SLUICE_KERNEL_END
#endif
