// SPDX-License-Identifier: MIT OR Apache-2.0
// Decoding on one core of the CPU. Our decoders and their peers decode the same bytes by turns, so
// that other load on the machine affects all of them alike.
#include <algorithm>
#include <chrono>

#include "tools/bench/rows.h"
#include "tools/bench/stream/stream_content.h"
#include "tools/common/tile_batch.h"

namespace sluice {
namespace {

constexpr uint32_t kRounds = 7;

// Decodes the tiles of a set by one command of a CPU context.
class CpuTiles {
public:
    CpuTiles(const TileSet& set, const char* tier, Bytes& output)
        : m_device(ofTier(tier)), m_batch(m_device), m_source(set.source)
    {
        for (const TileSet::Tile& one : set.tiles) {
            const uint8_t* const filter =
                one.filterSize != 0 ? set.filters.data() + one.filterOffset : nullptr;
            m_batch.add({one.sourceOffset, one.outputOffset, one.compressedSize, one.size,
                         set.codec, 0, filter, one.filterSize});
        }
        m_batch.info.flags = SLUICE_TILES_UNCHECKED | SLUICE_TILES_NEVER_STORED;
        m_batch.info.source = rangeOf(m_source);
        m_batch.info.sourceHost = m_source.data();
        m_batch.info.destination = rangeOf(output);
        m_batch.prepare();
    }

    void decode() const { require(m_batch.record(nullptr), "decode"); }

private:
    static SluiceDeviceInfo ofTier(const char* tier)
    {
        SluiceDeviceInfo info = {};
        info.selector = "cpu";
        info.tier = tier;
        return info;
    }
    static SluiceBuffer rangeOf(Bytes& bytes)
    {
        return {uint64_t(reinterpret_cast<uintptr_t>(bytes.data())), 0, bytes.size()};
    }

    const ToolDevice m_device;
    TileBatch m_batch;
    Bytes m_source; // a copy, since commands want buffers that are not const
};

struct Contender {
    std::string who;
    bool isPeer;
    std::function<void()> decode; // decodes all tiles into the output
    std::vector<double> milliseconds = {};
};

// Returns another library's decoder. It also decodes the bytes between tiles, which ours skip.
Contender peerOf(const std::string& who, const StreamPack& pack, Bytes& output)
{
    return {who, true, [&pack, &output, who] {
                for (const StreamChunk& chunk : pack.chunks)
                    if (!pack.decode(pack.bytes.data() + chunk.fileOffset, chunk,
                                     output.data() + chunk.outputOffset))
                        throw Failure{exitDevice, "bench: " + who + " cannot decode"};
            }};
}

double millisecondsOf(const std::function<void()>& work)
{
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

} // namespace

void benchCpuDecode(const TileSet& tiles, BenchReport& report)
{
    const bool isGstd = tiles.codec == SLUICE_CODEC_GSTD;
    if (!report.hasTime(isGstd ? "cpu decode: gstd" : "cpu decode: gdeflate",
                        sizeText(tiles.outputBytes)))
        return;
    Bytes output(tiles.expected.size());
    const CpuTiles fast(tiles, "fast", output), reference(tiles, "ref", output);
    const StreamPack pack = isGstd ? packZstd(tiles.expected) : packDeflate(tiles.expected);
    Contender contenders[] = {
        {"sluice", false, [&] { fast.decode(); }},
        peerOf(isGstd ? "zstd -19, 256 KiB" : "libdeflate -12, 256 KiB", pack, output),
        {"sluice, tier ref", false, [&] { reference.decode(); }}};
    for (Contender& one : contenders) {
        std::fill(output.begin(), output.end(), uint8_t(0xee));
        one.decode();
        for (const TileSet::Tile& tile : tiles.tiles) {
            const auto from = tiles.expected.begin() + std::ptrdiff_t(tile.outputOffset);
            if (!std::equal(from, from + tile.size,
                            output.begin() + std::ptrdiff_t(tile.outputOffset)))
                throw Failure{exitDevice, "bench: cpu decode: " + one.who + " is wrong"};
        }
    }
    for (uint32_t round = 0; round < kRounds; ++round)
        for (Contender& one : contenders)
            one.milliseconds.push_back(millisecondsOf(one.decode));
    std::vector<BenchRow> rows;
    for (Contender& one : contenders) {
        std::vector<double>& times = one.milliseconds;
        std::sort(times.begin(), times.end());
        rows.push_back({"cpu decode",
                        (isGstd ? "gstd, " : "gdeflate, ") + sizeText(tiles.outputBytes),
                        one.who,
                        tiles.outputBytes,
                        {times[kRounds / 2], times.front(), times.back(), kRounds}});
        rows.back().isPeer = one.isPeer;
    }
    report.addGroup(rows);
}

} // namespace sluice
