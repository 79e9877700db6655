// SPDX-License-Identifier: MIT OR Apache-2.0
// A matrix-vector product y = W x, where the weights W are bf16 and encoded by the float codec, in
// two ways:
//   decoded   sluiceCmdFloatDecode writes W to memory, then a plain product reads it
//   fused     one shader decodes W and multiplies (fused.comp); W is never written
// The results of both are compared with the product in double precision. Both are timed beside a
// third product, whose weights lie in memory unencoded, to show what the encoding costs in time.
#include <sluice/sluice_float.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>

#include "tools/samples/gpu.h"
#include "tools/samples/require.h"
#include "tools/samples/gemv/matrix.h"

#include "fused_emu.h" // made from fused.comp
#include "fused_narrow.h"
#include "fused_native.h"
#include "plain_emu.h"
#include "plain_narrow.h"
#include "plain_native.h"
#include "sum_emu.h"
#include "sum_narrow.h"
#include "sum_native.h"

namespace {

// The shaders count elements in 32 bits, and a dispatch has at most 65,535 workgroups.
constexpr uint64_t kMaxWeights = uint64_t{1} << 31;
constexpr uint32_t kMinColumns = 256, kMaxRows = 1u << 17;
constexpr uint32_t kRowsPerGroup = 4;      // must be kRows of plain.comp
constexpr uint32_t kMaxTilesPerGroup = 64; // must be kMaxTiles of fused.comp
constexpr uint32_t kWorkgroups = 1024;     // about as many as the largest GPUs run at once

struct Push {
    uint64_t tensor, source, sourceSize, weights, x, y, sums, counters;
    uint32_t rows, columns, tiles, sumsPerTile;
};

struct Options {
    uint32_t rows = 1024, columns = 8192;
    std::string device, tier = "auto";
};

struct Code {
    const uint32_t* words;
    size_t bytes;
};

class Product {
public:
    Product(Gpu& on, const Matrix& of) : m_gpu(on), m_matrix(of)
    {
        createPipelines();
        m_tensor = m_gpu.allocate(sizeof(SluiceFloatTensor));
        m_source = m_gpu.allocate(m_matrix.encoded.size());
        m_weights = m_gpu.allocate(m_matrix.weights.size() * 2);
        m_x = m_gpu.allocate(uint64_t{m_matrix.columns} * 4);
        m_y = m_gpu.allocate(uint64_t{m_matrix.rows} * 4);
        m_status = m_gpu.allocate((m_matrix.tiles + 2) * 4);
        m_counters = m_gpu.allocate(8);
        // sumsPerTile is the most rows of the matrix that have a part in one tile. A tile may begin
        // and end inside a row unless a row is a whole number of tiles.
        const bool whole = m_matrix.columns % SLUICE_FLOAT_TILE == 0;
        m_push.sumsPerTile = whole ? 1 : (SLUICE_FLOAT_TILE - 1) / m_matrix.columns + 2;
        m_sums = m_gpu.allocate(m_matrix.tiles * m_push.sumsPerTile * 4);

        std::memcpy(m_source.host, m_matrix.encoded.data(), m_matrix.encoded.size());
        SluiceFloatTensor& entry = *m_tensor.as<SluiceFloatTensor>();
        entry = m_matrix.tensor;
        for (uint64_t* part : {&entry.words, &entry.index, &entry.lengths, &entry.raw})
            *part += m_source.address;
        entry.output = m_weights.address;
        std::mt19937 engine(2);
        std::normal_distribution<float> normal;
        for (uint32_t i = 0; i < m_matrix.columns; ++i)
            m_x.as<float>()[i] = normal(engine);

        m_push.tensor = m_tensor.address;
        m_push.source = m_source.address;
        m_push.sourceSize = m_source.buffer.size;
        m_push.weights = m_weights.address;
        m_push.x = m_x.address;
        m_push.y = m_y.address;
        m_push.sums = m_sums.address;
        m_push.counters = m_counters.address;
        m_push.rows = m_matrix.rows;
        m_push.columns = m_matrix.columns;
        m_push.tiles = uint32_t(m_matrix.tiles);
    }

