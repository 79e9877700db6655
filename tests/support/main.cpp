// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the tests of the host once, and the suite "device" once for every (device, tier) pair. Then
// prints a table of the results.
#define DOCTEST_CONFIG_IMPLEMENT
#include "tests/support/crash_place.h"
#include "tests/support/devices.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace {

using sluice::test::Device;

// Holds the numbers of test cases of one run.
struct Counts {
    uint32_t passed = 0;
    uint32_t failed = 0;
    uint32_t skipped = 0; // by skipCase
};
Counts lastRun;

struct Counter : doctest::IReporter {
    explicit Counter(const doctest::ContextOptions&) {}
    void test_run_end(const doctest::TestRunStats& run) override
    {
        lastRun.failed = run.numTestCasesFailed;
        lastRun.passed = run.numTestCasesPassingFilters - run.numTestCasesFailed - lastRun.skipped;
    }
    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_case_start(const doctest::TestCaseData&) override {}
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_end(const doctest::CurrentTestCaseStats& stats) override
    {
        if (sluice::test::takeSkippedCase() && stats.testCaseSuccess) ++lastRun.skipped;
    }
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData&) override {}
    void log_message(const doctest::MessageData&) override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}
};
REGISTER_LISTENER("counter", 1, Counter);

struct Row {
    std::string device;
    std::string tier;
    Counts counts;
    std::string notRun; // why it did not run; empty if it did
};

// Holds all rows. Each one is also appended to the summary file at once, in case a crash on a later
// (device, tier) pair ends the process.
class Table {
public:
    void add(const Row& row)
    {
        m_rows.push_back(row);
        const char* path = std::getenv("SLUICE_TEST_SUMMARY");
        if (FILE* file = path != nullptr && *path != '\0' ? std::fopen(path, "a") : nullptr) {
            std::fprintf(file, "%s\n", line(row).c_str());
            std::fclose(file);
        }
    }

    void print() const
    {
        std::printf("\n");
        for (const Row& row : m_rows)
            std::printf("%s\n", line(row).c_str());
    }

    bool anyFailed() const
    {
        return std::any_of(m_rows.begin(), m_rows.end(),
                           [](const Row& row) { return row.counts.failed != 0; });
    }
    bool allRan() const
    {
        return std::all_of(m_rows.begin(), m_rows.end(),
                           [](const Row& row) { return row.notRun.empty(); });
    }
    bool empty() const { return m_rows.empty(); }

private:
    static std::string line(const Row& row)
    {
        const std::string pair = "pair: " + row.device + " " + row.tier + " ";
        if (!row.notRun.empty()) return pair + "not run: " + row.notRun;
        return pair + "passed " + std::to_string(row.counts.passed) + " failed " +
               std::to_string(row.counts.failed) + " skipped " + std::to_string(row.counts.skipped);
    }

    std::vector<Row> m_rows;
};

std::vector<std::string> split(const std::string& text, char separator)
{
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) {
        if (!part.empty()) parts.push_back(part);
    }
    return parts;
}

// Returns a short name without spaces. Variants of lavapipe differ in the width of vectors, which
// is that of subgroups, so the name has it.
std::string shortName(const SluiceDeviceProperties& properties)
{
    const std::string name = properties.name;
    const size_t bits = name.find(" bits)");
    if (name.rfind("llvmpipe", 0) == 0 && bits != std::string::npos)
        return "lavapipe/" +
               std::to_string(std::atoi(name.c_str() + name.rfind(' ', bits - 1)) / 32);
    std::string result =
        properties.backend == SLUICE_BACKEND_CPU ? "cpu" : name.substr(0, name.find(" ("));
    for (char& c : result) {
        if (c == ' ') c = '-';
    }
    return result;
}

Counts runTests(int argc, char** argv, bool onDevice)
{
    doctest::Context context;
    context.applyCommandLine(argc, argv);
    context.setOption("no-intro", true);
    context.addFilter(onDevice ? "test-suite" : "test-suite-exclude", "device");
    lastRun = Counts();
    const int result = context.run();
    if (context.shouldExit()) std::exit(result);
    return lastRun;
}

