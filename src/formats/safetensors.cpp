// SPDX-License-Identifier: MIT OR Apache-2.0
#include "formats/safetensors.h"

#include <algorithm>
#include <numeric>

#include <nlohmann/json.hpp>

#include "formats/little_endian.h"
#include "formats/errors.h"

namespace sluice {
namespace {

using Json = nlohmann::json;

struct Dtype {
    const char* name;
    uint32_t bits;
};

constexpr Dtype kDtypes[] = {
    {"BOOL", 8},    {"U8", 8},   {"I8", 8},    {"F8_E4M3", 8}, {"F8_E5M2", 8},
    {"F8_E8M0", 8}, {"F4", 4},   {"U16", 16},  {"F6_E2M3", 6}, {"F6_E3M2", 6},
    {"I16", 16},    {"F16", 16}, {"BF16", 16}, {"U32", 32},    {"I32", 32},
    {"F32", 32},    {"U64", 64}, {"I64", 64},  {"F64", 64},    {"C64", 64},
};

// The most bytes of JSON. The library of the format's authors has the same limit.
constexpr uint64_t kMaxHeader = 100'000'000;
constexpr const char* kHeaderTooLarge = "the header is larger than 100,000,000 bytes";
constexpr size_t kMaxRank = 64;
constexpr size_t kMaxDtype = 64;  // the most bytes of a dtype's name
constexpr size_t kMaxShown = 200; // most bytes of a name that an error repeats

std::string shown(const std::string& name)
{
    std::string text = name.substr(0, kMaxShown);
    const auto isControl = [](char c) { return uint8_t(c) < 0x20 || c == 0x7f; };
    // A terminal would act on control characters.
    std::replace_if(text.begin(), text.end(), isControl, '?');
    return "'" + text + (name.size() > kMaxShown ? "..." : "") + "'";
}

std::string about(const SafetensorsTensor& tensor) { return "tensor " + shown(tensor.name); }

// Receives the events of the JSON parser. A header has a fixed structure, so `m_place`, the
// position in that structure, is the state. An event that is not allowed at that position ends the
// parse with an error. So deeply nested JSON does no harm.
class HeaderReader final : public nlohmann::json_sax<Json> {
public:
    HeaderReader(SafetensorsHeader& header, std::string& error) : m_header(header), m_error(error)
    {
    }

    bool start_object(size_t) override
    {
        switch (m_place) {
        case Place::start: m_place = Place::names; return true;
        case Place::entry: return startEntry();
        default: return unexpected("an object");
        }
    }

    bool end_object() override
    {
        if (m_place == Place::fields && (!m_hasDtype || !m_hasShape || m_offsets != 2))
            return failTensor(!m_hasDtype   ? "lacks dtype"
                              : !m_hasShape ? "lacks shape"
                                            : "lacks data_offsets");
        m_place = m_place == Place::names ? Place::end : Place::names;
        return true;
    }

    bool key(std::string& text) override
    {
        if (m_place == Place::names) {
            m_name.swap(text);
            m_place = Place::entry;
            return true;
        }
        if (m_place != Place::metadata) return startField(text);
        m_header.metadata.emplace_back(std::move(text), "");
        m_place = Place::metadataValue;
        return true;
    }

    bool string(std::string& text) override
    {
        if (m_place == Place::metadataValue) {
            m_header.metadata.back().second.swap(text);
            m_place = Place::metadata;
            return true;
        }
        if (m_place != Place::dtype) return unexpected("a string");
        if (text.empty() || text.size() > kMaxDtype)
            return failTensor("has a dtype of " + std::to_string(text.size()) +
                              " bytes; 1 to 64 are allowed");
        tensor().dtype.swap(text);
        m_place = Place::fields;
        return true;
    }

    bool start_array(size_t) override
    {
        if (m_inArray || (m_place != Place::shape && m_place != Place::offsets))
            return unexpected("an array");
        m_inArray = true;
        return true;
    }

    bool end_array() override
    {
        if (m_place == Place::offsets && m_offsets != 2) return failOffsets();
        m_inArray = false;
        m_place = Place::fields;
        return true;
    }

    bool number_unsigned(uint64_t value) override
    {
        if (!m_inArray) return unexpected("a number");
        if (m_place == Place::shape) {
            tensor().shape.push_back(value);
            return tensor().shape.size() <= kMaxRank || failTensor("has more than 64 dimensions");
        }
        if (m_offsets == 2) return failOffsets();
        (m_offsets++ == 0 ? tensor().begin : tensor().end) = value;
        return true;
    }

    bool number_integer(int64_t) override { return unexpected("a negative number"); }
    bool number_float(double, const std::string&) override
    {
        return unexpected("a fraction or a number past 2^64");
    }
    bool boolean(bool) override { return unexpected("a boolean"); }
    bool null() override { return unexpected("a null"); }
    bool binary(Json::binary_t&) override { return unexpected("a binary value"); }