    bool isLocal() const { return m_source.isLocal && m_weights.isLocal; }

    void recordDecode(SluiceCommands commands) const
    {
        SluiceFloatDecodeInfo info = {};
        info.tensorCount = 1;
        info.tileCount = m_push.tiles;
        info.tensors = m_tensor.buffer;
        info.source = m_source.buffer;
        info.destination = m_weights.buffer;
        info.status = m_status.buffer;
        require(sluiceCmdFloatDecode(m_gpu.sluice(), commands, &info), "float decode");
        require(sluiceCmdBarrier(m_gpu.sluice(), commands), "barrier");
    }
    // recordPlain and recordFused each record one product. A barrier must follow before y is read.
    void recordPlain() const
    {
        const uint32_t rows = m_plainWorkgroup / 32 * kRowsPerGroup;
        m_gpu.dispatch(m_plain, &m_push, sizeof m_push, (m_matrix.rows + rows - 1) / rows);
    }
    void recordFused(SluiceCommands commands) const
    {
        const uint32_t groups = m_fusedWorkgroup / 32, tilesAtMost = groups * kMaxTilesPerGroup;
        const uint32_t wanted = std::min((m_push.tiles + groups - 1) / groups, kWorkgroups);
        m_gpu.dispatch(m_fused, &m_push, sizeof m_push,
                       std::max(wanted, (m_push.tiles + tilesAtMost - 1) / tilesAtMost));
        require(sluiceCmdBarrier(m_gpu.sluice(), commands), "barrier");
        m_gpu.dispatch(m_sum, &m_push, sizeof m_push,
                       (m_matrix.rows + m_plainWorkgroup - 1) / m_plainWorkgroup);
    }

    // Returns the GPU's milliseconds for one product: the median of several runs. A run repeats the
    // product until about 20 ms have passed, at most 200 times. An idle GPU raises its clock only
    // after about 0.3 s of work, so this much work is done first.
    double time(const std::function<void(SluiceCommands)>& record) const
    {
        std::memset(m_y.host, 0xff, m_y.buffer.size); // NaN: check() finds elements never written
        const double first = run(record, 1);
        const uint32_t products = uint32_t(std::clamp(20.0 / std::max(first, 1e-3), 1.0, 200.0));
        for (double busy = first; busy < 300;)
            busy += std::max(run(record, products) * products, 1.0);
        std::vector<double> times(first < 100 ? 7 : 3);
        for (double& one : times)
            one = run(record, products);
        std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
        return times[times.size() / 2];
    }

    std::vector<float> result() const { return {m_y.as<float>(), m_y.as<float>() + m_matrix.rows}; }
    uint32_t failedTiles() const
    {
        return m_counters.as<uint32_t>()[1] + m_status.as<uint32_t>()[m_push.tiles];
    }
    // Returns a copy of x, since the CPU is slow at reading single words of device memory.
    std::vector<float> vector() const
    {
        return {m_x.as<float>(), m_x.as<float>() + m_matrix.columns};
    }

private:
    void createPipelines()
    {
        // sluice's shaders work in groups of 32 lanes, which have several forms
        // (shaders/lib/lanes.glsl). These shaders must be compiled for the form that sluice uses on
        // this device.
        const bool emulated = std::strncmp(m_gpu.chosen().tier, "emu", 3) == 0;
        const size_t form = emulated ? 2 : m_gpu.chosen().subgroupSize < 32 ? 1 : 0;
        const Code plains[] = {{plain_native, sizeof plain_native},
                               {plain_narrow, sizeof plain_narrow},
                               {plain_emu, sizeof plain_emu}};
        const Code fuseds[] = {{fused_native, sizeof fused_native},
                               {fused_narrow, sizeof fused_narrow},
                               {fused_emu, sizeof fused_emu}};
        const Code adds[] = {{sum_native, sizeof sum_native},
                             {sum_narrow, sizeof sum_narrow},
                             {sum_emu, sizeof sum_emu}};
        m_fusedWorkgroup = m_gpu.laneWorkgroup();
        m_plainWorkgroup = m_fusedWorkgroup >= 128 ? 128 : m_fusedWorkgroup;
        m_plain =
            m_gpu.createLanePipeline(plains[form].words, plains[form].bytes, m_plainWorkgroup);
        m_fused =
            m_gpu.createLanePipeline(fuseds[form].words, fuseds[form].bytes, m_fusedWorkgroup);
        m_sum = m_gpu.createLanePipeline(adds[form].words, adds[form].bytes, m_plainWorkgroup);
    }

