// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/bench/report.h"

#include <algorithm>

#include "tools/bench/contest.h"

namespace sluice {
namespace {

constexpr size_t kCutColumns = 88; // width of the lines that list omitted rows
constexpr const char* kColumns = "%-24s %-14s %-34s %10s %7s %9s %8s %8s\n";

std::string figureText(const BenchRow& row)
{
    std::string text;
    for (const BenchFigure& figure : row.figures) {
        std::string name = figure.name;
        std::replace(name.begin(), name.end(), '_', ' ');
        text += formatText("%s%s %.*f", text.empty() ? "" : ", ", name.c_str(),
                           figure.value < 10 ? 3 : 1, figure.value);
    }
    return text;
}

} // namespace

double BenchReport::rate(const BenchRow& row)
{
    return row.timing.median > 0 ? double(row.bytes) / (row.timing.median * 1e-3) : 0;
}

double BenchReport::peerRatio(const BenchRow& row) const
{
    double best = 0;
    for (const BenchRow& other : m_rows) {
        if (other.isPeer && other.present && other.kernel == row.kernel && other.size == row.size &&
            other.input == row.input) {
            best = std::max(best, rate(other));
        }
    }
    return best > 0 ? rate(row) / best : 0;
}

void BenchReport::printHeader(const BenchDevice& device)
{
    if (m_out == nullptr) return;
    const SluiceDeviceProperties& properties = device.properties();
    std::fprintf(m_out, "%s (%s:%u, tier %s%s%s)\n", properties.name,
                 backendName(properties.backend), properties.index, device.tier(),
                 properties.driver[0] != 0 ? ", " : "", properties.driver);
    std::fprintf(m_out,
                 "GB/s: 1e9 useful bytes a second (copy: read + written; decoders: written); %s "
                 "timestamps,\n"
                 "median of the runs, spread = (slowest - fastest) / median\n%s\n\n",
                 properties.backend == SLUICE_BACKEND_CPU ? "host" : "device", kCheckedText);
    if (device.isBrief() && device.isGpu())
        std::fprintf(m_out, "for lack of time arrays have at most 2^26 words, batches 400 MB\n\n");
    std::fprintf(m_out, kColumns, "kernel", "size", "who", "ms", "spread", "GB/s", "of copy",
                 "of peer");
}

void BenchReport::print(const BenchRow& row)
{
    if (m_out == nullptr) return;
    m_line.clear();
    if (!row.present) {
        std::fprintf(m_out, "%-24s %-14s %-34s not present%s%s\n", row.kernel.c_str(),
                     row.size.c_str(), row.who.c_str(), row.note.empty() ? "" : ": ",
                     row.note.c_str());
        std::fflush(m_out);
        return;
    }
    if (row.bytes == 0) {
        std::fprintf(m_out, "%-24s %-14s %-34s %s\n", row.kernel.c_str(), row.size.c_str(),
                     row.who.c_str(), figureText(row).c_str());
        std::fflush(m_out);
        return;
    }
    const Timing& timing = row.timing;
    const double spread =
        timing.median > 0 ? (timing.slowest - timing.fastest) / timing.median * 100 : 0;
    const double ofPeer = row.isPeer ? 0 : peerRatio(row);
    std::fprintf(m_out, kColumns, row.kernel.c_str(), row.size.c_str(), row.who.c_str(),
                 formatText("%.4f", timing.median).c_str(), formatText("%.1f%%", spread).c_str(),
                 formatText("%.*f", rate(row) < 1e10 ? 3 : 1, rate(row) / 1e9).c_str(),
                 m_copyRate > 0 ? formatText("%.3f", rate(row) / m_copyRate).c_str() : "-",
                 ofPeer > 0 ? formatText("%.3f", ofPeer).c_str() : "-");
    if (!row.figures.empty()) std::fprintf(m_out, "%-24s   %s\n", "", figureText(row).c_str());
    std::fflush(m_out);
}

void BenchReport::say(const std::string& text)
{
    if (m_out == nullptr) return;
    m_line.clear();
    std::fprintf(m_out, "%s\n", text.c_str());
    std::fflush(m_out);
}

void BenchReport::beginInput(const std::string& name, const std::string& codec, const char* parts,
                             size_t partCount, uint64_t compressedBytes, uint64_t outputBytes)
{
    m_inputs.push_back({name, codec, compressedBytes, outputBytes});
    m_input = m_inputs.size() - 1;
    if (m_out == nullptr) return;
    m_line.clear();
    if (partCount == 0) {
        std::fprintf(m_out, "%s: holds no %s %s\n", name.c_str(), codec.c_str(), parts);
    } else {
        std::fprintf(m_out, "%s: %zu %s %s, %s -> %s, %.2f %%\n", name.c_str(), partCount,
                     codec.c_str(), parts, sizeText(outputBytes).c_str(),
                     sizeText(compressedBytes).c_str(), 100 * m_inputs.back().ratio());
    }
}

bool BenchReport::hasTime(const std::string& name, const std::string& size)
{
    const bool has = m_budget.hasTime(name, size);
    if (has) showStep(name + ", " + size);
    return has;
}

void BenchReport::showStep(const std::string& what)
{
    const double left = m_budget.left();
    m_line.show("measuring " + what + (left > 0 ? formatText(", %.0f s left", left) : ""));
}

void BenchReport::printCuts()
{
    m_line.clear();
    const std::vector<Budget::Cut> cuts = m_budget.cuts();
    if (m_out == nullptr || !m_budget.isLimited() || cuts.empty()) return;
    std::fprintf(m_out, "\ncut short to end within %.0f s, --seconds 0 measures everything:\n",
                 m_budget.seconds());
    for (const Budget::Cut& cut : cuts) {
        std::string line = "  " + cut.name + (cut.all ? ": nothing measured" : ": without");
        for (size_t i = 0; !cut.all && i < cut.sizes.size(); ++i) {
            const std::string word = (i == 0 ? " " : ", ") + cut.sizes[i];
            if (line.size() + word.size() > kCutColumns) {
                line += formatText(" and %zu more", cut.sizes.size() - i);
                break;
            }
            line += word;
        }
        std::fprintf(m_out, "%s\n", line.c_str());
    }
}

void BenchReport::addCopy(const BenchRow& row)
{
    m_rows.push_back(row);
    m_copyRate = std::max(m_copyRate, rate(row));
    print(row);
}

void BenchReport::addGroup(const std::vector<BenchRow>& rows)
{
    const size_t first = m_rows.size();
    m_rows.insert(m_rows.end(), rows.begin(), rows.end());
    for (size_t i = first; i < m_rows.size(); ++i)
        m_rows[i].input = m_input;
    for (size_t i = first; i < m_rows.size(); ++i)
        print(m_rows[i]);
}

void BenchReport::addMissing(const std::string& kernel, const std::string& who,
                             const std::string& why)
{
    addGroup({{kernel, "", who, 0, {}, true, false, why}});
}

BenchFigures BenchReport::figures(const BenchDevice& device) const
{
    const SluiceDeviceProperties& properties = device.properties();
    BenchFigures figures;
    std::string& head = figures.head;
    head += "  \"schemaVersion\": 1,\n";
    head += "  \"device\": " + jsonText(properties.name) + ",\n";
    head += "  \"backend\": " + jsonText(backendName(properties.backend)) + ",\n";
    head += "  \"driver\": " + jsonText(properties.driver) + ",\n";
    head += "  \"tier\": " + jsonText(device.tier()) + ",\n";
    head += "  \"copy_gb_per_s\": " + formatText("%.3f", m_copyRate / 1e9) + ",\n";
    if (device.isBrief() && device.isGpu()) head += "  \"brief\": true,\n";
    if (m_budget.isLimited()) {
        head += formatText("  \"seconds\": %.6g,\n  \"cut\": [", m_budget.seconds());
        const char* separator = "\n    ";
        for (const Budget::Cut& cut : m_budget.cuts()) {
            head += separator + ("{\"kernel\": " + jsonText(cut.name)) +
                    ", \"all\": " + (cut.all ? "true" : "false") + ", \"sizes\": [";
            for (size_t i = 0; i < cut.sizes.size(); ++i)
                head += (i == 0 ? "" : ", ") + jsonText(cut.sizes[i]);
            head += "]}";
            separator = ",\n    ";
        }
        head += "\n  ],\n";
    }
    for (const BenchRow& row : m_rows)
        figures.rows.push_back(json(row));
    return figures;
}

std::string BenchReport::json(const BenchRow& row) const
{
    std::string out = "{\"kernel\": " + jsonText(row.kernel) + ", \"size\": " + jsonText(row.size) +
                      ", \"who\": " + jsonText(row.who) +
                      ", \"peer\": " + (row.isPeer ? "true" : "false");
    if (row.input != 0) {
        const Input& input = m_inputs[row.input];
        out += ", \"input\": " + jsonText(input.name) + ", \"codec\": " + jsonText(input.codec) +
               ", \"size_ratio\": " + formatText("%.5f", input.ratio());
    }
    for (const BenchFigure& figure : row.figures)
        out += ", " + jsonText(figure.name) + ": " + formatText("%.6g", figure.value);
    if (!row.present) return out + ", \"present\": false, \"why\": " + jsonText(row.note) + "}";
    out += ", \"present\": true";
    if (row.bytes == 0) return out + "}";
    out += ", \"bytes\": " + std::to_string(row.bytes) +
           ", \"runs\": " + std::to_string(row.timing.runs) +
           ", \"median_ms\": " + formatText("%.6f", row.timing.median) +
           ", \"fastest_ms\": " + formatText("%.6f", row.timing.fastest) +
           ", \"slowest_ms\": " + formatText("%.6f", row.timing.slowest) +
           ", \"gb_per_s\": " + formatText("%.3f", rate(row) / 1e9);
    if (m_copyRate > 0) out += ", \"of_copy\": " + formatText("%.4f", rate(row) / m_copyRate);
    const double ofPeer = row.isPeer ? 0 : peerRatio(row);
    if (ofPeer > 0) out += ", \"of_peer\": " + formatText("%.4f", ofPeer);
    return out + "}";
}

} // namespace sluice
