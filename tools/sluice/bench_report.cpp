// SPDX-License-Identifier: MIT OR Apache-2.0
#include "bench_report.h"

#include <algorithm>
#include <cstdio>

namespace sluice {
namespace {

std::string formatted(const char* format, double value)
{
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

std::string quoted(const std::string& text)
{
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
            out += escape;
        } else {
            out += c;
        }
    }
    return out + '"';
}

const char* backendName(SluiceBackend backend)
{
    return backend == SLUICE_BACKEND_VULKAN ? "vulkan" : backend == SLUICE_BACKEND_CUDA ? "cuda" : "cpu";
}

constexpr const char* kColumns = "%-18s %-9s %-38s %10s %7s %9s %8s %8s\n";

} // namespace

std::string byteText(uint64_t bytes)
{
    const double value = static_cast<double>(bytes);
    if (value >= 1e9) return formatted("%.2f GB", value / 1e9);
    if (value >= 1e6) return formatted("%.1f MB", value / 1e6);
    return formatted("%.1f kB", value / 1e3);
}

double BenchReport::rate(const BenchRow& row) const
{
    return row.timing.median > 0 ? static_cast<double>(row.bytes) / (row.timing.median * 1e-3) : 0;
}

double BenchReport::peerRatio(const BenchRow& row) const
{
    double best = 0;
    for (const BenchRow& other : rows_) {
        if (other.isPeer && other.present && other.kernel == row.kernel && other.size == row.size) {
            best = std::max(best, rate(other));
        }
    }
    return best > 0 ? rate(row) / best : 0;
}

void BenchReport::printHeader(const BenchDevice& device, const TileSet* tiles) const
{
    const SluiceDeviceProperties& properties = device.properties();
    std::fprintf(out_, "%s (%s:%u, tier %s%s%s)\n", properties.name, backendName(properties.backend), properties.index,
                device.tier(), properties.driver[0] != 0 ? ", " : "", properties.driver);
    if (tiles != nullptr) {
        std::fprintf(out_, "tiles: %s: %zu tiles, %s -> %s, ratio %.4f\n", tiles->description.c_str(),
                     tiles->tiles.size(), byteText(tiles->outputBytes).c_str(), byteText(tiles->compressedBytes).c_str(),
                     static_cast<double>(tiles->compressedBytes) / static_cast<double>(tiles->outputBytes));
    }
    std::fprintf(out_, "GB/s: 1e9 useful bytes a second (copy: read + written; gdeflate: written); %s timestamps,\n"
                "median of the runs, spread = (slowest - fastest) / median\n\n",
                properties.backend == SLUICE_BACKEND_CPU ? "host" : "device");
    std::fprintf(out_, kColumns, "kernel", "size", "who", "ms", "spread", "GB/s", "of copy", "of peer");
}

void BenchReport::print(const BenchRow& row) const
{
    if (!row.present) {
        std::fprintf(out_, "%-18s %-9s %-38s not present%s%s\n", row.kernel.c_str(), row.size.c_str(), row.who.c_str(),
                    row.note.empty() ? "" : ": ", row.note.c_str());
        std::fflush(out_);
        return;
    }
    const Timing& timing = row.timing;
    const double spread = timing.median > 0 ? (timing.slowest - timing.fastest) / timing.median * 100 : 0;
    const double ofPeer = row.isPeer ? 0 : peerRatio(row);
    std::fprintf(out_, kColumns, row.kernel.c_str(), row.size.c_str(), row.who.c_str(),
                formatted("%.4f", timing.median).c_str(), formatted("%.1f%%", spread).c_str(),
                formatted(rate(row) < 1e10 ? "%.3f" : "%.1f", rate(row) / 1e9).c_str(),
                copyRate_ > 0 ? formatted("%.3f", rate(row) / copyRate_).c_str() : "-",
                ofPeer > 0 ? formatted("%.3f", ofPeer).c_str() : "-");
    std::fflush(out_);
}

void BenchReport::addCopy(const BenchRow& row)
{
    rows_.push_back(row);
    copyRate_ = std::max(copyRate_, rate(row));
    print(row);
}

void BenchReport::addGroup(const std::vector<BenchRow>& rows)
{
    rows_.insert(rows_.end(), rows.begin(), rows.end());
    for (const BenchRow& row : rows) print(row);
}

void BenchReport::addMissing(const std::string& kernel, const std::string& who, const std::string& why)
{
    BenchRow row;
    row.kernel = kernel;
    row.who = who;
    row.present = false;
    row.isPeer = true;
    row.note = why;
    addGroup({row});
}

std::string BenchReport::json(const BenchDevice& device, const std::string& input) const
{
    const SluiceDeviceProperties& properties = device.properties();
    std::string out = "{\n";
    out += "  \"device\": " + quoted(properties.name) + ",\n";
    out += "  \"backend\": " + quoted(backendName(properties.backend)) + ",\n";
    out += "  \"driver\": " + quoted(properties.driver) + ",\n";
    out += "  \"tier\": " + quoted(device.tier()) + ",\n";
    out += "  \"input\": " + quoted(input) + ",\n";
    out += "  \"copy_gb_per_s\": " + formatted("%.3f", copyRate_ / 1e9) + ",\n";
    out += "  \"rows\": [";
    for (size_t i = 0; i < rows_.size(); ++i) {
        const BenchRow& row = rows_[i];
        out += i == 0 ? "\n" : ",\n";
        out += "    {\"kernel\": " + quoted(row.kernel) + ", \"size\": " + quoted(row.size) + ", \"who\": " +
               quoted(row.who) + ", \"peer\": " + (row.isPeer ? "true" : "false");
        if (row.present) {
            out += ", \"present\": true, \"bytes\": " + std::to_string(row.bytes) + ", \"runs\": " +
                   std::to_string(row.timing.runs) + ", \"median_ms\": " + formatted("%.6f", row.timing.median) +
                   ", \"fastest_ms\": " + formatted("%.6f", row.timing.fastest) + ", \"slowest_ms\": " +
                   formatted("%.6f", row.timing.slowest) + ", \"gb_per_s\": " + formatted("%.3f", rate(row) / 1e9);
            if (copyRate_ > 0) out += ", \"of_copy\": " + formatted("%.4f", rate(row) / copyRate_);
            const double ofPeer = row.isPeer ? 0 : peerRatio(row);
            if (ofPeer > 0) out += ", \"of_peer\": " + formatted("%.4f", ofPeer);
        } else {
            out += ", \"present\": false, \"why\": " + quoted(row.note);
        }
        out += "}";
    }
    return out + "\n  ]\n}\n";
}

} // namespace sluice