Row runPair(int argc, char** argv, const std::string& selector, const std::string& tier)
{
    Row row = {selector, tier, {}, ""};
    Device device(selector, tier, sluice::test::environmentNumber("SLUICE_TEST_VALIDATION", 1));
    if (!device.isOpen()) {
        std::printf("%s %s: %s\n", selector.c_str(), tier.c_str(), device.openError().c_str());
        row.counts.failed = 1;
        return row;
    }
    SluiceDeviceProperties properties = {};
    sluiceGetDeviceProperties(device.get(), &properties);
    row.device = shortName(properties);
    std::printf("\n%s %s\n%s", row.device.c_str(), tier.c_str(), device.replacedShaders().c_str());
    std::fflush(stdout);
    std::string messages = device.takeMessages(); // those of opening it
    sluice::test::setDevice(&device);
    row.counts = runTests(argc, argv, true);
    sluice::test::setDevice(nullptr);
    device.close();
    messages += device.takeMessages();
    if (!messages.empty()) {
        std::printf("%s %s, opening or closing the device:\n%s", row.device.c_str(), tier.c_str(),
                    messages.c_str());
        ++row.counts.failed;
    }
    return row;
}

std::vector<SluiceDeviceProperties> listDevices()
{
    uint32_t count = 0;
    sluiceEnumerateDevices(nullptr, &count);
    std::vector<SluiceDeviceProperties> devices(count);
    sluiceEnumerateDevices(devices.data(), &count);
    devices.resize(std::min<size_t>(count, devices.size()));
    return devices;
}

std::string selectorOf(const SluiceDeviceProperties& properties)
{
    switch (properties.backend) {
    case SLUICE_BACKEND_VULKAN: return "vulkan:" + std::to_string(properties.index);
    case SLUICE_BACKEND_CUDA: return "cuda:" + std::to_string(properties.index);
    default: return "cpu";
    }
}

// Runs one entry of SLUICE_TEST_DEVICES. If it names no tier, runs all tiers of the device.
void runEntry(int argc, char** argv, const std::string& selector, std::vector<std::string> tiers,
              Table& table)
{
    if (tiers.empty()) {
        const char* error = nullptr;
        SluiceDeviceInfo info = {};
        info.selector = selector.c_str();
        SluiceDevice device = nullptr;
        SluiceDeviceProperties properties = {};
        if (sluiceOpenDevice(&info, &device, &error) == SLUICE_OK) {
            sluiceGetDeviceProperties(device, &properties);
            sluiceCloseDevice(device);
        }
        tiers = split(properties.tiers, ' ');
        if (tiers.empty())
            table.add({selector, "-", {}, error != nullptr ? error : "it can run no tier"});
    }
    for (const std::string& tier : tiers)
        table.add(runPair(argc, argv, selector, tier));
}

} // namespace

int main(int argc, char** argv)
{
    sluice::test::printStackOnCrash();
    Table table;
    const auto runHost = [&] { table.add({"host", "-", runTests(argc, argv, false), ""}); };
    const char* variable = std::getenv("SLUICE_TEST_DEVICES");
    const std::vector<std::string> selection = split(variable != nullptr ? variable : "", ',');
    if (selection.empty()) {
        runHost();
        for (const SluiceDeviceProperties& properties : listDevices())
            runEntry(argc, argv, selectorOf(properties), split(properties.tiers, ' '), table);
    }
    for (const std::string& entry : selection) {
        if (entry == "host") {
            runHost();
            continue;
        }
        const size_t slash = entry.find('/');
        const std::string tier = slash == std::string::npos ? "" : entry.substr(slash + 1);
        runEntry(argc, argv, entry.substr(0, slash), split(tier, ' '), table);
    }
    table.print();
    // If a pair was asked for by name and did not run, the result is no success.
    return table.anyFailed() || table.empty() || (!selection.empty() && !table.allRan()) ? 1 : 0;
}