    bool parse_error(size_t position, const std::string&, const Json::exception&) override
    {
        return fail("the header is no JSON, at byte " + std::to_string(position));
    }

private:
    enum class Place {
        start,
        names,
        entry,
        metadata,
        metadataValue,
        fields,
        dtype,
        shape,
        offsets,
        end
    };

    SafetensorsTensor& tensor() { return m_header.tensors.back(); }

    bool startEntry()
    {
        if (m_name == "__metadata__") {
            if (m_header.hasMetadata) return fail("__metadata__ stands twice in the header");
            m_header.hasMetadata = true;
            m_place = Place::metadata;
            return true;
        }
        m_header.tensors.emplace_back();
        tensor().name.swap(m_name);
        m_hasDtype = m_hasShape = m_inArray = false;
        m_offsets = 0;
        m_place = Place::fields;
        return true;
    }

    bool startField(const std::string& field)
    {
        bool twice = false;
        if (field == "dtype") {
            m_place = Place::dtype;
            twice = std::exchange(m_hasDtype, true);
        } else if (field == "shape") {
            m_place = Place::shape;
            twice = std::exchange(m_hasShape, true);
        } else if (field == "data_offsets") {
            m_place = Place::offsets;
            twice = m_offsets != 0;
        } else {
            return failTensor("has the unknown field " + shown(field));
        }
        return !twice || failTensor("has " + field + " twice");
    }

    bool unexpected(const char* what)
    {
        const bool inTensor = m_place >= Place::fields && m_place <= Place::offsets;
        const std::string where = m_place == Place::start   ? "at the start of the header"
                                  : inTensor                ? "in " + about(tensor())
                                  : m_place == Place::entry ? "as the value of " + shown(m_name)
                                                            : "in __metadata__";
        return fail(std::string(what) + " stands " + where);
    }

    bool failOffsets() { return failTensor("does not have two data_offsets"); }
    bool failTensor(const std::string& text) { return fail(about(tensor()) + " " + text); }
    bool fail(const std::string& text)
    {
        m_error = text;
        return false;
    }

