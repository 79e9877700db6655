// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the parts of binary glTF 2.0 files (.glb). Such a file has a JSON document and a buffer.
// The document's accessors and buffer views say where the buffer holds records, such as vertices.
#include "encode/filter/filter_plan.h"

#include "formats/little_endian.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using nlohmann::json;

// These limits bound the memory for the JSON document. If a document exceeds one of them, no parts
// are found in its file.
constexpr uint64_t kMaxJson = 32u << 20;
constexpr size_t kMaxValues = 1u << 19;
constexpr size_t kMaxDepth = 8;

// Keeps the members "accessors" and "bufferViews" of a JSON document. All other members are
// skipped; only their depth is counted, to know where they end.
class DocumentReader final : public nlohmann::json_sax<json> {
public:
    json document;

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(int64_t value) override { return add(value); }
    bool number_unsigned(uint64_t value) override { return add(value); }
    bool number_float(double value, const std::string&) override { return add(value); }
    bool string(std::string& value) override { return add(std::move(value)); }
    bool binary(json::binary_t&) override { return false; }
    bool start_object(size_t) override { return open(json::object()); }
    bool start_array(size_t) override { return open(json::array()); }
    bool end_object() override { return shut(); }
    bool end_array() override { return shut(); }
    bool key(std::string& name) override
    {
        if (m_skipped != 0) return true;
        m_skips = m_open.size() == 1 && name != "accessors" && name != "bufferViews";
        m_key.swap(name);
        return true;
    }
    bool parse_error(size_t, const std::string&, const json::exception&) override { return false; }

private:
    bool add(json value)
    {
        if (m_skipped != 0) return true;
        if (m_skips) {
            m_skips = false;
            return true;
        }
        return put(std::move(value)) != nullptr;
    }
    bool open(json value)
    {
        if (m_skips) {
            ++m_skipped;
            return true;
        }
        json* const place = m_open.size() < kMaxDepth ? put(std::move(value)) : nullptr;
        if (place != nullptr) m_open.push_back(place);
        return place != nullptr;
    }
    bool shut()
    {
        if (m_skipped == 0)
            m_open.pop_back();
        else if (--m_skipped == 0)
            m_skips = false;
        return true;
    }
    // Stores a value in the document and returns its address, or NULL if there are too many values.
    // The address stays valid until the value is complete, because its parent gets no other member
    // before.
    json* put(json value)
    {
        if (++m_values > kMaxValues) return nullptr;
        if (m_open.empty()) {
            document = std::move(value);
            return &document;
        }
        json& around = *m_open.back();
        if (around.is_object()) return &(around[m_key] = std::move(value));
        around.push_back(std::move(value));
        return &around.back();
    }

    std::vector<json*> m_open;
    std::string m_key;
    bool m_skips = false; // the next value, or the one that is open, is not kept
    size_t m_skipped = 0; // how many open values lie inside the skipped one
    size_t m_values = 0;
};

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

// One attribute of a vertex, such as its position: bytes of a component, and number of components.
struct Attribute {
    uint32_t bytes, count;
};

// Records that lie in one array: their number, and what each of them consists of.
struct Records {
    uint64_t count = 0;
    std::map<uint32_t, Attribute> attributes; // by offset inside the record
};

FilterSection sectionOf(const Records& records, uint32_t stride)
{
    FilterSection section;
    uint32_t at = 0;
    for (const auto& [place, attribute] : records.attributes) {
        const uint32_t size = attribute.bytes * attribute.count;
        if (place < at || size > stride - place) continue; // overlaps another attribute
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
    std::map<std::pair<uint64_t, uint32_t>, Records> all; // by first byte and stride
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
        // An accessor whose offset is below the stride describes an attribute of interleaved
        // records. A larger offset means a separate array of its own in the same view.
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
        part.choices.predictors = kSecondDifferences;
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
    DocumentReader reader;
    if (!json::sax_parse(bytes + 20, bytes + 20 + length, &reader) || !reader.document.is_object())
        return {};
    return partsOf(reader.document, binary, binarySize, size);
}

} // namespace sluice
