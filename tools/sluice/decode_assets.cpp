// SPDX-License-Identifier: MIT OR Apache-2.0
#include "decode_assets.h"

#include <cstdio>

namespace sluice {

AssetDecoder::AssetDecoder(const Container& container, const ToolDevice& device, AssetSink& sink,
                           Progress& progress, bool keepGoing)
    : m_container(container), m_sink(sink), m_progress(progress), m_keepGoing(keepGoing),
      m_decoder(device, [this](const DecodeTile& tile, uint32_t status, const uint8_t* bytes) {
          take(tile, status, bytes);
      })
{
}

void AssetDecoder::fail(Open& open, const Failure& failure)
{
    const bool isOfTheFile = failure.code == exitFormat || failure.code == exitUnsupported;
    if (!m_keepGoing || !isOfTheFile) throw failure;
    m_progress.clear();
    std::fprintf(stderr, "sluice: %s\n", failure.text.c_str());
    if (!open.isBad) ++m_badAssets;
    open.isBad = true;
    if (m_exitCode != exitFormat) m_exitCode = failure.code;
}

template <class Call>
void AssetDecoder::attempt(Open& open, Call call)
{
    try {
        call();
    } catch (const Failure& failure) {
        fail(open, failure);
    }
}

// Ends what is complete; begins and ends empty assets.
void AssetDecoder::finish()
{
    while (!m_open.empty() && m_open.front().tilesLeft == 0) {
        Open& open = m_open.front();
        attempt(open, [&] {
            if (!m_begun && !open.isBad) m_sink.begin(open.asset);
        });
        open.isBad ? m_sink.discard() : m_sink.end();
        m_begun = false;
        m_open.pop_front();
    }
}

void AssetDecoder::take(const DecodeTile& tile, uint32_t status, const uint8_t* bytes)
{
    Open& open = m_open.front();
    if (status != SLUICE_TILE_OK) {
        fail(open, {exitCodeOfTile(status), m_container.place(tile.asset) + ", " +
                                                m_container.tilePlace(tile.number, tile.tile) +
                                                ": " + sluiceGetTileStatusText(status)});
    }
    attempt(open, [&] {
        if (!m_begun && !open.isBad) {
            m_begun = true;
            m_offset = 0;
            m_sink.begin(tile.asset);
        }
        if (!open.isBad) m_sink.write(m_offset, bytes, tile.tile.size);
    });
    m_offset += tile.tile.size;
    m_progress.advance(tile.tile.size);
    --open.tilesLeft;
    finish();
}

void AssetDecoder::addTiles(uint32_t asset)
{
    m_container.forEachTile(asset, [&](uint32_t number, const ContainerTile& tile) {
        uint8_t* const to = m_decoder.add({tile, m_container.isArchive(), asset, number});
        m_container.file().read(tile.offset, to, tile.storedSize);
    });
}

DecodeStats AssetDecoder::run(const std::vector<uint32_t>& assets)
{
    for (const uint32_t asset : assets) {
        m_open.push_back({asset, m_container.asset(asset).tileCount, false});
        if (m_open.size() == 1) finish(); // an empty asset at the front
        try {
            addTiles(asset);
        } catch (const Failure& failure) {
            try {
                m_decoder.flush(); // the assets before the damaged one are still good
            } catch (const Failure&) {
                // the first failure is the one to tell, unless it is not the end
                if (m_keepGoing) throw;
            }
            if (m_open.empty() || m_open.back().asset != asset) throw;
            // Records are checked before the first tile: all of them are missing.
            fail(m_open.back(), failure);
            m_open.back().tilesLeft = 0;
            finish();
        }
    }
    m_decoder.flush();
    return m_decoder.stats();
}

} // namespace sluice