    double run(const std::function<void(SluiceCommands)>& record, uint32_t products) const
    {
        const SluiceCommands commands = sluiceVulkanCommands(m_gpu.begin());
        for (uint32_t i = 0; i < products; ++i) {
            record(commands);
            require(sluiceCmdBarrier(m_gpu.sluice(), commands), "barrier");
        }
        return m_gpu.submit() / products;
    }

    Gpu& m_gpu;
    const Matrix& m_matrix;
    Push m_push = {};
    Buffer m_tensor, m_source, m_weights, m_x, m_y, m_status, m_counters, m_sums;
    VkPipeline m_plain = VK_NULL_HANDLE, m_fused = VK_NULL_HANDLE, m_sum = VK_NULL_HANDLE;
    uint32_t m_plainWorkgroup = 0, m_fusedWorkgroup = 0;
};

// The product in double precision, and a bound on the error of the product in single precision.
// Single precision rounds the product of two numbers and each sum of which it becomes a part, with
// a relative error of 2^-24 each time. Within a tile, fused.comp rounds at most 44 times: for 1
// product, for 4 sums in multiplyAdd, for 32 sums over the tile's rows of 256 weights, and for 7
// sums that join the two chains and the lanes. The bound allows 48 roundings, one more for each 64
// columns (plain.comp adds in two chains per lane), and one more for each tile of a row (sum.comp).
struct Reference {
    std::vector<double> y, bound;

    Reference(const Matrix& matrix, const std::vector<float>& x)
    {
        const double roundings =
            48 + matrix.columns / 64.0 + matrix.columns / double{SLUICE_FLOAT_TILE};
        for (uint32_t row = 0; row < matrix.rows; ++row) {
            double sum = 0, size = 0;
            for (uint32_t column = 0; column < matrix.columns; ++column) {
                const uint16_t weight = matrix.weights[size_t{row} * matrix.columns + column];
                const double product = toDouble(weight) * double(x[column]);
                sum += product;
                size += std::abs(product);
            }
            y.push_back(sum);
            bound.push_back(roundings * std::ldexp(size, -24));
        }
    }

