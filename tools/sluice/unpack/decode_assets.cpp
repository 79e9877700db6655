// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/unpack/decode_assets.h"

#include <algorithm>
#include <unordered_map>

namespace sluice {

AssetDecoder::AssetDecoder(const Container& container, const ToolDevice& device, AssetSink& sink,
                           Progress& progress, bool keepGoing)
    : m_container(container), m_sink(sink), m_progress(progress), m_keepGoing(keepGoing),
      m_decoder(device, [this](const DecodeTile& tile, uint32_t status, const uint8_t* bytes) {
          take(tile, status, bytes);
      })
{
}

// Reports a failure, unless `isTold` says that it was reported already, and marks the asset as bad.
void AssetDecoder::fail(Part& part, const Failure& failure, bool isTold)
{
    const bool isOfTheFile = failure.code == exitFormat || failure.code == exitUnsupported;
    if (!m_keepGoing || !isOfTheFile) throw failure;
    m_progress.clear();
    if (!isTold) sayError(failure.text);
    if (!part.isBad) m_badAssets.push_back(part.asset);
    part.isBad = true;
    if (m_exitCode != exitFormat) m_exitCode = failure.code;
}

template <class Call>
void AssetDecoder::attempt(Part& part, Call call)
{
    try {
        call();
    } catch (const Failure& failure) {
        fail(part, failure);
    }
}

void AssetDecoder::endPart(Part& part)
{
    attempt(part, [&] {
        if (!part.isBegun && !part.isBad) m_sink.begin(part.asset);
    });
    part.isBad ? m_sink.discard() : m_sink.end();
}

// Ends, in order, the assets whose tiles have all been decoded. Empty assets begin and end here
// when it is their turn.
void AssetDecoder::finish()
{
    while (!m_open.empty() && m_open.front().tilesLeft == 0) {
        Open& open = m_open.front();
        for (; open.part < open.parts.size(); ++open.part)
            endPart(open.parts[open.part]);
        m_open.pop_front();
    }
}

void AssetDecoder::takePart(Part& part, const DecodeTile& tile, const uint8_t* bytes)
{
    const uint64_t tileBegin = tile.tile.outputOffset, begin = std::max(tileBegin, part.begin);
    const uint64_t end = std::min(tileBegin + tile.tile.size, part.end);
    attempt(part, [&] {
        if (!part.isBegun && !part.isBad) {
            part.isBegun = true;
            m_sink.begin(part.asset);
        }
        if (!part.isBad)
            m_sink.write(begin - part.begin, bytes + (begin - tileBegin), uint32_t(end - begin));
    });
    m_bytesOut += end - begin;
    m_progress.advance(end - begin);
}

// Reports a damaged tile, and marks the assets that need it as bad.
void AssetDecoder::takeBadTile(Open& open, const DecodeTile& tile, uint32_t status)
{
    const uint64_t end = tile.tile.outputOffset + tile.tile.size;
    size_t last = open.part;
    while (last + 1 < open.parts.size() && open.parts[last + 1].begin < end)
        ++last;
    Part& first = open.parts[open.part];
    std::string text = m_container.place(first.asset);
    if (last != open.part) text += formatText(" and %zu others", last - open.part);
    text += ", " + m_container.tilePlace(tile.number, tile.tile) + ": " +
            sluiceGetTileStatusText(status);
    // Records of several assets may point to one tile, which is reported once.
    bool isTold = !m_badTiles.insert(tile.tile.offset).second;
    for (size_t part = open.part; part <= last; ++part, isTold = true)
        fail(open.parts[part], {exitCodeOfTile(status), text}, isTold);
}

void AssetDecoder::take(const DecodeTile& tile, uint32_t status, const uint8_t* bytes)
{
    Open& open = m_open.front();
    const uint64_t end = tile.tile.outputOffset + tile.tile.size;
    if (status != SLUICE_TILE_OK && open.part < open.parts.size()) takeBadTile(open, tile, status);
    for (; open.part < open.parts.size() && open.parts[open.part].begin < end; ++open.part) {
        Part& part = open.parts[open.part];
        takePart(part, tile, bytes);
        if (part.end > end) break; // the next tile holds the rest of the asset
        endPart(part);
    }
    --open.tilesLeft;
    finish();
}

// Divides the assets into groups, in order. Assets that share tiles form one group, at the position
// of the first of them. Any other asset is a group by itself.
std::vector<AssetDecoder::Open> AssetDecoder::group(const std::vector<uint32_t>& assets) const
{
    std::vector<Open> groups;
    std::unordered_map<uint32_t, size_t> shares;
    for (const uint32_t asset : assets) {
        Part part = {asset, 0, m_container.asset(asset).size};
        size_t number = groups.size();
        if (m_container.isArchive()) {
            const SluiceArchiveAsset info = m_container.archiveAsset(asset);
            part.begin = info.tilesOffset;
            part.end += part.begin;
            if (info.share != SLUICE_ARCHIVE_NO_SHARE)
                number = shares.emplace(info.share, number).first->second;
        }
        if (number == groups.size()) groups.emplace_back();
        groups[number].parts.push_back(part);
    }
    return groups;
}

// Adds a group's tiles to the decoder. Of the tiles that several assets share, adds only those that
// hold bytes of a wanted asset.
void AssetDecoder::addTiles(const std::vector<Part>& parts)
{
    const uint32_t asset = parts.front().asset;
    size_t at = 0;
    const auto isWanted = [&](const ContainerTile& tile) {
        while (at + 1 < parts.size() && parts[at].end <= tile.outputOffset)
            ++at;
        return parts[at].begin < tile.outputOffset + tile.size && parts[at].end > tile.outputOffset;
    };
    uint32_t count = 0;
    m_container.forEachTile(
        asset, [&](uint32_t, const ContainerTile& tile) { count += isWanted(tile) ? 1 : 0; });
    m_open.back().tilesLeft = count;
    at = 0;
    m_container.forEachTile(asset, [&](uint32_t number, const ContainerTile& tile) {
        if (!isWanted(tile)) return;
        uint8_t* const to = m_decoder.add({tile, m_container.isArchive(), asset, number});
        m_container.file().read(tile.offset, to, tile.storedSize);
    });
}

DecodeStats AssetDecoder::run(const std::vector<uint32_t>& assets)
{
    for (Open& group : group(assets)) {
        const std::vector<Part> parts = group.parts;
        const uint32_t asset = parts.front().asset;
        group.tilesLeft = m_container.asset(asset).tileCount;
        m_open.push_back(std::move(group));
        if (m_open.size() == 1) finish(); // its asset may be empty
        try {
            if (parts.front().end != 0) addTiles(parts);
        } catch (const Failure& failure) {
            try {
                m_decoder.flush(); // the assets before this one are still valid
            } catch (const Failure&) {
                // Report the first failure, unless decoding goes on after failures.
                if (m_keepGoing) throw;
            }
            if (m_open.empty() || m_open.back().parts.front().asset != asset) throw;
            // All records of an asset are checked before its first tile is added, so none has been
            // added.
            Open& open = m_open.back();
            for (Part& part : open.parts)
                fail(part, failure, &part != &open.parts.front());
            open.tilesLeft = 0;
            finish();
        }
    }
    m_decoder.flush();
    DecodeStats stats = m_decoder.stats();
    stats.bytesOut = m_bytesOut;
    return stats;
}

} // namespace sluice
