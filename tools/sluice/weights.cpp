// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_df11.h>

#include "weights.h"

#include <algorithm>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "formats/archive_layout.h"
#include "tool.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

// What is wrong with a unit, with the names that its tensors have.
std::string reasonFor(const WeightUnit& unit, std::string reason)
{
    const auto rename = [&](const std::string& from, const std::string& to) {
        for (size_t at = reason.find(from); at != std::string::npos;
             at = reason.find(from, at + to.size())) {
            reason.replace(at, from.size(), to);
        }
    };
    if (unit.hasEcf8Names) {
        rename(encodedName, ecf8EncodedName);
        rename(signMantissaName, ecf8SignMantissaName);
    }
    return reason;
}

} // namespace

bool endsWith(const std::string& text, const std::string& end)
{
    return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

Json readJsonBeside(const std::filesystem::path& path)
{
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) {
        return nullptr;
    }
    const InputFile file(path.string());
    if (file.size() > maxJsonBytes) {
        throw Failure{exitFormat, path.string() + ": is larger than 1 MiB"};
    }
    std::string text(size_t(file.size()), '\0');
    file.read(0, text.data(), text.size());
    Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) {
        throw Failure{exitFormat, path.string() + ": is no JSON"};
    }
    return json;
}

std::string WeightUnit::place() const { return "module '" + printable(module) + "'"; }

uint64_t WeightUnit::storedSize() const
{
    return luts->size() + encoded->size() + signMantissa->size() + positions->size() + gaps->size();
}

bool WeightFile::recognises(const InputFile& file)
{
    uint8_t start[9] = {};
    if (file.size() < sizeof(start)) {
        return false;
    }
    file.read(0, start, sizeof(start));
    return loadLe32(start + 4) == 0 && start[8] == '{';
}

WeightFile::WeightFile(std::unique_ptr<InputFile> file) : file_(std::move(file))
{
    readHeader();
    findUnits();
}

void WeightFile::fail(const std::string& text) const
{
    throw Failure{exitFormat, file_->name() + ": " + text};
}

void WeightFile::readHeader()
{
    uint8_t start[8] = {};
    file_->read(0, start, size_t(std::min<uint64_t>(file_->size(), 8)));
    uint64_t size = 0;
    std::string error;
    SluiceStatus status = readSafetensorsSize(start, file_->size(), size, error);
    if (status == SLUICE_OK) {
        std::string json(size_t(size), '\0');
        file_->read(8, json.data(), json.size());
        dataOffset_ = 8 + size;
        status = parseSafetensors(json, file_->size() - dataOffset_, header_, error);
    }
    if (status != SLUICE_OK) {
        throw Failure{exitCodeOf(status),
                      file_->name() + ": " + (error.empty() ? sluiceGetStatusText(status) : error)};
    }
}

// A module that has luts and encoded_exponent (by ECF8's names: encoded) is a unit, and must have
// the other tensors too.
void WeightFile::findUnits()
{
    std::map<std::string, size_t> byName;
    for (size_t i = 0; i < header_.tensors.size(); ++i) {
        byName.emplace(header_.tensors[i].name, i);
    }
    unitOf_.assign(header_.tensors.size(), -1);
    for (const SafetensorsTensor& tensor : header_.tensors) {
        WeightUnit unit = {};
        unit.hasEcf8Names = endsWith(tensor.name, std::string(".") + ecf8EncodedName);
        if (!unit.hasEcf8Names && !endsWith(tensor.name, std::string(".") + encodedName)) {
            continue;
        }
        unit.module = tensor.name.substr(0, tensor.name.rfind('.'));
        if (byName.count(unit.module + "." + lutsName) == 0) {
            continue;
        }
        if (unit.hasEcf8Names && byName.count(unit.module + "." + encodedName) != 0) {
            fail(unit.place() + " has both " + encodedName + " and " + ecf8EncodedName);
        }
        const auto find = [&](const std::string& name) -> const SafetensorsTensor* {
            const auto found = byName.find(unit.module + "." + name);
            if (found == byName.end()) {
                return nullptr;
            }
            unitOf_[found->second] = int64_t(units_.size());
            return &header_.tensors[found->second];
        };
        const auto need = [&](const std::string& name) {
            const SafetensorsTensor* part = find(name);
            if (part == nullptr) {
                fail(unit.place() + " lacks " + name + ", though it has " + lutsName + " and " +
                     (unit.hasEcf8Names ? ecf8EncodedName : encodedName) +
                     ", as units of DFloat11 and ECF8 have");
            }
            return part;
        };
        unit.encoded = need(unit.hasEcf8Names ? ecf8EncodedName : encodedName);
        unit.luts = need(lutsName);
        unit.signMantissa = need(unit.hasEcf8Names ? ecf8SignMantissaName : signMantissaName);
        unit.positions = need(positionsName);
        unit.gaps = need(gapsName);
        checkUnit(unit, find(splitsName));
        units_.push_back(std::move(unit));
    }
}

