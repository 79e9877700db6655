// SPDX-License-Identifier: MIT OR Apache-2.0
// Collects the rows of the benchmark, prints them as a table, and writes them as JSON.
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

// Another figure of a row, besides time and rate.
struct BenchFigure {
    std::string name; // such as "cpu_s_per_gb"; the table shows blanks for '_'
    double value;
};

struct BenchRow {
    std::string kernel; // copy, scan, compact, gdeflate ...
    std::string size;   // "2^20", "1.20 GB"
    std::string who;    // who did the work: sluice, CUB, the driver's extension
    uint64_t bytes;     // bytes of one pass that any implementation has to read and write, for GB/s
    Timing timing;
    bool isPeer = false; // a peer, with which our rows of this kernel and size are compared
    bool present = true;
    std::string note = {};                 // why the peer is not present
    std::vector<BenchFigure> figures = {}; // the only figures of the row if `bytes` is 0
    // Number of the input that the row is about, from 1 on; 0: none.
    size_t input = 0;
};

// Returns a row without time and rate, which has only these figures.
inline BenchRow figureRow(const std::string& kernel, const std::string& size,
                          const std::string& who, const std::vector<BenchFigure>& figures)
{
    return {kernel, size, who, 0, {}, false, true, {}, figures};
}

class BenchReport {
public:
    // Prints the table to `out`, or nowhere if `out` is null. The clock of `budget` has been
    // running since its construction.
    BenchReport(std::FILE* out, const Budget& budget)
        : m_out(out), m_line(out == nullptr), m_budget(budget)
    {
    }

    Budget& budget() { return m_budget; }
    // Does the same as Budget::hasTime. Also shows on the progress line what is measured now.
    // `name` is for example "scan" or "scan kinds: VARIANT".
    bool hasTime(const std::string& name, const std::string& size);
    // Shows on the progress line what is done now, for work that gives no row.
    void showStep(const std::string& what);
    // Prints which rows were left out for lack of time.
    void printCuts();

    // Adds the row of a plain copy, whose rate counts bytes read and bytes written. The table gives
    // the rate of other rows as a fraction of the fastest copy's.
    void addCopy(const BenchRow& row);
    // Adds the rows of one measurement, ours and the peers'. Ours show their ratio to the fastest
    // peer.
    void addGroup(const std::vector<BenchRow>& rows);
    void addMissing(const std::string& kernel, const std::string& who, const std::string& why);

    // Prints a line of text between the rows.
    void say(const std::string& text);

    // Begins the rows of an input, which end at endInputs(). The table names the input, and its
    // `partCount` tiles, tensors or the like (`parts` is the word for them), or says that it has
    // none.
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
    static double rate(const BenchRow& row);     // in bytes a second
    double peerRatio(const BenchRow& row) const; // 0: there is no peer

    std::FILE* m_out;
    StatusLine m_line;
    Budget m_budget;
    double m_copyRate = 0;
    std::vector<BenchRow> m_rows;
    std::vector<Input> m_inputs{{}}; // entry 0 is unused: numbers begin at 1
    size_t m_input = 0;              // number of the input that the next rows are about; 0: none
};

} // namespace sluice
