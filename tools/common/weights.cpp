// SPDX-License-Identifier: MIT OR Apache-2.0

#include "tools/common/weights.h"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "formats/archive_layout.h"
#include "tools/common/tool.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

// `reason` is an error text of the library, which calls tensors by DFloat11's names. If the unit's
// tensors have ECF8's names, returns the text with these instead.
std::string reasonFor(const WeightUnit& unit, std::string reason)
{
    const std::pair<std::string, std::string> names[] = {
        {kEncodedName, kEcf8EncodedName}, {kSignMantissaName, kEcf8SignMantissaName}};
    for (const auto& [from, to] : names) {
        for (size_t at = 0; unit.hasEcf8Names; at += to.size()) {
            at = reason.find(from, at);
            if (at == std::string::npos) break;
            reason.replace(at, from.size(), to);
        }
    }
    return reason;
}

} // namespace

SluiceStatus readHeader(const InputFile& file, SafetensorsHeader& header, uint64_t& dataOffset,
                        std::string& error)
{
    error.clear();
    uint8_t start[8] = {};
    file.read(0, start, size_t(std::min<uint64_t>(file.size(), sizeof start)));
    uint64_t size = 0;
    SluiceStatus status = readSafetensorsSize(start, file.size(), size, error);
    if (status == SLUICE_OK) {
        std::string json(size_t(size), '\0');
        file.read(sizeof start, json.data(), json.size());
        dataOffset = sizeof start + size;
        status = parseSafetensors(json, file.size() - dataOffset, header, error);
    }
    if (status != SLUICE_OK && error.empty()) error = sluiceGetStatusText(status);
    return status;
}

bool endsWith(const std::string& text, const std::string& end)
{
    return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// Returns whether JSON is nested deeper than `limit` levels. Deep JSON must be refused, because
// printing it takes stack for each level. A text that is no JSON may count as nested too deeply.
static bool isNestedDeeper(const Bytes& text, uint32_t limit)
{
    uint32_t depth = 0;
    bool isString = false;
    for (size_t i = 0; i < text.size(); ++i) {
        const uint8_t c = text[i];
        if (c == '"') isString = !isString;
        if (isString) {
            if (c == '\\') ++i;
        } else if (c == '[' || c == '{') {
            if (++depth > limit) return true;
        } else if ((c == ']' || c == '}') && depth != 0) {
            --depth;
        }
    }
    return false;
}

Json readJsonBeside(const std::string& path)
{
    if (!isFile(path)) return nullptr;
    const InputFile file(path, InputKind::file);
    if (file.size() > kMaxJsonBytes) throw Failure{exitFormat, path + ": is larger than 1 MiB"};
    const Bytes text = file.readAll();
    if (isNestedDeeper(text, kMaxJsonDepth))
        throw Failure{exitFormat, path + formatText(": is nested deeper than %u", kMaxJsonDepth)};
    Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) throw Failure{exitFormat, path + ": is no JSON"};
    return json;
}

std::string WeightUnit::place() const { return "module '" + printable(module) + "'"; }

uint64_t WeightUnit::storedSize() const
{
    return luts->size() + encoded->size() + signMantissa->size() + positions->size() + gaps->size();
}

bool WeightFile::recognises(const InputFile& file)
{
    const Bytes start = file.readStart(9);
    return start.size() == 9 && loadLe32(&start[4]) == 0 && start[8] == '{';
}

WeightFile::WeightFile(const std::string& path) : WeightFile(std::make_unique<InputFile>(path)) {}

WeightFile::WeightFile(std::unique_ptr<InputFile> file) : m_file(std::move(file))
{
    if (!recognises(*m_file))
        throw Failure{exitFormat, m_file->name() + ": is no .safetensors file"};
    std::string error;
    const SluiceStatus status = readHeader(*m_file, m_header, m_dataOffset, error);
    if (status != SLUICE_OK) throw Failure{exitCodeOf(status), m_file->name() + ": " + error};
    findUnits();
}

void WeightFile::fail(const std::string& text) const
{
    throw Failure{exitFormat, m_file->name() + ": " + text};
}

