// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes assets of a container one after the other, and gives their bytes to a sink.
#pragma once

#include <deque>
#include <unordered_set>
#include <vector>

#include "tools/common/decoder.h"
#include "tools/common/progress.h"

namespace sluice {

// Receives decoded assets, one after the other, each in pieces in order.
class AssetSink {
public:
    virtual ~AssetSink() = default;
    virtual void begin(uint32_t asset) = 0;
    virtual void write(uint64_t offset, const uint8_t* bytes, uint32_t size) = 0;
    virtual void end() = 0;
    virtual void discard() = 0; // instead of end(), if the asset is damaged
};

class AssetDecoder {
public:
    // If keepGoing is set, damage in the file is reported on stderr, and decoding goes on with the
    // next tile; a damaged tile is one message, however many assets need it. Otherwise damage is
    // thrown as a Failure. All other errors are always thrown.
    AssetDecoder(const Container& container, const ToolDevice& device, AssetSink& sink,
                 Progress& progress, bool keepGoing);

    // `assets` are numbers in ascending order.
    DecodeStats run(const std::vector<uint32_t>& assets);

    const std::vector<uint32_t>& badAssets() const { return m_badAssets; }
    // Returns the exit code for all damage that was reported, or exitOk. exitFormat (damage) takes
    // precedence over exitUnsupported (a newer version).
    int exitCode() const { return m_exitCode; }

private:
    // An asset. It has the bytes [begin, end) of what its tiles decode to.
    struct Part {
        uint32_t asset;
        uint64_t begin, end;
        bool isBegun = false; // the sink's begin() was called
        bool isBad = false;
    };
    // An asset whose tiles the decoder has, or several assets that share tiles. Empty assets wait
    // here for their turn, too.
    struct Open {
        std::vector<Part> parts; // in the order of their bytes
        size_t part = 0;         // index of the first part that is not complete
        uint32_t tilesLeft = 0;
    };

    std::vector<Open> group(const std::vector<uint32_t>& assets) const;
    void take(const DecodeTile& tile, uint32_t status, const uint8_t* bytes);
    void takePart(Part& part, const DecodeTile& tile, const uint8_t* bytes);
    void takeBadTile(Open& open, const DecodeTile& tile, uint32_t status);
    void addTiles(const std::vector<Part>& parts);
    void finish();
    void endPart(Part& part);
    template <class Call>
    void attempt(Part& part, Call call);
    void fail(Part& part, const Failure& failure, bool isTold = false);

    const Container& m_container;
    AssetSink& m_sink;
    Progress& m_progress;
    bool m_keepGoing;
    Decoder m_decoder;
    std::deque<Open> m_open;
    uint64_t m_bytesOut = 0; // decoded bytes of assets
    std::vector<uint32_t> m_badAssets;
    std::unordered_set<uint64_t> m_badTiles; // offsets of tiles whose damage was reported
    int m_exitCode = exitOk;
};

} // namespace sluice
