// SPDX-License-Identifier: MIT OR Apache-2.0
// The data of the streaming rows: an archive, and the same bytes packed for the peers. The files
// are copied several times, so that reading them takes long enough to be measured.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/common/container.h"

namespace sluice {

struct StreamAsset {
    uint32_t number; // number of the asset in the archive
    uint64_t size;
    uint64_t offset; // in StreamContent::plain
};

struct StreamTile {
    ContainerTile tile;
    uint64_t sourceOffset; // in StreamContent::stored, a multiple of 16
    uint64_t outputOffset; // in StreamContent::plain
};

// An archive, or made-up assets packed with GDeflate. Throws a Failure, for example if the file is
// no archive.
struct StreamContent {
    // Assets are left out if the output would exceed mostBytes.
    StreamContent(const std::string& path, uint64_t mostBytes);

    double growth() const { return double(outputBytes) / double(storedBytes); }

    std::string description;
    std::unique_ptr<Container> container;
    std::vector<StreamAsset> assets;
    std::vector<StreamTile> tiles;
    Bytes stored, plain;                       // each asset begins at a multiple of 256 in `plain`
    uint64_t storedBytes = 0, outputBytes = 0; // bytes of tiles, without gaps
};

// A piece of StreamContent::plain, packed for a peer (another way to stream, see stream_peers.h).
// The peer decodes it as a whole.
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
    // Decodes a chunk, and returns false if it cannot. nullptr: chunks are plain bytes, or the GPU
    // decodes them.
    bool (*decode)(const uint8_t* stored, const StreamChunk& chunk, uint8_t* output) = nullptr;
};
StreamPack packPlain(const Bytes& plain);    // chunks of 256 KiB
StreamPack packZstd(const Bytes& plain);     // frames of level 19, of 256 KiB
StreamPack packDeflate(const Bytes& plain);  // streams of libdeflate's level 12, of 256 KiB
StreamPack packGdeflate(const Bytes& plain); // tiles of level 12, of 64 KiB

// Copies of a file, which vanish with this object.
class StreamFiles {
public:
    // Throws a Failure, for example if there is no space.
    StreamFiles(const std::string& folder, const InputFile& file, uint32_t copies);
    ~StreamFiles();
    StreamFiles(const StreamFiles&) = delete;
    StreamFiles& operator=(const StreamFiles&) = delete;

    const std::vector<std::string>& paths() const { return m_paths; }
    uint64_t fileSize() const { return m_size; }
    // Lets the system drop the files from its page cache.
    void dropFromMemory() const;

private:
    void remove() const;

    std::string create(const std::string& folder, uint32_t number, SystemFile& file);

    std::vector<SystemFile> m_unnamed; // files without a name; they are the first of m_paths
    std::string m_folder;              // holds the files with a name; empty: there are none
    std::vector<std::string> m_paths;
    uint64_t m_size;
};

// Returns how many copies of a file fit into a folder, at most `wanted`, if a tenth of its free
// space stays free.
uint32_t copiesThatFit(const std::string& folder, uint64_t fileSize, uint32_t wanted);
// Returns whether the folder is in memory, so that reading from it is never cold.
bool isInMemory(const std::string& folder);

} // namespace sluice
