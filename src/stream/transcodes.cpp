// SPDX-License-Identifier: MIT OR Apache-2.0
#include "stream/transcodes.h"

#include <cstring>

#include "stream/batch.h"
#include "stream/gpu.h"

namespace sluice::stream {

namespace {

// A command starts equally many workgroups for each of its regions, as many as the largest one
// needs. So that few of them idle, the regions of a list differ by at most a factor of kClassFactor
// in their number of blocks, or have at most kFewBlocks blocks, which one workgroup handles.
constexpr uint32_t kClassFactor = 8, kFewBlocks = 128;

uint32_t blocksOf(const SluiceUastcRegion& region)
{
    return divideUp(region.width, 4u) * divideUp(region.height, 4u);
}

SluiceBuffer partOf(const SluiceBuffer& buffer, uint64_t offset, uint64_t size)
{
    return {buffer.handle, buffer.offset + offset, size};
}

} // namespace

SluiceUastcRegion regionOf(const SluiceStreamImage& image, const Unit& unit, uint32_t number,
                           uint64_t blocks, uint64_t made)
{
    const uint64_t columns = rowSize(image) / SLUICE_UA_BLOCK_BYTES;
    if (!makesTexels(image))
        return {blocks, made, uint32_t(4 * columns), 4 * unit.planes * unit.rows};
    const uint32_t planes = unit.planes / regionCount(image, unit);
    const uint64_t begin = uint64_t(unit.row) * 4;
    const uint64_t end = std::min<uint64_t>(begin + uint64_t(unit.rows) * 4, image.extent[1]);
    const uint32_t height = uint32_t(planes * (end - begin));
    return {blocks + number * columns * unit.rows * SLUICE_UA_BLOCK_BYTES,
            made + uint64_t(number) * image.extent[0] * height * 4, image.extent[0], height};
}

SluiceTileStatus worseOf(SluiceTileStatus a, SluiceTileStatus b)
{
    return a == SLUICE_TILE_OK || (a == SLUICE_TILE_BAD_CODE && b != SLUICE_TILE_OK) ? b : a;
}

SluiceTileStatus transcodeOnCpu(SluiceContext context, const SluiceStreamImage& image,
                                const Unit& unit, const uint8_t* blocks, uint8_t* made)
{
    SluiceTileStatus result = SLUICE_TILE_OK;
#if SLUICE_HAVE_UASTC
    const auto memory = [](const void* bytes, uint64_t size) {
        return SluiceBuffer{uint64_t(reinterpret_cast<uintptr_t>(bytes)), 0, size};
    };
    for (uint32_t i = 0; i < regionCount(image, unit); ++i) {
        const SluiceUastcRegion region =
            regionOf(image, unit, i, uint64_t(reinterpret_cast<uintptr_t>(blocks)),
                     uint64_t(reinterpret_cast<uintptr_t>(made)));
        uint32_t status[3] = {SLUICE_TILE_INTERNAL, 0, 0};
        SluiceUastcInfo info = {};
        info.maxRegionCount = 1;
        info.regionStride = SLUICE_UA_REGION_BYTES;
        info.maxRegionBlocks = blocksOf(region);
        info.format = image.format;
        info.flags = image.formatFlags;
        info.regions = memory(&region, sizeof region);
        info.source = memory(blocks, unit.size);
        info.destination = memory(made, madeSize(image, unit));
        info.status = memory(status, sizeof status);
        const bool isDone = sluiceCmdUastc(context, nullptr, &info) == SLUICE_OK;
        if (!isDone) return SLUICE_TILE_INTERNAL;
        result = worseOf(result, SluiceTileStatus(status[0]));
    }
#else
    (void)context, (void)image, (void)unit, (void)blocks, (void)made;
    result = SLUICE_TILE_INTERNAL;
#endif
    return result;
}

void Transcodes::reserve()
{
    m_regions.reserve(kTranscodeRegions);
    m_lists.reserve(kTranscodeLists);
}

void Transcodes::clear()
{
    m_regions.clear();
    m_lists.clear();
}

bool Transcodes::hasRoom(const SluiceStreamImage& image, const Unit& unit) const
{
    return m_lists.size() < kTranscodeLists &&
           m_regions.size() + regionCount(image, unit) <= kTranscodeRegions;
}

uint32_t Transcodes::sizeClassOf(uint64_t blocks)
{
    uint32_t sizeClass = 0;
    for (uint64_t most = kFewBlocks; most < blocks; most *= kClassFactor)
        ++sizeClass;
    return sizeClass;
}

Transcodes::Way Transcodes::wayOf(const SluiceStreamImage& image, const Unit& unit)
{
    return unit.tileCount == 0 ? Way::between : keepsPlaces(image) ? Way::inPlace : Way::apart;
}

uint32_t Transcodes::listFor(const List& wanted)
{
    for (uint32_t i = 0; i < m_lists.size() && wanted.way != Way::apart; ++i)
        if (m_lists[i].format == wanted.format && m_lists[i].flags == wanted.flags &&
            m_lists[i].way == wanted.way && m_lists[i].sizeClass == wanted.sizeClass)
            return i;
    m_lists.push_back(wanted);
    return uint32_t(m_lists.size() - 1);
}

void Transcodes::add(const SluiceStreamImage& image, const Unit& unit)
{
    const uint32_t count = regionCount(image, unit),
                   blocks = blocksOf(regionOf(image, unit, 0, 0, 0));
    const uint32_t list = listFor({image.format,
                                   image.formatFlags,
                                   sizeClassOf(blocks),
                                   wayOf(image, unit),
                                   {unit.blocks, unit.size},
                                   {unit.made, madeSize(image, unit)},
                                   0,
                                   0,
                                   0});
    m_lists[list].largest = std::max(m_lists[list].largest, blocks);
    for (uint32_t i = 0; i < count; ++i)
        m_regions.push_back({regionOf(image, unit, i, unit.blocks, unit.made), list, 0});
    m_lists[list].count += count;
}

void Transcodes::prepare(const SluiceStreamerInfo& info, const Gpu& gpu, uint32_t slot)
{
    m_control = slot * slotSize(info.control, info.maxBatches);
    m_resultsAt = slot * slotSize(info.results, info.maxBatches);
    m_results = reinterpret_cast<const uint32_t*>(static_cast<const uint8_t*>(info.results.host) +
                                                  m_resultsAt);
    uint32_t first = 0;
    for (List& list : m_lists) {
        list.first = first;
        first += list.count;
        list.count = 0; // counted again below
    }
    const uint64_t source = gpu.api().address(info.source.buffer),
                   output = gpu.api().address(info.output.buffer);
    uint8_t* const control = static_cast<uint8_t*>(info.control.host) + m_control;
    for (Region& region : m_regions) {
        List& list = m_lists[region.list];
        region.place = list.first + list.count++;
        SluiceUastcRegion written = region.region;
        written.srcAddress += list.way == Way::between ? source : output;
        written.dstAddress += output;
        std::memcpy(control + uint64_t(region.place) * sizeof written, &written, sizeof written);
    }
}

SluiceStatus Transcodes::record(const SluiceStreamerInfo& info, SluiceCommands commands) const
{
    SluiceStatus status = SLUICE_OK;
#if SLUICE_HAVE_UASTC
    for (uint32_t i = 0; i < m_lists.size() && status == SLUICE_OK; ++i) {
        const List& list = m_lists[i];
        SluiceUastcInfo command = {};
        command.maxRegionCount = list.count;
        command.regionStride = SLUICE_UA_REGION_BYTES;
        command.maxRegionBlocks = list.largest;
        command.format = list.format;
        command.flags = list.flags;
        const auto part = [&](const SluiceBuffer& buffer, uint64_t at, uint64_t each, uint64_t more,
                              uint64_t count) {
            return partOf(buffer, at + (list.first + more * i) * each, (count + more) * each);
        };
        command.regions =
            part(info.control.buffer, m_control, SLUICE_UA_REGION_BYTES, 0, list.count);
        command.status = part(info.results.buffer, m_resultsAt, 4, 2, list.count);
        command.scratch = part(info.scratch, 0, SLUICE_UA_SCRATCH_WORDS * 4, 1, list.count);
        command.source = list.way == Way::between ? info.source.buffer : info.output.buffer;
        command.destination = info.output.buffer;
        if (list.way == Way::apart) {
            command.source = partOf(info.output.buffer, list.blocks.offset, list.blocks.size);
            command.destination = partOf(info.output.buffer, list.made.offset, list.made.size);
        }
        status = sluiceCmdUastc(info.context, commands, &command);
    }
#else
    (void)info, (void)commands;
#endif
    return status;
}

SluiceTileStatus Transcodes::status(uint32_t region) const
{
    const Region& one = m_regions[region];
    return SluiceTileStatus(m_results[one.place + 2 * one.list]);
}

} // namespace sluice::stream
