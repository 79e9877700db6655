// SPDX-License-Identifier: MIT OR Apache-2.0
// Collects the rows of the benchmark, prints them as a table and writes them as JSON.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "tools/bench/bench_device.h"
#include "tools/bench/bench_page.h"
#include "tools/bench/budget.h"
#include "tools/bench/input.h"
#include "tools/common/progress.h"

namespace sluice {

// A figure of a row in addition to its time and rate.
struct BenchFigure {
    std::string name; // "cpu_s_per_gb": in JSON and, with blanks, in the table
    double value;
};

struct BenchRow {
    std::string kernel; // copy, scan, compact, gdeflate ...
    std::string size;   // "2^20", "1.20 GB"
    std::string who;    // sluice, CUB, the driver's extension
    uint64_t bytes;     // useful bytes of one pass; GB/s counts these
    Timing timing;
    bool isPeer = false; // a peer of the rows with the same kernel and size
    bool present = true;
    std::string note = {};                 // why it is not present
    std::vector<BenchFigure> figures = {}; // if bytes is 0, the row consists of these only
    size_t input = 0;                      // number of the beginInput before it; 0: none
};

class BenchReport {
public:
    // Prints the table to `out`; nullptr: nowhere. The time of `budget` runs from now on.
    BenchReport(std::FILE* out, const Budget& budget)
        : m_out(out), m_line(out == nullptr), m_budget(budget)
    {
    }

    Budget& budget() { return m_budget; }
    // Does the same as Budget::hasTime, and shows the current measurement. `name` is "scan", or
    // "scan kinds: VARIANT".
    bool hasTime(const std::string& name, const std::string& size);
    // Shows current work that does not give a row.
    void showStep(const std::string& what);
    // Reports the rows that were left out for lack of time.
    void printCuts();

    // Sets the rate of the plain copy, which counts bytes read and bytes written. Of several copies
    // the fastest counts.
    void addCopy(const BenchRow& row);
    // Adds the rows of one measurement, ours and the peers'. Our rows are printed with their ratio
    // to the fastest peer.
    void addGroup(const std::vector<BenchRow>& rows);
    void addMissing(const std::string& kernel, const std::string& who, const std::string& why);

    // Adds a line of text between the rows.
    void say(const std::string& text);

    // Says that the next rows, until endInputs, measure these parts ("tiles") of an input. If there
    // are no parts, the table says so.
    void beginInput(const std::string& name, const std::string& codec, const char* parts,
                    size_t partCount, uint64_t compressedBytes, uint64_t outputBytes);
    void beginInput(const TileSet& tiles, const std::string& codec)
    {
        beginInput(tiles.description, codec, "tiles", tiles.tiles.size(), tiles.compressedBytes,
                   tiles.outputBytes);
    }
    void endInputs() { m_input = 0; }

    void printHeader(const BenchDevice& device);
    BenchFigures figures(const BenchDevice& device) const;

private:
    struct Input {
        std::string name, codec;
        uint64_t compressedBytes = 0, outputBytes = 0;
        double ratio() const { return double(compressedBytes) / double(outputBytes); }
    };
    void print(const BenchRow& row);
    std::string json(const BenchRow& row) const;
    static double rate(const BenchRow& row);     // bytes per second
    double peerRatio(const BenchRow& row) const; // 0: no peer

    std::FILE* m_out;
    StatusLine m_line;
    Budget m_budget;
    double m_copyRate = 0;
    std::vector<BenchRow> m_rows;
    std::vector<Input> m_inputs{{}}; // inputs count from 1
    size_t m_input = 0;              // the next rows belong to it
};

} // namespace sluice
