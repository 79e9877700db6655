// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry points of filters that need no decoder, and the command.
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

// Appends text to the caller's buffer, and truncates what does not fit.
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

void checkFilterInfo(sluice::RangeChecker& check, const SluiceFilterInfo& info)
{
    check.require(info.maxTileCount <= kMaxTiles && info.statusCount <= kMaxTiles,
                  SLUICE_ERROR_ARGUMENT);
    check.require(info.maxTileSize % 4 == 0 && info.maxTileSize != 0 &&
                      info.maxTileSize <= SLUICE_FILTER_MAX_TILE,
                  SLUICE_ERROR_ARGUMENT);
}

} // namespace

SluiceStatus sluiceGetFilterRequirements(SluiceContext context, const SluiceFilterInfo* info,
                                         SluiceRequirements* requirements)
{
    if (context == nullptr || info == nullptr || requirements == nullptr)
        return SLUICE_ERROR_ARGUMENT;
    sluice::RangeChecker check(false);
    checkFilterInfo(check, *info);
    if (check.status() == SLUICE_OK) *requirements = context->backend->filterRequirements(*info);
    return check.status();
}

namespace {

SluiceStatus checkFilterCommand(SluiceContext context, SluiceCommands commands,
                                const SluiceFilterInfo* info)
{
    if (context == nullptr || info == nullptr) return SLUICE_ERROR_ARGUMENT;
    sluice::RangeChecker check = sluice::checkerFor(context, commands, SLUICE_KERNELS_FILTER);
    checkFilterInfo(check, *info);
    check.buffer(info->tiles, uint64_t(info->maxTileCount) * sizeof(SluiceFilterTile), 8);
    check.optionalBuffer(info->tileCount, 4, 4);
    check.optionalBuffer(info->descriptions, 4, 4);
    check.optionalBuffer(info->source, 1, 4);
    check.optionalBuffer(info->destination, 1, 1);
    check.buffer(info->status, (uint64_t(info->statusCount) + 2) * 4, 4);
    if (check.status() == SLUICE_OK)
        check.scratch(info->scratch, context->backend->filterRequirements(*info));
    return check.status();
}

bool sameRange(const SluiceBuffer& a, const SluiceBuffer& b)
{
    return a.handle == b.handle && a.offset == b.offset;
}

} // namespace

SluiceStatus sluiceCmdFilter(SluiceContext context, SluiceCommands commands,
                             const SluiceFilterInfo* info)
{
    const SluiceStatus status = checkFilterCommand(context, commands, info);
    return status != SLUICE_OK ? status : context->backend->cmdFilter(commands, *info);
}

SluiceStatus sluiceCmdGstdFilter(SluiceContext context, SluiceCommands commands,
                                 const SluiceGstdInfo* decode, const SluiceFilterInfo* filter)
{
    SluiceStatus status = sluice::checkGstd(context, commands, decode);
    if (status == SLUICE_OK) status = checkFilterCommand(context, commands, filter);
    if (status != SLUICE_OK) return status;
    if (!sameRange(decode->status, filter->status) || decode->maxRegionCount != filter->statusCount)
        return SLUICE_ERROR_ARGUMENT;
    return context->backend->cmdGstdFilter(commands, *decode, *filter);
}
