// SPDX-License-Identifier: MIT OR Apache-2.0
#include "safetensors.h"

#include <algorithm>
#include <new>
#include <numeric>

#include <nlohmann/json.hpp>

#include "archive_layout.h"

namespace sluice {
namespace {

using Json = nlohmann::json;

struct Dtype {
    const char* name;
    uint32_t bits;
};

constexpr Dtype dtypes[] = {
    {"BOOL", 8},    {"U8", 8},   {"I8", 8},    {"F8_E4M3", 8}, {"F8_E5M2", 8},
    {"F8_E8M0", 8}, {"F4", 4},   {"U16", 16},  {"F6_E2M3", 6}, {"F6_E3M2", 6},
    {"I16", 16},    {"F16", 16}, {"BF16", 16}, {"U32", 32},    {"I32", 32},
    {"F32", 32},    {"U64", 64}, {"I64", 64},  {"F64", 64},    {"C64", 64},
};

constexpr size_t maxRank = 64;
constexpr size_t maxShown = 200; // bytes of a name from the file that an error repeats

std::string shown(const std::string& name)
{
    std::string text = name.substr(0, maxShown);
    const auto isControl = [](char c) { return uint8_t(c) < 0x20 || c == 0x7f; };
    std::replace_if(text.begin(), text.end(), isControl, '?'); // a terminal would obey them
    return "'" + text + (name.size() > maxShown ? "..." : "") + "'";
}

// Takes the parser's events. What stands where is fixed, so the state is where in that shape we
// are; anything else ends the parse with an error, however deep it would go.
class HeaderReader final : public nlohmann::json_sax<Json> {
public:
    HeaderReader(SafetensorsHeader& result, std::string& text) : header(result), error(text) {}

    bool start_object(size_t) override
    {
        switch (place) {
        case Place::start: place = Place::names; return true;
        case Place::entry: return startEntry();
        default: return unexpected("an object");
        }
    }

    bool end_object() override
    {
        if (place == Place::names) {
            place = Place::end;
            return true;
        }
        if (place == Place::fields && (!hasDtype || !hasShape || offsets != 2)) {
            return fail("tensor " + shown(tensor().name) + " lacks " +
                        (!hasDtype   ? "dtype"
                         : !hasShape ? "shape"
                                     : "data_offsets"));
        }
        place = Place::names;
        return true;
    }

    bool key(std::string& text) override
    {
        if (place == Place::names) {
            name.swap(text);
            place = Place::entry;
        } else if (place == Place::metadata) {
            header.metadata.emplace_back(std::move(text), "");
            place = Place::metadataValue;
        } else {
            return startField(text);
        }
        return true;
    }

    bool string(std::string& text) override
    {
        if (place == Place::metadataValue) {
            header.metadata.back().second.swap(text);
            place = Place::metadata;
            return true;
        }
        if (place != Place::dtype) {
            return unexpected("a string");
        }
        if (safetensorsBits(text) == 0) {
            return fail("tensor " + shown(tensor().name) + " has the unknown dtype " + shown(text));
        }
        tensor().dtype.swap(text);
        place = Place::fields;
        return true;
    }

    bool start_array(size_t) override
    {
        if (inArray || (place != Place::shape && place != Place::offsets)) {
            return unexpected("an array");
        }
        inArray = true;
        return true;
    }

    bool end_array() override
    {
        if (place == Place::offsets && offsets != 2) {
            return fail("tensor " + shown(tensor().name) + " does not have two data_offsets");
        }
        inArray = false;
        place = Place::fields;
        return true;
    }