    SafetensorsHeader& m_header;
    std::string& m_error;
    Place m_place = Place::start;
    std::string m_name;
    bool m_hasDtype = false, m_hasShape = false, m_inArray = false;
    uint32_t m_offsets = 0;
};

// Returns the numbers 0 .. count - 1, sorted by less(a, b).
template <typename Less>
std::vector<size_t> sortedIndices(size_t count, Less less)
{
    std::vector<size_t> order(count);
    std::iota(order.begin(), order.end(), size_t(0));
    std::sort(order.begin(), order.end(), less);
    return order;
}

// Computes how many bytes a tensor has. Returns false if that is not a whole number, or too large.
// For an unknown dtype, the offsets give the size, whatever the shape is.
bool tensorBytes(const SafetensorsTensor& tensor, uint64_t& bytes)
{
    uint64_t elements = 0;
    const uint32_t bits = safetensorsBits(tensor.dtype);
    bytes = tensor.size();
    if (bits == 0) return true;
    if (!safetensorsElements(tensor.shape, elements) || elements > UINT64_MAX / bits ||
        elements * bits % 8 != 0)
        return false;
    bytes = elements * bits / 8;
    return true;
}

SluiceStatus checkNames(const std::vector<SafetensorsTensor>& tensors, std::string& error)
{
    const std::vector<size_t> order = sortedIndices(
        tensors.size(), [&](size_t a, size_t b) { return tensors[a].name < tensors[b].name; });
    for (size_t i = 1; i < order.size(); ++i)
        if (tensors[order[i - 1]].name == tensors[order[i]].name)
            return fail(SLUICE_ERROR_FORMAT,
                        about(tensors[order[i]]) + " stands twice in the header", error);
    return SLUICE_OK;
}

SluiceStatus checkPlaces(const std::vector<SafetensorsTensor>& tensors, uint64_t dataSize,
                         std::string& error)
{
    for (const SafetensorsTensor& tensor : tensors) {
        uint64_t bytes = 0;
        const char* wrong =
            tensor.begin > tensor.end     ? " has data_offsets that run backwards"
            : !tensorBytes(tensor, bytes) ? " has a shape whose size overflows or is no whole byte"
            : bytes != tensor.size()      ? " has a shape that its data_offsets contradict"
                                          : nullptr;
        if (wrong != nullptr) return fail(SLUICE_ERROR_FORMAT, about(tensor) + wrong, error);
        if (tensor.end > dataSize)
            return fail(SLUICE_ERROR_BUFFER_SIZE,
                        about(tensor) + " reaches past the end of the file", error);
    }
    const std::vector<size_t> order = sortedIndices(tensors.size(), [&](size_t a, size_t b) {
        return std::pair(tensors[a].begin, tensors[a].end) <
               std::pair(tensors[b].begin, tensors[b].end);
    });
    uint64_t end = 0;
    for (const size_t i : order) {
        if (tensors[i].begin != end)
            return fail(SLUICE_ERROR_FORMAT,
                        about(tensors[i]) + (tensors[i].begin < end
                                                 ? " overlaps another one"
                                                 : " has unused bytes before it"),
                        error);
        end = tensors[i].end;
    }
    return end == dataSize
               ? SLUICE_OK
               : fail(SLUICE_ERROR_FORMAT, "there are bytes after the last tensor", error);
}

std::string jsonString(const std::string& text) { return Json(text).dump(); }

void appendNumbers(std::string& json, const std::vector<uint64_t>& numbers)
{
    json += '[';
    for (size_t i = 0; i < numbers.size(); ++i)
        json += (i == 0 ? "" : ",") + std::to_string(numbers[i]);
    json += ']';
}

std::string headerJson(const SafetensorsHeader& header)
{
    std::string json = "{";
    const char* separator = "";
    if (header.hasMetadata) {
        json += "\"__metadata__\":{";
        for (const auto& [key, value] : header.metadata) {
            json += separator + jsonString(key) + ':' + jsonString(value);
            separator = ",";
        }
        json += '}';
        separator = ",";
    }
    for (const SafetensorsTensor& tensor : header.tensors) {
        json += separator + jsonString(tensor.name) + ":{\"dtype\":" + jsonString(tensor.dtype) +
                ",\"shape\":";
        appendNumbers(json, tensor.shape);
        json += ",\"data_offsets\":";
        appendNumbers(json, {tensor.begin, tensor.end});
        json += '}';
        separator = ",";
    }
    json += '}';
    json.append((8 - json.size() % 8) % 8, ' ');
    return json;
}

} // namespace

uint32_t safetensorsBits(std::string_view dtype)
{
    for (const Dtype& known : kDtypes)
        if (dtype == known.name) return known.bits;
    return 0;
}

bool safetensorsElements(const std::vector<uint64_t>& shape, uint64_t& elements)
{
    elements = 1;
    for (const uint64_t extent : shape) {
        if (extent != 0 && elements > UINT64_MAX / extent) return false;
        elements *= extent;
    }
    return true;
}

SluiceStatus readSafetensorsSize(const uint8_t bytes[8], uint64_t fileSize, uint64_t& headerSize,
                                 std::string& error)
{
    headerSize = fileSize < 8 ? 0 : loadLe64(bytes);
    if (headerSize > kMaxHeader) return fail(SLUICE_ERROR_FORMAT, kHeaderTooLarge, error);
    if (fileSize < 8 || headerSize > fileSize - 8)
        return fail(SLUICE_ERROR_BUFFER_SIZE, "the file is cut off", error);
    return SLUICE_OK;
}

SluiceStatus parseSafetensors(std::string_view json, uint64_t dataSize, SafetensorsHeader& header,
                              std::string& error)
{
    return withoutExceptions([&] {
        header = {};
        error.clear();
        if (json.size() > kMaxHeader) return fail(SLUICE_ERROR_FORMAT, kHeaderTooLarge, error);
        if (json.empty() || json[0] != '{')
            return fail(SLUICE_ERROR_FORMAT, "the header does not start with '{'", error);
        // The JSON parser takes a byte of 0 for the end of the text.
        const size_t zero = json.find('\0');
        if (zero != std::string_view::npos)
            return fail(SLUICE_ERROR_FORMAT,
                        "the header has a byte of 0 at byte " + std::to_string(zero) +
                            ", which JSON does not allow",
                        error);
        HeaderReader reader(header, error);
        if (!Json::sax_parse(json.begin(), json.end(), &reader)) return SLUICE_ERROR_FORMAT;
        const SluiceStatus status = checkNames(header.tensors, error);
        return status != SLUICE_OK ? status : checkPlaces(header.tensors, dataSize, error);
    });
}

SluiceStatus makeSafetensors(SafetensorsHeader& header, std::string& start, std::string& error)
{
    return withoutExceptions([&] {
        if (checkNames(header.tensors, error) != SLUICE_OK) return SLUICE_ERROR_ARGUMENT;
        uint64_t end = 0;
        for (SafetensorsTensor& tensor : header.tensors) {
            uint64_t bytes = 0;
            if (tensor.dtype.empty() || tensor.end < tensor.begin || !tensorBytes(tensor, bytes) ||
                bytes > UINT64_MAX - end)
                return fail(SLUICE_ERROR_ARGUMENT,
                            about(tensor) + " has no dtype or size that a file can hold", error);
            tensor.begin = end;
            tensor.end = end += bytes;
        }
        std::string json;
        try {
            json = headerJson(header);
        } catch (const Json::exception&) {
            return fail(SLUICE_ERROR_ARGUMENT, "a name is not UTF-8", error);
        }
        if (json.size() > kMaxHeader) return fail(SLUICE_ERROR_FORMAT, kHeaderTooLarge, error);
        start.assign(8, 0);
        storeLe64(start.data(), json.size());
        start += json;
        return SLUICE_OK;
    });
}

} // namespace sluice
