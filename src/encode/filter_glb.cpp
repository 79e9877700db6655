// SPDX-License-Identifier: MIT OR Apache-2.0
// glTF 2.0 in its binary form (.glb): the accessors of its buffer say where records are.
#include "filter_plan.h"

#include "../formats/little_endian.h"

#include <algorithm>
#include <cstring>
#include <map>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using nlohmann::json;

constexpr u64 kMaxJson = 64u << 20;

u64 numberOf(const json& object, const char* key, u64 otherwise)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_number_unsigned() ? found->get<u64>() : otherwise;
}

u32 componentBytes(u64 type)
{
    switch (type) {
    case 5120:
    case 5121: return 1;
    case 5122:
    case 5123: return 2;
    case 5125:
    case 5126: return 4;
    default: return 0;
    }
}

u32 componentCount(const json& accessor)
{
    const auto found = accessor.find("type");
    if (found == accessor.end() || !found->is_string()) return 0;
    const std::string& type = found->get_ref<const std::string&>();
    if (type == "SCALAR") return 1;
    if (type == "VEC2") return 2;
    if (type == "VEC3") return 3;
    return type == "VEC4" ? 4 : type == "MAT4" ? 16 : 0;
}

// An attribute of each record: the bytes of a component, and how many components.
struct Attribute {
    u32 bytes, count;
};

// Records that share a place and a stride.
struct Records {
    u64 count = 0;
    std::map<u32, Attribute> attributes; // by their place in the record
};

FilterSection sectionOf(const Records& records, u32 stride)
{
    FilterSection section;
    u32 at = 0;
    for (const auto& [place, attribute] : records.attributes) {
        const u32 size = attribute.bytes * attribute.count;
        if (place < at || size > stride - place) continue; // overlaps another
        addColumns(section, place - at, 1);
        addColumns(section, attribute.count, u8(attribute.bytes));
        at = place + size;
    }
    addColumns(section, stride - at, 1);
    return section;
}

FilterParts partsOf(const json& document, u64 binary, u64 binarySize, u64 fileSize)
{
    const auto accessors = document.find("accessors"), views = document.find("bufferViews");
    if (accessors == document.end() || views == document.end() || !accessors->is_array() ||
        !views->is_array())
        return {};
    std::map<std::pair<u64, u32>, Records> all; // by begin and stride
    for (const json& accessor : *accessors) {
        const u64 view = numberOf(accessor, "bufferView", UINT64_MAX);
        const u32 bytes = componentBytes(numberOf(accessor, "componentType", 0)),
                  count = componentCount(accessor);
        if (view >= views->size() || bytes == 0 || count == 0 ||
            !(*views)[size_t(view)].is_object())
            continue;
        const json& bufferView = (*views)[size_t(view)];
        const u64 viewBegin = numberOf(bufferView, "byteOffset", 0),
                  viewSize = numberOf(bufferView, "byteLength", 0);
        const u64 stride = numberOf(bufferView, "byteStride", bytes * count);
        const u64 offset = numberOf(accessor, "byteOffset", 0),
                  records = numberOf(accessor, "count", 0);
        const bool inside =
            viewBegin <= binarySize && viewSize <= binarySize - viewBegin && offset <= viewSize;
        if (numberOf(bufferView, "buffer", 0) != 0 || !inside || stride < bytes * count ||
            stride > kFilterMaxStride)
            continue;
        // Attributes of one record begin inside it; larger offsets begin records of their own.
        const bool packed = offset >= stride;
        const u64 begin = viewBegin + (packed ? offset : 0);
        Records& place = all[{begin, u32(stride)}];
        place.count =
            std::max(place.count, std::min(records, (viewBegin + viewSize - begin) / stride));
        place.attributes[packed ? 0 : u32(offset)] = {bytes, count};
    }
    FilterPartList list(fileSize);
    for (const auto& [where, records] : all) {
        FilterPart part;
        part.begin = binary + where.first;
        part.size = records.count * where.second;
        part.section = sectionOf(records, where.second);
        part.choices.predictors = kSecondDifferences;
        part.choices.floats = true;
        list.add(std::move(part));
    }
    return list.finish();
}

} // namespace

FilterParts findGlbParts(const u8* bytes, u64 size)
{
    if (size < 28 || std::memcmp(bytes, "glTF", 4) != 0 || loadLe32(bytes + 4) != 2) return {};
    const u64 length = loadLe32(bytes + 12);
    if (loadLe32(bytes + 16) != 0x4e4f534a || length > kMaxJson || size - 20 < length ||
        size - 20 - length < 8)
        return {};
    const u64 binary = 28 + length;
    const u64 binarySize = std::min<u64>(loadLe32(bytes + binary - 8), size - binary);
    if (loadLe32(bytes + binary - 4) != 0x004e4942) return {};
    // Without exceptions parse() throws nothing but bad_alloc.
    const json document = json::parse(bytes + 20, bytes + 20 + length, nullptr, false);
    return document.is_object() ? partsOf(document, binary, binarySize, size) : FilterParts();
}

} // namespace sluice