// Finds the units. A module is a unit if it has the tensors luts and encoded_exponent (`encoded` in
// ECF8). Throws if such a module lacks another tensor of a unit.
void WeightFile::findUnits()
{
    std::map<std::string, size_t> byName;
    for (size_t i = 0; i < m_header.tensors.size(); ++i)
        byName.emplace(m_header.tensors[i].name, i);
    m_unitOf.assign(m_header.tensors.size(), -1);
    for (const SafetensorsTensor& tensor : m_header.tensors) {
        WeightUnit unit = {};
        unit.hasEcf8Names = endsWith(tensor.name, std::string(".") + kEcf8EncodedName);
        if (!unit.hasEcf8Names && !endsWith(tensor.name, std::string(".") + kEncodedName)) continue;
        unit.module = tensor.name.substr(0, tensor.name.rfind('.'));
        if (byName.count(unit.module + "." + kLutsName) == 0) continue;
        if (unit.hasEcf8Names && byName.count(unit.module + "." + kEncodedName) != 0)
            fail(unit.place() + " has both " + kEncodedName + " and " + kEcf8EncodedName);
        const auto find = [&](const std::string& name) -> const SafetensorsTensor* {
            const auto found = byName.find(unit.module + "." + name);
            if (found == byName.end()) return nullptr;
            m_unitOf[found->second] = int64_t(m_units.size());
            return &m_header.tensors[found->second];
        };
        const auto need = [&](const std::string& name) {
            const SafetensorsTensor* part = find(name);
            if (part == nullptr)
                fail(unit.place() + " lacks " + name + ", though it has " + kLutsName + " and " +
                     (unit.hasEcf8Names ? kEcf8EncodedName : kEncodedName) +
                     ", as units of DFloat11 and ECF8 have");
            return part;
        };
        unit.encoded = need(unit.hasEcf8Names ? kEcf8EncodedName : kEncodedName);
        unit.luts = need(kLutsName);
        unit.signMantissa = need(unit.hasEcf8Names ? kEcf8SignMantissaName : kSignMantissaName);
        unit.positions = need(kPositionsName);
        unit.gaps = need(kGapsName);
        checkUnit(unit, find(kSplitsName));
        m_units.push_back(std::move(unit));
    }
}

void WeightFile::checkEcf8Types(const WeightUnit& unit) const
{
    for (const SafetensorsTensor* part : {unit.luts, unit.encoded, unit.signMantissa, unit.gaps}) {
        if (part->dtype != "U8") fail("tensor '" + printable(part->name) + "' is not of U8");
    }
    const std::string& positions = unit.positions->dtype;
    if (positions != "U8" && positions != "I64" && positions != "U64")
        fail("tensor '" + printable(unit.positions->name) + "' is not of U8, I64 or U64");
}

void WeightFile::checkUnit(WeightUnit& unit, const SafetensorsTensor* splits) const
{
    if (unit.hasEcf8Names) checkEcf8Types(unit);
    // A table longer than any valid one is not read into memory. It is treated as an empty table,
    // which is refused.
    const uint64_t maxPositions =
        (uint64_t(SLUICE_DF11_MAX_SIZE) / SLUICE_DF11_BLOCK_BYTES + 2) * 8;
    const auto small = [&](const SafetensorsTensor& tensor, uint64_t most) {
        return tensor.size() <= most ? readAll(tensor) : Bytes();
    };
    const Bytes luts = small(*unit.luts, SLUICE_DF11_MAX_ROWS * 256);
    const Bytes positions = small(*unit.positions, maxPositions);
    SluiceDf11Tables tables = {};
    tables.luts = luts.data();
    tables.lutsSize = luts.size();
    tables.outputPositions = positions.data();
    tables.outputPositionsSize = positions.size();
    tables.gapsSize = unit.gaps->size();
    tables.encodedSize = unit.encoded->size();
    tables.signMantissaSize = unit.signMantissa->size();
    const char* reason = nullptr;
    if (sluiceCheckDf11Unit(&tables, &unit.description, &reason) != SLUICE_OK)
        fail(unit.place() + ": " +
             reasonFor(unit, reason != nullptr ? reason : "unreadable tables"));
    if (unit.hasEcf8Names && unit.description.kind != SLUICE_DF11_FP8_E4M3)
        fail(unit.place() + " has the names of ECF8 and the sizes of DFloat11");
    unit.splits.push_back(0);
    if (splits != nullptr) {
        if (splits->dtype != "I64" || splits->size() > kMaxUnitTensors * 8)
            fail(unit.place() + ": split_positions is not a list of I64");
        const Bytes bytes = readAll(*splits);
        for (size_t i = 0; i < bytes.size(); i += 8)
            unit.splits.push_back(loadLe64(bytes.data() + i));
    }
    unit.splits.push_back(unit.description.elementCount);
    if (!std::is_sorted(unit.splits.begin(), unit.splits.end()))
        fail(unit.place() + ": split_positions runs backwards or past the last element");
}

void WeightFile::read(const SafetensorsTensor& tensor, uint64_t offset, void* bytes,
                      size_t size) const
{
    m_file->read(m_dataOffset + tensor.begin + offset, bytes, size);
}

Bytes WeightFile::readAll(const SafetensorsTensor& tensor) const
{
    Bytes bytes(size_t(tensor.size()));
    read(tensor, 0, bytes.data(), bytes.size());
    return bytes;
}

} // namespace sluice
