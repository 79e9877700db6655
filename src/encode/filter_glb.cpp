// SPDX-License-Identifier: MIT OR Apache-2.0
// glTF 2.0 in its binary form (.glb): the accessors of its buffer say where records are.
#include "filter_plan.h"

#include "../formats/xxh32.h"

#include <algorithm>
#include <cstring>
#include <map>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using nlohmann::json;

constexpr uint64_t kMaxJson = 64u << 20;

uint64_t numberOf(const json& object, const char* key, uint64_t otherwise)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_number_unsigned() ? found->get<uint64_t>()
                                                                : otherwise;
}

uint32_t componentBytes(uint64_t type)
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

uint32_t componentCount(const json& accessor)
{
    const auto found = accessor.find("type");
    if (found == accessor.end() || !found->is_string()) return 0;
    const std::string& type = found->get_ref<const std::string&>();
    if (type == "SCALAR") return 1;
    if (type == "VEC2") return 2;
    if (type == "VEC3") return 3;
    return type == "VEC4" ? 4 : type == "MAT4" ? 16 : 0;
}

// An attribute of each record: where it begins in the record, and its components.
struct Attribute {
    uint32_t bytes, count;
};

// Records that share a place and a stride.
struct Records {
    uint64_t count = 0;
    std::map<uint32_t, Attribute> attributes; // by their place in the record
};

FilterSection sectionOf(const Records& records, uint32_t stride)
{
    FilterSection section;
    uint32_t at = 0;
    for (const auto& [place, attribute] : records.attributes) {
        const uint32_t size = attribute.bytes * attribute.count;
        if (place < at || size > stride - place) continue; // overlaps another
        addColumns(section, place - at, 1);
        addColumns(section, attribute.count, uint8_t(attribute.bytes));
        at = place + size;
    }
    addColumns(section, stride - at, 1);
    return section;
}

FilterParts partsOf(const json& document, uint64_t binary, uint64_t binarySize, uint64_t fileSize)
{
    const auto accessors = document.find("accessors"), views = document.find("bufferViews");
    if (accessors == document.end() || views == document.end() || !accessors->is_array() ||
        !views->is_array())
        return {};
    std::map<std::pair<uint64_t, uint32_t>, Records> all; // by begin and stride
    for (const json& accessor : *accessors) {
        const uint64_t view = numberOf(accessor, "bufferView", UINT64_MAX);
        const uint32_t bytes = componentBytes(numberOf(accessor, "componentType", 0)),
                       count = componentCount(accessor);
        if (view >= views->size() || bytes == 0 || count == 0 ||
            !(*views)[size_t(view)].is_object())
            continue;
        const json& bufferView = (*views)[size_t(view)];
        const uint64_t viewBegin = numberOf(bufferView, "byteOffset", 0),
                       viewSize = numberOf(bufferView, "byteLength", 0);
        const uint64_t stride = numberOf(bufferView, "byteStride", bytes * count);
        const uint64_t offset = numberOf(accessor, "byteOffset", 0),
                       records = numberOf(accessor, "count", 0);
        const bool inside =
            viewBegin <= binarySize && viewSize <= binarySize - viewBegin && offset <= viewSize;
        if (numberOf(bufferView, "buffer", 0) != 0 || !inside || stride < bytes * count ||
            stride > kFilterMaxStride)
            continue;
        // Attributes of one record begin inside it; larger offsets begin records of their own.
        const bool packed = offset >= stride;
        const uint64_t begin = viewBegin + (packed ? offset : 0);
        Records& place = all[{begin, uint32_t(stride)}];
        place.count =
            std::max(place.count, std::min(records, (viewBegin + viewSize - begin) / stride));
        place.attributes[packed ? 0 : uint32_t(offset)] = {bytes, count};
    }
    FilterPartList list(fileSize);
    for (const auto& [where, records] : all) {
        FilterPart part;
        part.begin = binary + where.first;
        part.size = records.count * where.second;
        part.section = sectionOf(records, where.second);
        part.choices.predictors =
            1u | 1u << uint32_t(FilterPredictor::left) | 1u << uint32_t(FilterPredictor::left2);
        part.choices.floats = true;
        list.add(std::move(part));
    }
    return list.finish();
}

} // namespace

FilterParts findGlbParts(const uint8_t* bytes, uint64_t size)
{
    if (size < 28 || std::memcmp(bytes, "glTF", 4) != 0 || loadLe32(bytes + 4) != 2) return {};
    const uint64_t length = loadLe32(bytes + 12);
    if (loadLe32(bytes + 16) != 0x4e4f534a || length > kMaxJson || size - 20 < length ||
        size - 20 - length < 8)
        return {};
    const uint64_t binary = 28 + length;
    const uint64_t binarySize = std::min<uint64_t>(loadLe32(bytes + binary - 8), size - binary);
    if (loadLe32(bytes + binary - 4) != 0x004e4942) return {};
    // throws nothing but bad_alloc
    const json document = json::parse(bytes + 20, bytes + 20 + length, nullptr, false);
    return document.is_object() ? partsOf(document, binary, binarySize, size) : FilterParts();
}

} // namespace sluice
