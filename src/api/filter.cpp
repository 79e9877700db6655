// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry points of filters on the CPU, and of the command that undoes filters on the device.
#include "formats/filter.h"
#include "api/checks.h"

#include <sluice/sluice_filter.h>
#include <sluice/sluice_gstd.h>

#include <cstdarg>
#include <cstdio>

SluiceStatus sluiceCheckFilter(const void* description, size_t size)
{
    return description == nullptr ? SLUICE_ERROR_ARGUMENT : sluice::checkFilter(description, size);
}

namespace {

// Writes text into the caller's buffer; what does not fit is cut off.
class Text {
public:
    Text(char* to, size_t capacity) : m_to(to), m_left(capacity) { *m_to = 0; }
    void add(const char* format, ...)
    {
        va_list arguments;
        va_start(arguments, format);
        const int length = std::vsnprintf(m_to, m_left, format, arguments);
        va_end(arguments);
        const size_t step = length < 0 ? 0 : size_t(length) < m_left ? size_t(length) : m_left - 1;
        m_to += step;
        m_left -= step;
    }

private:
    char* m_to;
    size_t m_left;
};

void addColumn(Text& text, const sluice::FilterColumn& column, uint32_t repeat)
{
    if (repeat > 1) text.add(" %ux", repeat);
    text.add(" u%u", column.bits());
    if (column.predictor != sluice::FilterPredictor::none)
        text.add(" %s", rowOf(column.predictor).name);
    if (column.base != 0) text.add(" -%u", column.base - 1);
    if (column.has(sluice::filterRotated)) text.add(" float");
    if (column.has(sluice::filterBlock)) text.add(" block");
    if (column.has(sluice::filterZigzag)) text.add(" zigzag");
    if (column.has(sluice::filterSplit) && column.bytes > 1) text.add(" planes");
    if (column.has(sluice::filterJoined)) text.add(" joined");
}

} // namespace

SluiceStatus sluiceGetFilterText(const void* description, size_t size, char* text, size_t capacity)
{
    if (description == nullptr || text == nullptr || capacity == 0) return SLUICE_ERROR_ARGUMENT;
    *text = 0;
    const SluiceStatus status = sluice::checkFilter(description, size);
    if (status != SLUICE_OK) return status;
    Text out(text, capacity);
    sluice::FilterReader reader(description, size);
    sluice::FilterSection section;
    for (bool first = true; reader.next(section); first = false) {
        if (!first) out.add(" | ");
        if (section.size == sluice::kFilterRest) {
            out.add("rest:");
        } else {
            out.add("%u:", section.size);
        }
        if (section.columnCount == 0) out.add(" plain");
        if (section.tgaRle) out.add(" packets");
        if (section.width != 0) out.add(" width %u", section.width);
        for (uint32_t c = 0; c < section.columnCount;) {
            const sluice::FilterColumn& column = section.columns[c];
            uint32_t repeat = 1;
            const auto same = [&](const sluice::FilterColumn& other) {
                return other.bytes == column.bytes && other.predictor == column.predictor &&
                       other.flags == column.flags && other.base == column.base;
            };
            while (c + repeat < section.columnCount && same(section.columns[c + repeat]))
                ++repeat;
            addColumn(out, column, repeat);
            out.add(c + repeat < section.columnCount ? "," : "");
            c += repeat;
        }
    }
    return SLUICE_OK;
}

namespace {

constexpr uint32_t kMaxTiles = 1u << 24;

void checkFilterInfo(sluice::CallChecker& check, const SluiceFilterInfo& info)
{
    check.atMost(SLUICE_NAMED(info.maxTileCount), kMaxTiles);
    check.atMost(SLUICE_NAMED(info.statusCount), kMaxTiles);
    check.multipleOf(SLUICE_NAMED(info.maxTileSize), 4);
    check.atLeast(SLUICE_NAMED(info.maxTileSize), 4);
    check.atMost(SLUICE_NAMED(info.maxTileSize), SLUICE_FILTER_MAX_TILE);
}

void checkFilterCommand(sluice::CallChecker& check, SluiceContext context, SluiceCommands commands,
                        const SluiceFilterInfo* filter)
{
    check.command(commands, SLUICE_KERNELS_FILTER);
    checkFilterInfo(check, *filter);
    check.buffer(SLUICE_NAMED(filter->tiles),
                 uint64_t(filter->maxTileCount) * sizeof(SluiceFilterTile), 8);
    check.optionalBuffer(SLUICE_NAMED(filter->tileCount), 4, 4);
    check.optionalBuffer(SLUICE_NAMED(filter->descriptions), 4, 4);
    check.optionalBuffer(SLUICE_NAMED(filter->source), 1, 4);
    check.optionalBuffer(SLUICE_NAMED(filter->destination), 1, 1);
    check.buffer(SLUICE_NAMED(filter->status), (uint64_t(filter->statusCount) + 2) * 4, 4);
    if (check.isOk())
        check.scratch(SLUICE_NAMED(filter->scratch), context->backend->filterRequirements(*filter));
}

bool sameRange(const SluiceBuffer& a, const SluiceBuffer& b)
{
    return a.handle == b.handle && a.offset == b.offset;
}

} // namespace

SluiceStatus sluiceGetFilterRequirements(SluiceContext context, const SluiceFilterInfo* info,
                                         SluiceRequirements* requirements)
{
    sluice::CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info)) || !check.given(SLUICE_NAMED(requirements)))
        return check.status();
    checkFilterInfo(check, *info);
    if (check.isOk()) *requirements = context->backend->filterRequirements(*info);
    return check.status();
}

SluiceStatus sluiceCmdFilter(SluiceContext context, SluiceCommands commands,
                             const SluiceFilterInfo* info)
{
    sluice::CallChecker check(context, __func__);
    if (check.given(SLUICE_NAMED(info))) checkFilterCommand(check, context, commands, info);
    if (!check.isOk()) return check.status();
    sluice::Backend& backend = *context->backend;
    return backend.cmdFilter(commands,
                             sluice::withUsedScratch(*info, backend.filterRequirements(*info)));
}

SluiceStatus sluiceCmdGstdFilter(SluiceContext context, SluiceCommands commands,
                                 const SluiceGstdInfo* decode, const SluiceFilterInfo* filter)
{
    sluice::CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(decode)) || !check.given(SLUICE_NAMED(filter)))
        return check.status();
    sluice::checkGstd(check, context, commands, decode);
    if (check.isOk()) checkFilterCommand(check, context, commands, filter);
    check.require(SLUICE_NAMED(filter->status), sameRange(decode->status, filter->status),
                  "is the status of the decode");
    check.require(SLUICE_NAMED(filter->statusCount), decode->maxRegionCount == filter->statusCount,
                  "is the maxRegionCount (limit) of the decode", SLUICE_ERROR_ARGUMENT,
                  decode->maxRegionCount);
    if (!check.isOk()) return check.status();
    sluice::Backend& backend = *context->backend;
    return backend.cmdGstdFilter(
        commands, sluice::withUsedScratch(*decode, backend.gstdRequirements(*decode)),
        sluice::withUsedScratch(*filter, backend.filterRequirements(*filter)));
}