    // Returns the largest error divided by its bound. Throws if an error exceeds its bound.
    double check(const std::vector<float>& found, const char* what) const
    {
        double worst = 0;
        for (size_t row = 0; row < y.size(); ++row) {
            const double error = std::abs(double(found[row]) - y[row]);
            if (!(error <= bound[row])) // NaN fails too
                throw std::runtime_error(std::string(what) + ": wrong y[" + std::to_string(row) +
                                         "]: " + std::to_string(found[row]) + ", not " +
                                         std::to_string(y[row]));
            worst = std::max(worst, error / bound[row]);
        }
        return worst;
    }
};

void report(const char* what, double milliseconds, uint64_t read, const Matrix& matrix)
{
    const double plainBytes = double(matrix.weights.size()) * 2;
    std::printf("%-34s %9.4f ms %9.2f GB/s read %9.2f GB/s of bf16\n", what, milliseconds,
                double(read) / milliseconds / 1e6, plainBytes / milliseconds / 1e6);
}

void run(const Options& options)
{
    Gpu gpu(SLUICE_KERNELS_FLOAT, options.device, options.tier);
    const Matrix matrix = makeMatrix(options.rows, options.columns);
    Product product(gpu, matrix);
    const Reference reference(matrix, product.vector());
    const uint64_t plainSize = matrix.weights.size() * 2;
    std::printf("%s, tier %s, subgroups of %u: %u x %u weights, %.4f of %.1f MB in bf16%s\n",
                gpu.name(), gpu.chosen().tier, gpu.chosen().subgroupSize, matrix.rows,
                matrix.columns, double(matrix.encodedSize) / double(plainSize),
                double(plainSize) / 1e6,
                product.isLocal() ? "" : ", NOT in the device's own memory");

    const double decoded = product.time([&](SluiceCommands commands) {
        product.recordDecode(commands);
        product.recordPlain();
    });
    const double errorDecoded = reference.check(product.result(), "decoded, then multiplied");

    const double plain = product.time([&](SluiceCommands) { product.recordPlain(); });
    reference.check(product.result(), "multiplied");

    const double fused =
        product.time([&](SluiceCommands commands) { product.recordFused(commands); });
    const std::vector<float> y = product.result();
    const double errorFused = reference.check(y, "fused");
    product.time([&](SluiceCommands commands) { product.recordFused(commands); });
    if (std::memcmp(product.result().data(), y.data(), y.size() * 4) != 0)
        throw std::runtime_error("fused: another result the second time");
    if (product.failedTiles() != 0)
        throw std::runtime_error(std::to_string(product.failedTiles()) + " tiles failed");

    report("weights in memory, multiplied", plain, plainSize, matrix);
    report("(a) decoded, then multiplied", decoded, matrix.encodedSize, matrix);
    report("(b) fused", fused, matrix.encodedSize, matrix);
    std::printf("(a) / (b): %.3f; largest errors %.3f and %.3f of the bound\n", decoded / fused,
                errorDecoded, errorFused);
    std::printf("fused, the product takes %.2f times as long as with weights in memory, and the "
                "weights %.4f of their size\n",
                fused / plain, double(matrix.encodedSize) / double(plainSize));
}

uint32_t numberIn(const char* text)
{
    char* end = nullptr;
    const uint64_t number = std::strtoull(text, &end, 10);
    if (end == text || *end != '\0' || number > kMaxWeights) throw std::invalid_argument(text);
    return uint32_t(number);
}

Options parse(int count, char** arguments)
{
    Options options;
    std::vector<uint32_t> sizes;
    for (int i = 1; i < count; ++i) {
        const std::string argument = arguments[i];
        if ((argument == "-d" || argument == "-t") && i + 1 == count)
            throw std::invalid_argument(argument);
        if (argument == "-d") {
            options.device = arguments[++i];
        } else if (argument == "-t") {
            options.tier = arguments[++i];
        } else {
            sizes.push_back(numberIn(arguments[i]));
        }
    }
    if (sizes.size() == 2) {
        options.rows = sizes[0];
        options.columns = sizes[1];
    }
    const bool fits = options.rows >= 1 && options.rows <= kMaxRows &&
                      options.columns >= kMinColumns && options.columns % 8 == 0 &&
                      uint64_t{options.rows} * options.columns <= kMaxWeights;
    if ((!sizes.empty() && sizes.size() != 2) || !fits) throw std::invalid_argument("ROWS COLS");
    return options;
}

} // namespace

int main(int count, char** arguments)
{
    Options options;
    try {
        options = parse(count, arguments);
    } catch (const std::invalid_argument& argument) {
        std::fprintf(stderr,
                     "gemv: not understood: %s\n"
                     "usage: gemv [ROWS COLS] [-d DEVICE] [-t TIER]\n"
                     "  ROWS    1 .. 131072; COLS: 256 or more, a multiple of 8; together 2^31 "
                     "weights at most\n"
                     "  DEVICE  the number of a Vulkan device, or a part of its name\n"
                     "  TIER    auto, base, ext, emu4 .. emu128\n",
                     argument.what());
        return EXIT_FAILURE;
    }
    return runSample("gemv", [&] { run(options); });
}
