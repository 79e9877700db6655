// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_df11.h>

#include "tools/common/weight_decoder.h"

#include <algorithm>

#include "formats/archive_layout.h"

namespace sluice {
namespace {

// A unit (the coded weights of one module) is decoded in parts, each a range of the unit's blocks.
// These bounds keep a part to about 60 MB of host and device memory; it takes more only if a single
// block has more elements.
constexpr uint64_t kMaxPartBlocks = 2048, kMaxPartElements = uint64_t(16) << 20;

// A Huffman code has at most 32 bits. So a code that starts in a part's last block may end up to
// this many bytes after that block, and these bytes are read too.
constexpr uint64_t kLookAhead = 4;

std::vector<uint64_t> readPositions(const WeightFile& file, const WeightUnit& unit)
{
    const Bytes bytes = file.readAll(*unit.positions);
    const bool wide = unit.description.kind == SLUICE_DF11_FP8_E4M3;
    std::vector<uint64_t> positions;
    for (size_t i = 0; i < bytes.size(); i += wide ? 8 : 4)
        positions.push_back(wide ? loadLe64(&bytes[i]) : loadLe32(&bytes[i]));
    // An entry is the index of a block's first element. The packers of these formats leave out the
    // last entry, the number of elements, if the last block has no element.
    positions.resize(size_t(blocksOf(unit.description)) + 1, unit.description.elementCount);
    return positions;
}

uint64_t endOfPart(const std::vector<uint64_t>& positions, uint64_t firstBlock)
{
    uint64_t end = firstBlock + 1;
    while (end + 1 < positions.size() && end - firstBlock < kMaxPartBlocks &&
           positions[size_t(end + 1)] - positions[size_t(firstBlock)] <= kMaxPartElements) {
        ++end;
    }
    return end;
}

} // namespace

// Some blocks of a unit, described as a smaller unit. firstBlock and firstElement say where they
// begin in the whole unit.
struct WeightDecoder::Part {
    SluiceDf11Unit unit;
    uint64_t firstBlock;
    uint64_t firstElement;
};

WeightDecoder::WeightDecoder(const ToolDevice& device)
    : m_device(device), m_units(device), m_source(device), m_destination(device), m_status(device),
      m_scratch(device)
{
}

void WeightDecoder::decode(const WeightFile& file, const WeightUnit& unit, const Take& take)
{
    const std::vector<uint64_t> positions = readPositions(file, unit);
    const uint64_t blocks = positions.size() - 1;
    for (uint64_t block = 0; block < blocks;) {
        const uint64_t end = endOfPart(positions, block);
        const Part part = readPart(file, unit, positions, block, end);
        decodePart(file, unit, part);
        take(part.firstElement, m_decoded.data(),
             uint64_t(part.unit.elementCount) * unit.elementBytes());
        block = end;
    }
}

// Reads the blocks [firstBlock, endBlock) of a unit and makes them a unit of their own.
WeightDecoder::Part WeightDecoder::readPart(const WeightFile& file, const WeightUnit& unit,
                                            const std::vector<uint64_t>& positions,
                                            uint64_t firstBlock, uint64_t endBlock)
{
    const bool bf16 = unit.description.kind == SLUICE_DF11_BF16;
    const uint64_t first = positions[size_t(firstBlock)], end = positions[size_t(endBlock)];
    const uint64_t streamBegin = firstBlock * SLUICE_DF11_BLOCK_BYTES;
    const uint64_t streamEnd = std::min<uint64_t>(endBlock * SLUICE_DF11_BLOCK_BYTES + kLookAhead,
                                                  unit.description.encodedSize);
    Part part = {unit.description, firstBlock, first};
    part.unit.elementCount = uint32_t(end - first);
    part.unit.encodedSize = uint32_t(streamEnd - streamBegin);
    const uint64_t blocks = blocksOf(part.unit);
    const uint64_t gapBytes = bf16 ? 320 : 256, positionBytes = bf16 ? 4 : 8;

    m_bytes.clear();
    const auto room = [this](uint64_t size) {
        const size_t offset = m_bytes.size();
        m_bytes.resize(offset + size_t((size + 15) / 16 * 16));
        return offset;
    };
    const auto copy = [&](const SafetensorsTensor& tensor, uint64_t offset, uint64_t size) {
        const size_t place = room(size);
        file.read(tensor, offset, m_bytes.data() + place, size_t(size));
        return uint64_t(place);
    };
    part.unit.lutsOffset = copy(*unit.luts, 0, unit.luts->size());
    part.unit.encodedOffset = copy(*unit.encoded, streamBegin, streamEnd - streamBegin);
    part.unit.gapsOffset = copy(*unit.gaps, firstBlock * gapBytes, blocks * gapBytes);
    const size_t positionPlace = room(blocks * positionBytes);
    for (uint64_t i = 0; i < blocks; ++i) {
        uint8_t* entry = m_bytes.data() + positionPlace + i * positionBytes;
        const uint64_t position = positions[size_t(firstBlock + i)] - first;
        bf16 ? storeLe32(entry, uint32_t(position)) : storeLe64(entry, position);
    }
    part.unit.outputPositionsOffset = positionPlace;
    const uint64_t from = bf16 ? first : first / 2, to = bf16 ? end : (end + 1) / 2;
    part.unit.signMantissaOffset = copy(*unit.signMantissa, from, to - from);
    if (!bf16 && first % 2 != 0) { // the part begins with the low 4 bits of a byte
        uint8_t* nibbles = m_bytes.data() + part.unit.signMantissaOffset;
        for (uint64_t i = 0; i < to - from; ++i)
            nibbles[i] = uint8_t(nibbles[i] << 4 | (i + 1 < to - from ? nibbles[i + 1] >> 4 : 0));
    }
    return part;
}

void WeightDecoder::decodePart(const WeightFile& file, const WeightUnit& unit, const Part& part)
{
    const uint32_t blocks = blocksOf(part.unit);
    const uint64_t size = uint64_t(part.unit.elementCount) * unit.elementBytes();
    SluiceDf11Info info = {};
    info.maxUnitCount = 1;
    info.maxBlockCount = blocks;
    info.units = m_units.fill(&part.unit, sizeof part.unit);
    info.source = m_source.fill(m_bytes);
    info.destination = m_destination.reserve(size);
    info.status = m_status.reserve((uint64_t(blocks) + 2) * 4);
    info.scratch = m_scratch.reserve(m_device.scratchSize(sluiceGetDf11Requirements, info));
    m_milliseconds += m_device.run([&](SluiceCommands commands) {
        m_device.check(sluiceCmdDf11(m_device.context(), commands, &info), "decode");
    });
    m_statuses.resize(size_t(blocks) + 2);
    m_decoded.resize(std::max<size_t>(m_decoded.size(), size_t(size)));
    m_device.download(info.status, m_statuses.data(), info.status.size);
    if (size != 0) m_device.download(info.destination, m_decoded.data(), size);
    if (m_statuses[blocks] != 0) {
        const uint32_t bad = std::min(m_statuses[size_t(blocks) + 1], blocks - 1),
                       status = m_statuses[bad];
        throw Failure{exitCodeOfTile(status), file.file().name() + ": " + unit.place() +
                                                  ", block " +
                                                  std::to_string(part.firstBlock + bad) + ": " +
                                                  sluiceGetTileStatusText(status)};
    }
}

} // namespace sluice