    bool number_unsigned(uint64_t value) override
    {
        if (!inArray) {
            return unexpected("a number");
        }
        if (place == Place::shape) {
            tensor().shape.push_back(value);
            return tensor().shape.size() <= maxRank ||
                   fail("tensor " + shown(tensor().name) + " has more than 64 dimensions");
        }
        if (offsets == 2) {
            return fail("tensor " + shown(tensor().name) + " does not have two data_offsets");
        }
        (offsets++ == 0 ? tensor().begin : tensor().end) = value;
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

    SafetensorsTensor& tensor() { return header.tensors.back(); }

    bool startEntry()
    {
        if (name == "__metadata__") {
            if (header.hasMetadata) {
                return fail("__metadata__ stands twice in the header");
            }
            header.hasMetadata = true;
            place = Place::metadata;
            return true;
        }
        header.tensors.emplace_back();
        tensor().name.swap(name);
        hasDtype = hasShape = inArray = false;
        offsets = 0;
        place = Place::fields;
        return true;
    }

    bool startField(const std::string& field)
    {
        const bool twice = (field == "dtype" && hasDtype) || (field == "shape" && hasShape) ||
                           (field == "data_offsets" && offsets != 0);
        if (field == "dtype") {
            place = Place::dtype;
            hasDtype = true;
        } else if (field == "shape") {
            place = Place::shape;
            hasShape = true;
        } else if (field == "data_offsets") {
            place = Place::offsets;
        } else {
            return fail("tensor " + shown(tensor().name) + " has the unknown field " +
                        shown(field));
        }
        return !twice || fail("tensor " + shown(tensor().name) + " has " + field + " twice");
    }

    bool unexpected(const char* what)
    {
        const bool inTensor = place >= Place::fields && place <= Place::offsets;
        const std::string where = place == Place::start   ? "at the start of the header"
                                  : inTensor              ? "in tensor " + shown(tensor().name)
                                  : place == Place::entry ? "as the value of " + shown(name)
                                                          : "in __metadata__";
        return fail(std::string(what) + " stands " + where);
    }

    bool fail(const std::string& text)
    {
        error = text;
        return false;
    }

    SafetensorsHeader& header;
    std::string& error;
    Place place = Place::start;
    std::string name;
    bool hasDtype = false, hasShape = false, inArray = false;
    uint32_t offsets = 0;
};

// The numbers 0 .. count - 1, ordered by what `less` says of them.
template <typename Less>
std::vector<size_t> sortedIndices(size_t count, Less less)
{
    std::vector<size_t> order(count);
    std::iota(order.begin(), order.end(), size_t(0));
    std::sort(order.begin(), order.end(), less);
    return order;
}

// Bytes of a tensor; false if its elements do not fill whole bytes or are too many.
bool tensorBytes(const SafetensorsTensor& tensor, uint64_t& bytes)
{
    uint64_t elements = 0;
    const uint32_t bits = safetensorsBits(tensor.dtype);
    if (!safetensorsElements(tensor.shape, elements) || elements > UINT64_MAX / bits ||
        elements * bits % 8 != 0) {
        return false;
    }
    bytes = elements * bits / 8;
    return true;
}

SluiceStatus checkNames(const std::vector<SafetensorsTensor>& tensors, std::string& error)
{
    const std::vector<size_t> order = sortedIndices(
        tensors.size(), [&](size_t a, size_t b) { return tensors[a].name < tensors[b].name; });
    for (size_t i = 1; i < order.size(); ++i) {
        if (tensors[order[i - 1]].name == tensors[order[i]].name) {
            error = "tensor " + shown(tensors[order[i]].name) + " stands twice in the header";
            return SLUICE_ERROR_FORMAT;
        }
    }
    return SLUICE_OK;
}

SluiceStatus checkPlaces(const std::vector<SafetensorsTensor>& tensors, uint64_t dataSize,
                         std::string& error)
{
    for (const SafetensorsTensor& tensor : tensors) {
        uint64_t bytes = 0;
        const char* wrong =
            tensor.begin > tensor.end     ? "has data_offsets that run backwards"
            : !tensorBytes(tensor, bytes) ? "has a shape whose size overflows or is no whole byte"
            : bytes != tensor.size()      ? "has a shape that its data_offsets contradict"
                                          : nullptr;
        if (wrong != nullptr) {
            error = "tensor " + shown(tensor.name) + " " + wrong;
            return SLUICE_ERROR_FORMAT;
        }
        if (tensor.end > dataSize) {
            error = "tensor " + shown(tensor.name) + " reaches past the end of the file";
            return SLUICE_ERROR_BUFFER_SIZE;
        }
    }
    const std::vector<size_t> order = sortedIndices(tensors.size(), [&](size_t a, size_t b) {
        return std::pair(tensors[a].begin, tensors[a].end) <
               std::pair(tensors[b].begin, tensors[b].end);
    });
    uint64_t end = 0;
    for (const size_t i : order) {
        if (tensors[i].begin != end) {
            error =
                "tensor " + shown(tensors[i].name) +
                (tensors[i].begin < end ? " overlaps another one" : " has unused bytes before it");
            return SLUICE_ERROR_FORMAT;
        }
        end = tensors[i].end;
    }
    if (end != dataSize) {
        error = "there are bytes after the last tensor";
        return SLUICE_ERROR_FORMAT;
    }
    return SLUICE_OK;
}

std::string jsonString(const std::string& text) { return Json(text).dump(); }

void appendNumbers(std::string& json, const std::vector<uint64_t>& numbers)
{
    json += '[';
    for (size_t i = 0; i < numbers.size(); ++i) {
        json += (i == 0 ? "" : ",") + std::to_string(numbers[i]);
    }
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
    for (const Dtype& known : dtypes) {
        if (dtype == known.name) {
            return known.bits;
        }
    }
    return 0;
}

bool safetensorsElements(const std::vector<uint64_t>& shape, uint64_t& elements)
{
    elements = 1;
    for (const uint64_t extent : shape) {
        if (extent != 0 && elements > UINT64_MAX / extent) {
            return false;
        }
        elements *= extent;
    }
    return true;
}

SluiceStatus readSafetensorsSize(const uint8_t bytes[8], uint64_t fileSize, uint64_t& headerSize,
                                 std::string& error)
{
    if (fileSize < 8) {
        error = "the file is cut off";
        return SLUICE_ERROR_BUFFER_SIZE;
    }
    headerSize = loadLe64(bytes);
    if (headerSize > safetensorsMaxHeader) {
        error = "the header is larger than 100,000,000 bytes";
        return SLUICE_ERROR_FORMAT;
    }
    if (headerSize > fileSize - 8) {
        error = "the file is cut off";
        return SLUICE_ERROR_BUFFER_SIZE;
    }
    return SLUICE_OK;
}

SluiceStatus parseSafetensors(std::string_view json, uint64_t dataSize, SafetensorsHeader& header,
                              std::string& error)
{
    try {
        header = {};
        error.clear();
        HeaderReader reader(header, error);
        if (json.size() > safetensorsMaxHeader || json.empty() || json[0] != '{') {
            error = json.size() > safetensorsMaxHeader
                        ? "the header is larger than 100,000,000 bytes"
                        : "the header does not start with '{'";
            return SLUICE_ERROR_FORMAT;
        }
        if (!Json::sax_parse(json.begin(), json.end(), &reader)) {
            return SLUICE_ERROR_FORMAT;
        }
        const SluiceStatus status = checkNames(header.tensors, error);
        return status != SLUICE_OK ? status : checkPlaces(header.tensors, dataSize, error);
    } catch (const std::bad_alloc&) {
        return SLUICE_ERROR_OUT_OF_MEMORY;
    }
}

SluiceStatus makeSafetensors(SafetensorsHeader& header, std::string& start, std::string& error)
{
    try {
        if (checkNames(header.tensors, error) != SLUICE_OK) {
            return SLUICE_ERROR_ARGUMENT;
        }
        uint64_t end = 0;
        for (SafetensorsTensor& tensor : header.tensors) {
            uint64_t bytes = 0;
            if (safetensorsBits(tensor.dtype) == 0 || !tensorBytes(tensor, bytes) ||
                bytes > UINT64_MAX - end) {
                error =
                    "tensor " + shown(tensor.name) + " has no dtype or size that a file can hold";
                return SLUICE_ERROR_ARGUMENT;
            }
            tensor.begin = end;
            tensor.end = end += bytes;
        }
        const std::string json = headerJson(header);
        if (json.size() > safetensorsMaxHeader) {
            error = "the header is larger than 100,000,000 bytes";
            return SLUICE_ERROR_FORMAT;
        }
        uint8_t size[8];
        storeLe64(size, json.size());
        start.assign(reinterpret_cast<const char*>(size), 8);
        start += json;
        return SLUICE_OK;
    } catch (const std::bad_alloc&) {
        return SLUICE_ERROR_OUT_OF_MEMORY;
    } catch (const Json::exception&) {
        error = "a name is not UTF-8";
        return SLUICE_ERROR_ARGUMENT;
    }
}

} // namespace sluice
