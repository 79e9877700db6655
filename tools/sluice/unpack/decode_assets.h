// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes the assets of a container one after the other, and gives their bytes to a sink.
#pragma once

#include <deque>
#include <vector>

#include "tools/common/decoder.h"
#include "tools/common/progress.h"

namespace sluice {

// Takes the decoded assets, one after the other, each in pieces in order.
class AssetSink {
public:
    virtual ~AssetSink() = default;
    virtual void begin(uint32_t asset) = 0;
    virtual void write(uint64_t offset, const uint8_t* bytes, uint32_t size) = 0;
    virtual void end() = 0;
    virtual void discard() = 0; // called instead of end if something is wrong in the asset
};

class AssetDecoder {
public:
    // With keepGoing, errors in a file are reported on stderr and the next tile follows. Otherwise
    // they are thrown as a Failure, as all other errors always are.
    AssetDecoder(const Container& container, const ToolDevice& device, AssetSink& sink,
                 Progress& progress, bool keepGoing);

    // `assets` are their numbers, ascending.
    DecodeStats run(const std::vector<uint32_t>& assets);

    uint64_t badAssets() const { return m_badAssets; }
    // Returns exitOk, or the exit code for all reported failures: damage takes precedence over
    // newer versions.
    int exitCode() const { return m_exitCode; }

private:
    // An asset, and its place in what its tiles decode to.
    struct Part {
        uint32_t asset;
        uint64_t begin, end;
        bool isBegun = false; // the sink has it
        bool isBad = false;
    };
    // Assets whose tiles have been given to the decoder: one, or several that share them. Empty
    // assets wait for their turn too.
    struct Open {
        std::vector<Part> parts; // in order
        size_t part = 0;         // the first asset that is not done
        uint32_t tilesLeft = 0;
    };

    std::vector<Open> group(const std::vector<uint32_t>& assets) const;
    void take(const DecodeTile& tile, uint32_t status, const uint8_t* bytes);
    void takePart(Part& part, const DecodeTile& tile, uint32_t status, const uint8_t* bytes);
    void addTiles(const std::vector<Part>& parts);
    void finish();
    void endPart(Part& part);
    template <class Call>
    void attempt(Part& part, Call call);
    void fail(Part& part, const Failure& failure);

    const Container& m_container;
    AssetSink& m_sink;
    Progress& m_progress;
    bool m_keepGoing;
    Decoder m_decoder;
    std::deque<Open> m_open;
    uint64_t m_bytesOut = 0; // of the assets
    uint64_t m_badAssets = 0;
    int m_exitCode = exitOk;
};

} // namespace sluice
