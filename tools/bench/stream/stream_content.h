// SPDX-License-Identifier: MIT OR Apache-2.0
// Holds what the rows of streaming read: an archive, and the same bytes as the peers want them, in
// files that are there several times.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/common/container.h"

namespace sluice {

struct StreamAsset {
    uint32_t number; // in the archive
    uint64_t size;
    uint64_t offset; // in StreamContent::plain
};

struct StreamTile {
    ContainerTile tile;
    uint64_t sourceOffset; // in StreamContent::stored, a multiple of 16
    uint64_t outputOffset; // in StreamContent::plain
};

// An archive, or generated assets packed with GDeflate. Throws a Failure, for example if the file
// is not an archive.
struct StreamContent {
    // mostBytes limits the decoded bytes; assets beyond it are left out.
    StreamContent(const std::string& path, uint64_t mostBytes);

    double growth() const { return double(outputBytes) / double(storedBytes); }

    std::string description;
    std::unique_ptr<Container> container;
    std::vector<StreamAsset> assets;
    std::vector<StreamTile> tiles;
    Bytes stored, plain;                       // each asset begins at a multiple of 256 of plain
    uint64_t storedBytes = 0, outputBytes = 0; // of the tiles, without gaps
};

// The same bytes in chunks that are decoded one by one.
struct StreamChunk {
    uint64_t fileOffset; // a multiple of 16
    uint32_t storedSize;
    uint32_t size;
    uint64_t outputOffset;
};
struct StreamPack {
    Bytes bytes;
    std::vector<StreamChunk> chunks;
    uint64_t outputBytes = 0;
    // Decodes a chunk; returns false if it cannot. nullptr: the chunks are plain, or the GPU
    // decodes them.
    bool (*decode)(const uint8_t* stored, const StreamChunk& chunk, uint8_t* output) = nullptr;
};
StreamPack packPlain(const Bytes& plain);    // chunks of 256 KiB
StreamPack packZstd(const Bytes& plain);     // frames of level 19, of 256 KiB
StreamPack packDeflate(const Bytes& plain);  // streams of libdeflate's level 12, of 256 KiB
StreamPack packGdeflate(const Bytes& plain); // tiles of level 12, of 64 KiB

// Copies of a file in a folder of their own. The folder is deleted with this object.
class StreamFiles {
public:
    // Throws a Failure, for example if there is no room.
    StreamFiles(const std::string& folder, const InputFile& file, uint32_t copies);
    ~StreamFiles();
    StreamFiles(const StreamFiles&) = delete;
    StreamFiles& operator=(const StreamFiles&) = delete;

    const std::vector<std::string>& paths() const { return m_paths; }
    uint64_t fileSize() const { return m_size; }
    // Makes the system drop the files from its page cache.
    void dropFromMemory() const;

private:
    void remove() const;

    std::string m_folder;
    std::vector<std::string> m_paths;
    uint64_t m_size;
};

// How many copies of a file fit in a folder with a tenth of its free space left, at most `wanted`.
uint32_t copiesThatFit(const std::string& folder, uint64_t fileSize, uint32_t wanted);
// Returns whether the folder is in memory, so that no file there is ever cold.
bool isInMemory(const std::string& folder);

} // namespace sluice