void WeightFile::checkEcf8Types(const WeightUnit& unit) const
{
    for (const SafetensorsTensor* part : {unit.luts, unit.encoded, unit.signMantissa, unit.gaps}) {
        if (part->dtype != "U8") {
            fail("tensor '" + printable(part->name) + "' is not of U8");
        }
    }
    const std::string& positions = unit.positions->dtype;
    if (positions != "U8" && positions != "I64" && positions != "U64") {
        fail("tensor '" + printable(unit.positions->name) + "' is not of U8, I64 or U64");
    }
}

void WeightFile::checkUnit(WeightUnit& unit, const SafetensorsTensor* splits) const
{
    if (unit.hasEcf8Names) {
        checkEcf8Types(unit);
    }
    // What is larger than it may be is refused by its size, without a look at its bytes.
    const uint64_t maxPositions =
        (uint64_t(SLUICE_DF11_MAX_SIZE) / SLUICE_DF11_BLOCK_BYTES + 2) * 8;
    const auto small = [&](const SafetensorsTensor& tensor, uint64_t most) {
        return tensor.size() <= most ? readAll(tensor) : std::vector<uint8_t>();
    };
    const std::vector<uint8_t> luts = small(*unit.luts, SLUICE_DF11_MAX_ROWS * 256);
    const std::vector<uint8_t> positions = small(*unit.positions, maxPositions);
    SluiceDf11Tables tables = {};
    tables.luts = luts.data();
    tables.lutsSize = luts.size();
    tables.outputPositions = positions.data();
    tables.outputPositionsSize = positions.size();
    tables.gapsSize = unit.gaps->size();
    tables.encodedSize = unit.encoded->size();
    tables.signMantissaSize = unit.signMantissa->size();
    const char* reason = nullptr;
    if (sluiceCheckDf11Unit(&tables, &unit.description, &reason) != SLUICE_OK) {
        fail(unit.place() + ": " +
             reasonFor(unit, reason != nullptr ? reason : "unreadable tables"));
    }
    if (unit.hasEcf8Names && unit.description.kind != SLUICE_DF11_FP8_E4M3) {
        fail(unit.place() + " has the names of ECF8 and the sizes of DFloat11");
    }
    unit.splits.push_back(0);
    if (splits != nullptr) {
        if (splits->dtype != "I64" || splits->size() > maxUnitTensors * 8) {
            fail(unit.place() + ": split_positions is not a list of I64");
        }
        const std::vector<uint8_t> bytes = readAll(*splits);
        for (size_t i = 0; i < bytes.size(); i += 8) {
            unit.splits.push_back(loadLe64(bytes.data() + i));
        }
    }
    unit.splits.push_back(unit.description.elementCount);
    if (!std::is_sorted(unit.splits.begin(), unit.splits.end())) {
        fail(unit.place() + ": split_positions runs backwards or past the last element");
    }
}

void WeightFile::read(const SafetensorsTensor& tensor, uint64_t offset, void* bytes,
                      size_t size) const
{
    file_->read(dataOffset_ + tensor.begin + offset, bytes, size);
}

std::vector<uint8_t> WeightFile::readAll(const SafetensorsTensor& tensor) const
{
    std::vector<uint8_t> bytes(size_t(tensor.size()));
    read(tensor, 0, bytes.data(), bytes.size());
    return bytes;
}

} // namespace sluice
