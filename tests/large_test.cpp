// SPDX-License-Identifier: MIT OR Apache-2.0
// Buffers above 4 GiB and counts up to 2^32 - 1: offsets must not be computed in 32 bits anywhere.
//
// Left out unless SLUICE_TEST_LARGE is 1, since the largest case takes 16 GiB of device memory and
// a few of the host's. Without validation: NVIDIA's driver serves larger allocations than its
// maxMemoryAllocationSize says.
#include "gdeflate_tiles.h"
#include "intervals.h"

#include <sluice/sluice_encode.h>
#include <sluice/sluice_float.h>
#include <sluice/sluice_gstd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>

using namespace sluice::test;

namespace {

constexpr uint64_t gib = uint64_t(1) << 30;
bool wanted() { return environmentNumber("SLUICE_TEST_LARGE", 0) != 0; }
// How many there are of something. With SLUICE_TEST_LARGE above 1 only so small a part of it, to
// try out the newer of these tests where there is no such memory.
uint32_t sized(uint64_t count)
{
    return uint32_t(count / std::max(1u, environmentNumber("SLUICE_TEST_LARGE", 1)));
}

uint32_t hashOf(uint64_t index)
{
    uint64_t x = (index + 1) * 0x9E3779B97F4A7C15u;
    x ^= x >> 29;
    return uint32_t((x * 0xBF58476D1CE4E5B9u) >> 32);
}

// Runs work(begin, end) over parts of 0 .. count on all cores.
template <typename Work>
void onAllCores(uint64_t count, const Work& work)
{
    const uint64_t threads = std::max(1u, std::thread::hardware_concurrency()),
                   each = count / threads + 1;
    std::vector<std::thread> running;
    for (uint64_t begin = 0; begin < count; begin += each)
        running.emplace_back(
            [&work, begin, end = std::min(count, begin + each)] { work(begin, end); });
    for (std::thread& thread : running)
        thread.join();
}

// Device memory that never has a copy on the host: it is filled and read in pieces.
class LargeBuffer {
public:
    explicit LargeBuffer(uint64_t size) : m_size(size)
    {
        REQUIRE(sluiceAllocate(device().get(), size, &m_range) == SLUICE_OK);
    }
    ~LargeBuffer() { sluiceRelease(device().get(), m_range); }
    LargeBuffer(const LargeBuffer&) = delete;
    LargeBuffer& operator=(const LargeBuffer&) = delete;

    SluiceBuffer range() const { return part(0, m_size); }
    SluiceBuffer part(uint64_t at, uint64_t size) const
    {
        return {m_range.handle, m_range.offset + at, size};
    }
    uint64_t address() const { return sluiceGetAddress(device().get(), m_range); }

    void write(uint64_t at, const void* bytes, uint64_t size)
    {
        REQUIRE(sluiceUpload(device().get(), part(at, size), bytes, size) == SLUICE_OK);
    }
    // wordAt(i): word i of it.
    template <typename WordAt>
    void fill(const WordAt& wordAt)
    {
        Words piece;
        for (uint64_t at = 0; at < m_size; at += 4 * piece.size()) {
            piece.resize(std::min(m_size - at, pieceSize) / 4);
            onAllCores(piece.size(), [&](uint64_t begin, uint64_t end) {
                for (uint64_t i = begin; i < end; ++i)
                    piece[i] = wordAt(at / 4 + i);
            });
            write(at, piece.data(), 4 * piece.size());
        }
    }
    // look(first, words): its first `size` bytes, in order.
    template <typename Look>
    void read(uint64_t size, const Look& look) const
    {
        Words piece;
        for (uint64_t at = 0; at < size; at += pieceSize) {
            piece.resize(std::min(size - at, pieceSize) / 4);
            REQUIRE(sluiceDownload(device().get(), part(at, 4 * piece.size()), piece.data(),
                                   4 * piece.size()) == SLUICE_OK);
            look(at / 4, piece);
        }
    }
    // Whether its first words are those that wordAt says.
    template <typename WordAt>
    bool holds(uint64_t size, const WordAt& wordAt) const
    {
        std::atomic<bool> good{true};
        read(size, [&](uint64_t first, const Words& words) {
            onAllCores(words.size(), [&](uint64_t begin, uint64_t end) {
                bool same = true;
                for (uint64_t i = begin; i < end; ++i)
                    same = same && words[i] == wordAt(first + i);
                if (!same) good = false;
            });
        });
        return good;
    }

private:
    static constexpr uint64_t pieceSize = 256 << 20;

    SluiceBuffer m_range = {};
    uint64_t m_size;
};

// Decodes one tile to very many places, from the far end of a large source.
void decodeFarTile(TileCodec codec, const Bytes& compressed, const Words& plain)
{
    const uint64_t tileSize = 4 * plain.size(), count = 4 * gib / tileSize + 1000,
                   sourceSize = 4 * gib + (1 << 20);
    LargeBuffer source(sourceSize), destination(count * tileSize);
    const uint64_t at = sourceSize - (compressed.size() + 3) / 4 * 4;
    REQUIRE(at > 4 * gib);
    source.write(at, compressed.data(), compressed.size());
    std::vector<SluiceRegion> regions;
    for (uint64_t i = 0; i < count; ++i)
        regions.push_back({source.address() + at, destination.address() + i * tileSize,
                           compressed.size(), tileSize});
    Buffer list(device(), bytesOf(regions)), status(device(), (count + 2) * 4);
    const auto decode = [&](auto info, auto getRequirements, auto command) {
        info.maxRegionCount = uint32_t(count);
        info.regionStride = sizeof(SluiceRegion);
        info.regions = list.range();
        info.source = source.range();
        info.destination = destination.range();
        info.status = status.range();
        runWithScratch(device(), info, getRequirements, command);
    };
    if (codec == TileCodec::gstd) {
        SluiceGstdInfo info = {};
        info.tilesAtOnce = 4096;
        decode(info, sluiceGetGstdRequirements, sluiceCmdGstd);
    } else {
        decode(SluiceGdeflateInfo{}, sluiceGetGdeflateRequirements, sluiceCmdGdeflate);
    }
    CHECK(status.words()[count] == 0);
    CHECK(destination.holds(count * tileSize, [&](uint64_t i) { return plain[i % plain.size()]; }));
}

// Compresses well, but not into one match.
Words someWords(size_t count)
{
    Words words(count);
    for (size_t i = 0; i < count; ++i)
        words[i] = hashOf(i / 3 % 500) & 0x00ff00ffu;
    return words;
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("large: scan and reduction of 2^32 - 1 elements" * doctest::skip(!wanted()))
{
    constexpr uint32_t n = ~0u;
    LargeBuffer values(4 * uint64_t(n));
    values.fill(hashOf);
    Buffer total(device(), 4), reduced(device(), 4);
    SluiceReduceInfo reduce = {};
    reduce.operation = SLUICE_OPERATION_SUM;
    reduce.type = SLUICE_VALUE_U32;
    reduce.maxCount = n;
    reduce.input = values.range();
    reduce.result = reduced.range();
    runWithScratch(device(), reduce, sluiceGetReduceRequirements, sluiceCmdReduce);
    SluiceScanInfo info = {};
    info.kind = SLUICE_SCAN_EXCLUSIVE;
    info.operation = SLUICE_OPERATION_SUM;
    info.type = SLUICE_VALUE_U32;
    info.maxCount = n;
    info.input = values.range();
    info.output = values.range();
    info.total = total.range();
    runWithScratch(device(), info, sluiceGetScanRequirements, sluiceCmdScan);
    uint32_t sum = 0;
    bool good = true;
    values.read(4 * uint64_t(n), [&](uint64_t first, const Words& words) {
        for (size_t i = 0; i < words.size(); ++i) {
            good = good && words[i] == sum;
            sum += hashOf(first + i);
        }
    });
    CHECK(good);
    CHECK(total.words()[0] == sum);
    CHECK(reduced.words()[0] == sum);
}

TEST_CASE("large: compaction of 2^32 - 1 bytes" * doctest::skip(!wanted()))
{
    constexpr uint32_t n = ~0u;
    LargeBuffer input(4 * gib), output(4 * gib);
    input.fill(hashOf);
    Buffer kept(device(), 4);
    SluiceCompactInfo info = {};
    info.test = SLUICE_COMPACT_COMPARE;
    info.comparison = SLUICE_COMPARE_LESS;
    info.type = SLUICE_VALUE_U8;
    info.constant = 250;
    info.elementSize = 1;
    info.maxCount = n;
    info.input = input.part(0, n);
    info.output = output.part(0, n);
    info.resultCount = kept.range();
    runWithScratch(device(), info, sluiceGetCompactRequirements, sluiceCmdCompact);
    // The input is made once more, and compacted, as the output is read.
    uint64_t element = 0, count = 0;
    bool good = true;
    const auto next = [&] {
        uint32_t value;
        do
            value = hashOf(element / 4) >> 8 * (element % 4) & 255u;
        while (++element, value >= 250 && element < n);
        return value;
    };
    const uint32_t result = kept.words()[0];
    output.read((result + uint64_t(3)) / 4 * 4, [&](uint64_t, const Words& words) {
        for (size_t i = 0; i < 4 * words.size() && count < result; ++i, ++count)
            good = good && (words[i / 4] >> 8 * (i % 4) & 255u) == next();
    });
    CHECK(good);
    while (element < n)
        good = good && next() >= 250;
    CHECK(good);
    CHECK(result > 4 * gib / 256 * 249);
}

TEST_CASE("large: compaction to elements and indices" * doctest::skip(!wanted()))
{
    constexpr uint32_t n = (1u << 30) + 12345;
    const auto valueOf = [](uint64_t i) { return hashOf(i) % 3 == 0 ? 0 : uint32_t(i) | 1; };
    LargeBuffer input(4 * uint64_t(n)), output(4 * uint64_t(n)), indices(4 * uint64_t(n));
    input.fill(valueOf);
    Buffer kept(device(), 4);
    SluiceCompactInfo info = {};
    info.test = SLUICE_COMPACT_NON_ZERO;
    info.elementSize = 4;
    info.maxCount = n;
    info.input = input.range();
    info.output = output.range();
    info.indices = indices.range();
    info.resultCount = kept.range();
    runWithScratch(device(), info, sluiceGetCompactRequirements, sluiceCmdCompact);
    for (const bool ofIndices : {false, true}) {
        uint64_t next = 0;
        bool good = true;
        const auto skip = [&] {
            while (next < n && valueOf(next) == 0)
                ++next;
        };
        (ofIndices ? indices : output)
            .read(4 * uint64_t(kept.words()[0]), [&](uint64_t, const Words& words) {
                for (const uint32_t word : words) {
                    skip();
                    good = good && next < n && word == (ofIndices ? uint32_t(next) : valueOf(next));
                    ++next;
                }
            });
        skip();
        CHECK(good);
        CHECK(next == n);
    }
}

// Which elements a compaction keeps.
bool keeps(uint64_t i) { return hashOf(i) % 3 != 0; }

// Whether the words are those of the elements that are kept (then, of those that are not) in order;
// element i is word i.
bool isCompacted(const LargeBuffer& output, uint32_t n, uint32_t kept, bool partitioned)
{
    uint64_t next = 0, count = 0;
    bool good = true, wantsKept = true;
    const auto skip = [&] {
        while (next < n && keeps(next) != wantsKept)
            ++next;
    };
    output.read(4 * uint64_t(partitioned ? n : kept), [&](uint64_t, const Words& words) {
        for (const uint32_t word : words) {
            if (count++ == kept) {
                skip();
                good = good && next == n;
                next = 0;
                wantsKept = false;
            }
            skip();
            good = good && word == uint32_t(next++);
        }
    });
    skip();
    return good && next == n;
}

TEST_CASE("large: partition by bytes, compaction in place by a mask, unique" *
          doctest::skip(!wanted()))
{
    const uint32_t n = sized((1u << 30) + 12345);
    const auto valueOf = [](uint64_t i) { return uint32_t(i); };
    LargeBuffer input(4 * uint64_t(n));
    input.fill(valueOf);
    Buffer kept(device(), 4);
    SluiceCompactInfo info = {};
    info.elementSize = 4;
    info.maxCount = n;
    info.input = input.range();
    info.resultCount = kept.range();
    {
        LargeBuffer output(4 * uint64_t(n)), flags((uint64_t(n) + 3) / 4 * 4);
        flags.fill([](uint64_t word) {
            uint32_t bytes = 0;
            for (uint32_t i = 0; i < 4; ++i)
                bytes |= (keeps(4 * word + i) ? 1u + i : 0u) << 8 * i;
            return bytes;
        });
        info.test = SLUICE_COMPACT_BYTES;
        info.flags = SLUICE_COMPACT_PARTITION;
        info.selectors = flags.range();
        info.output = output.range();
        runWithScratch(device(), info, sluiceGetCompactRequirements, sluiceCmdCompact);
        CHECK(isCompacted(output, n, kept.words()[0], true));
    }
    {
        LargeBuffer mask((uint64_t(n) + 31) / 32 * 4);
        mask.fill([](uint64_t word) {
            uint32_t bits = 0;
            for (uint32_t i = 0; i < 32; ++i)
                bits |= uint32_t(keeps(32 * word + i)) << i;
            return bits;
        });
        info.test = SLUICE_COMPACT_MASK;
        info.flags = 0;
        info.selectors = mask.range();
        info.output = input.range();
        runWithScratch(device(), info, sluiceGetCompactRequirements, sluiceCmdCompact);
        CHECK(isCompacted(input, n, kept.words()[0], false));
    }
    LargeBuffer output(4 * uint64_t(n));
    input.fill([](uint64_t i) { return uint32_t(i / 3); });
    info.test = SLUICE_COMPACT_UNIQUE;
    info.selectors = {};
    info.output = output.range();
    runWithScratch(device(), info, sluiceGetCompactRequirements, sluiceCmdCompact);
    CHECK((kept.words() == Words{(n + 2) / 3}));
    CHECK(output.holds(4 * uint64_t((n + 2) / 3), valueOf));
}

TEST_CASE("large: compaction of elements of 8 and 16 bytes" * doctest::skip(!wanted()))
{
    for (const uint32_t wordsEach : {2u, 4u}) {
        const uint32_t n = sized((1u << 30) / wordsEach + 12345);
        LargeBuffer input(4 * uint64_t(n) * wordsEach), output(4 * uint64_t(n) * wordsEach);
        const auto wordOf = [&](uint64_t i, uint32_t word) {
            return keeps(i) && word == i % wordsEach ? uint32_t(i) | 1u : 0u;
        };
        input.fill([&](uint64_t i) { return wordOf(i / wordsEach, uint32_t(i % wordsEach)); });
        Buffer kept(device(), 4);
        SluiceCompactInfo info = {};
        info.test = SLUICE_COMPACT_NON_ZERO;
        info.elementSize = 4 * wordsEach;
        info.maxCount = n;
        info.input = input.range();
        info.output = output.range();
        info.resultCount = kept.range();
        runWithScratch(device(), info, sluiceGetCompactRequirements, sluiceCmdCompact);
        uint64_t next = 0;
        bool good = true;
        const auto skip = [&] {
            while (next < n && !keeps(next))
                ++next;
        };
        output.read(4 * uint64_t(kept.words()[0]) * wordsEach,
                    [&](uint64_t first, const Words& words) {
                        for (size_t i = 0; i < words.size(); ++i) {
                            const uint32_t word = uint32_t((first + i) % wordsEach);
                            if (word == 0) skip();
                            good = good && words[i] == wordOf(next, word);
                            if (word + 1 == wordsEach) ++next;
                        }
                    });
        skip();
        CHECK(good);
        CHECK(next == n);
    }
}

TEST_CASE("large: scans in segments, of u64 and of f32" * doctest::skip(!wanted()))
{
    const auto isHead = [](uint64_t i) { return hashOf(i) % 1000 == 0; };
    {
        const uint32_t n = sized((1u << 30) + 12345);
        LargeBuffer values(4 * uint64_t(n)), heads((uint64_t(n) + 31) / 32 * 4);
        const auto valueOf = [](uint64_t i) { return hashOf(i + 77); };
        values.fill(valueOf);
        heads.fill([&](uint64_t word) {
            uint32_t bits = 0;
            for (uint32_t i = 0; i < 32; ++i)
                bits |= uint32_t(isHead(32 * word + i)) << i;
            return bits;
        });
        SluiceScanInfo info = {};
        info.maxCount = n;
        info.input = info.output = values.range();
        info.heads = heads.range();
        runWithScratch(device(), info, sluiceGetScanRequirements, sluiceCmdScan);
        uint32_t sum = 0;
        bool good = true;
        values.read(4 * uint64_t(n), [&](uint64_t first, const Words& words) {
            for (size_t i = 0; i < words.size(); ++i) {
                sum = isHead(first + i) ? 0 : sum;
                good = good && words[i] == sum;
                sum += valueOf(first + i);
            }
        });
        CHECK(good);
    }
    for (const bool ofFloats : {false, true}) {
        // u64: any words. f32: a 1 now and then, so that all sums are exact.
        const uint32_t n = sized(ofFloats ? (1u << 30) + 12345 : (1u << 29) + 12345),
                       wordsEach = ofFloats ? 1 : 2;
        const auto wordOf = [&](uint64_t i) {
            return ofFloats ? (i % 128 == 5 ? 0x3f800000u : 0u) : hashOf(i);
        };
        LargeBuffer values(4 * uint64_t(n) * wordsEach), output(4 * uint64_t(n) * wordsEach);
        values.fill(wordOf);
        Buffer total(device(), 4ull * wordsEach);
        SluiceScanInfo info = {};
        info.kind = SLUICE_SCAN_INCLUSIVE;
        info.type = ofFloats ? SLUICE_VALUE_F32 : SLUICE_VALUE_U64;
        info.maxCount = n;
        info.input = values.range();
        info.output = output.range();
        info.total = total.range();
        runWithScratch(device(), info, sluiceGetScanRequirements, sluiceCmdScan);
        uint64_t sum = 0;
        bool good = true;
        const auto sumWord = [&](uint64_t word) {
            if (!ofFloats) return uint32_t(sum >> 32 * word);
            const float exact = float(sum);
            uint32_t bits;
            std::memcpy(&bits, &exact, 4);
            return bits;
        };
        output.read(4 * uint64_t(n) * wordsEach, [&](uint64_t first, const Words& words) {
            for (size_t i = 0; i < words.size(); ++i) {
                const uint64_t at = first + i;
                if (ofFloats)
                    sum += wordOf(at) != 0 ? 1 : 0;
                else if (at % 2 == 0)
                    sum += uint64_t(wordOf(at + 1)) << 32 | wordOf(at);
                good = good && words[i] == sumWord(at % wordsEach);
            }
        });
        CHECK(good);
        const Words totals = total.words();
        for (uint32_t word = 0; word < wordsEach; ++word)
            CHECK(totals[word] == sumWord(word));
    }
}

TEST_CASE("large: intervals moved and expanded" * doctest::skip(!wanted()))
{
    // Intervals of some 2 MB, in order in the source, in another order in the destination.
    const uint64_t elements = sized((uint64_t(1) << 30) + (100 << 20));
    Words counts, gather, scatter;
    uint64_t sum = 0;
    while (sum < elements) {
        gather.push_back(uint32_t(sum));
        counts.push_back(
            uint32_t(std::min<uint64_t>(elements - sum, 400000 + hashOf(counts.size()) % 200000)));
        sum += counts.back();
    }
    std::vector<uint32_t> order(counts.size());
    std::iota(order.begin(), order.end(), 0u);
    std::mt19937 random = makeRandom(91);
    std::shuffle(order.begin(), order.end(), random);
    scatter.resize(counts.size());
    std::vector<uint32_t> starts; // in the destination's order
    uint32_t at = 0;
    for (const uint32_t i : order) {
        starts.push_back(at);
        scatter[i] = at;
        at += counts[i];
    }
    const auto intervalAt = [&](uint64_t i) {
        return size_t(std::upper_bound(starts.begin(), starts.end(), uint32_t(i)) -
                      starts.begin()) -
               1;
    };
    LargeBuffer source(4 * elements), destination(4 * elements);
    source.fill(hashOf);
    Buffer countList(device(), counts), gatherList(device(), gather),
        scatterList(device(), scatter), result(device(), 8);
    SluiceIntervals intervals = {};
    intervals.maxCount = uint32_t(counts.size());
    intervals.counts = countList.range();
    Buffer scratch = intervalScratch(intervals);
    SluiceIntervalMoveInfo move = {};
    move.kind = SLUICE_INTERVAL_MOVE;
    move.elementSize = 4;
    move.positionSize = 4;
    move.intervals = intervals;
    move.gather = gatherList.range();
    move.scatter = scatterList.range();
    move.source = source.range();
    move.destination = destination.range();
    move.result = result.range();
    move.scratch = scratch.range();
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdIntervalMove(device().context(), commands, &move) == SLUICE_OK);
    });
    CHECK((result.words() == Words{uint32_t(elements), 0}));
    CHECK(destination.holds(4 * elements, [&](uint64_t i) {
        const size_t k = intervalAt(i);
        return hashOf(gather[order[k]] + (i - starts[k]));
    }));

    // Back to where they were, and once more to the other order.
    const auto cleared = [](uint64_t) { return 0u; };
    source.fill(cleared);
    move.kind = SLUICE_INTERVAL_GATHER;
    move.gather = scatterList.range();
    std::swap(move.source, move.destination);
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdIntervalMove(device().context(), commands, &move) == SLUICE_OK);
    });
    CHECK((result.words() == Words{uint32_t(elements), 0}));
    CHECK(source.holds(4 * elements, hashOf));
    destination.fill(cleared);
    move.kind = SLUICE_INTERVAL_SCATTER;
    move.gather = {};
    std::swap(move.source, move.destination);
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdIntervalMove(device().context(), commands, &move) == SLUICE_OK);
    });
    CHECK((result.words() == Words{uint32_t(elements), 0}));
    CHECK(destination.holds(4 * elements, [&](uint64_t i) {
        const size_t k = intervalAt(i);
        return hashOf(gather[order[k]] + (i - starts[k]));
    }));

    // Of 5 bytes: 5.4 GB; each has its interval's number and a byte of it.
    constexpr uint64_t size = 5;
    LargeBuffer expanded(size * elements / 4 * 4);
    Bytes values(size * counts.size());
    for (size_t k = 0; k < counts.size(); ++k) {
        for (uint32_t byte = 0; byte < size; ++byte)
            values[size * k + byte] = uint8_t(hashOf(k) >> 5 * byte);
    }
    Buffer valueList(device(), values);
    SluiceIntervalExpandInfo expand = {};
    expand.elementSize = uint32_t(size);
    expand.intervals = intervals;
    expand.values = valueList.range();
    expand.destination = expanded.range();
    expand.result = result.range();
    expand.scratch = scratch.range();
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdIntervalExpand(device().context(), commands, &expand) == SLUICE_OK);
    });
    CHECK(result.words()[0] == uint32_t(elements));
    CHECK(expanded.holds((size * elements - size) / 4 * 4, [&](uint64_t i) {
        uint32_t word = 0;
        for (uint64_t byte = 4 * i; byte < 4 * i + 4; ++byte) {
            const size_t k =
                size_t(std::upper_bound(gather.begin(), gather.end(), uint32_t(byte / size)) -
                       gather.begin()) -
                1;
            word |= uint32_t(values[size * k + byte % size]) << 8 * (byte % 4);
        }
        return word;
    }));
}

TEST_CASE("large: very many intervals" * doctest::skip(!wanted()))
{
    {
        // Expanded: each value is its interval's number.
        const uint32_t n = sized(300000000);
        const auto countOf = [](uint64_t i) { return hashOf(i) % 8; };
        uint64_t elements = 0;
        for (uint32_t i = 0; i < n; ++i)
            elements += countOf(i);
        LargeBuffer counts(4 * uint64_t(n)), values(4 * uint64_t(n)), destination(4 * elements),
            sources(4 * elements);
        counts.fill(countOf);
        values.fill([](uint64_t i) { return uint32_t(i) ^ 0x5a5a5a5au; });
        Buffer result(device(), 8);
        SluiceIntervals intervals = {};
        intervals.maxCount = n;
        intervals.counts = counts.range();
        Buffer scratch = intervalScratch(intervals);
        SluiceIntervalExpandInfo expand = {};
        expand.elementSize = 4;
        expand.intervals = intervals;
        expand.values = values.range();
        expand.destination = destination.range();
        expand.result = result.range();
        expand.scratch = scratch.range();
        device().run([&](SluiceCommands commands) {
            REQUIRE(sluiceCmdIntervalExpand(device().context(), commands, &expand) == SLUICE_OK);
        });
        CHECK((result.words() == Words{uint32_t(elements), 0}));
        SluiceIntervalSearchInfo search = {};
        search.intervals = intervals;
        search.sources = sources.range();
        search.result = result.range();
        search.scratch = scratch.range();
        device().run([&](SluiceCommands commands) {
            REQUIRE(sluiceCmdIntervalSearch(device().context(), commands, &search) == SLUICE_OK);
        });
        CHECK((result.words() == Words{uint32_t(elements), 0}));
        for (const bool ofSources : {false, true}) {
            uint32_t interval = 0, left = countOf(0);
            bool good = true;
            (ofSources ? sources : destination)
                .read(4 * elements, [&](uint64_t, const Words& words) {
                    for (const uint32_t word : words) {
                        while (left == 0)
                            left = countOf(++interval);
                        --left;
                        good = good && word == (ofSources ? interval : interval ^ 0x5a5a5a5au);
                    }
                });
            CHECK(good);
        }
    }
    // As many as there can be, empty but for three: the first, the last, and one whose count lies
    // above 4 GiB.
    const uint32_t n = sized(~0u), third = uint32_t(uint64_t(n) * 5 / 6);
    LargeBuffer counts(4 * uint64_t(n));
    counts.fill([&](uint64_t i) { return i == 0 ? 3u : i == third ? 2u : i + 1 == n ? 5u : 0u; });
    Buffer sources(device(), 40), ranks(device(), 40), result(device(), 8);
    SluiceIntervalSearchInfo search = {};
    search.intervals.maxCount = n;
    search.intervals.counts = counts.range();
    search.sources = sources.range();
    search.ranks = ranks.range();
    search.result = result.range();
    Buffer scratch = intervalScratch(search.intervals);
    search.scratch = scratch.range();
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdIntervalSearch(device().context(), commands, &search) == SLUICE_OK);
    });
    CHECK((result.words() == Words{10, 0}));
    CHECK((sources.words() == Words{0, 0, 0, third, third, n - 1, n - 1, n - 1, n - 1, n - 1}));
    CHECK((ranks.words() == Words{0, 1, 2, 0, 1, 0, 1, 2, 3, 4}));
}

TEST_CASE("large: 2^32 - 1 items after an insert" * doctest::skip(!wanted()))
{
    const uint32_t n = sized(~0u) / 4 * 4 + 3;
    Words indices;
    for (uint64_t at = 3; at < n - n / 1000; at += 1000000 + hashOf(at) % 1000000)
        indices.push_back(uint32_t(at));
    const uint32_t items = n - uint32_t(indices.size());
    LargeBuffer source((uint64_t(items) + 3) / 4 * 4), destination(uint64_t(n) + 1);
    source.fill(hashOf);
    Bytes inserted((indices.size() + 3) / 4 * 4);
    for (size_t j = 0; j < inserted.size(); ++j)
        inserted[j] = uint8_t(hashOf(j) >> 24);
    Buffer list(device(), indices), insertedList(device(), inserted), result(device(), 8);
    SluiceBulkInfo info = {};
    info.elementSize = 1;
    info.maxItemCount = items;
    info.maxIndexCount = uint32_t(indices.size());
    info.indices = list.range();
    info.source = source.part(0, items);
    info.inserted = insertedList.range();
    info.destination = destination.part(0, n);
    info.result = result.range();
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdBulkInsert(device().context(), commands, &info) == SLUICE_OK);
    });
    CHECK((result.words() == Words{n, n == ~0u ? uint32_t(SLUICE_INTERVAL_SATURATED) : 0u}));
    CHECK(destination.holds(n / 4 * 4, [&](uint64_t i) {
        uint32_t word = 0;
        for (uint64_t at = 4 * i; at < 4 * i + 4; ++at) {
            // Item j that is inserted stands at indices[j] + j; so many stand before `at`.
            size_t low = 0, high = indices.size();
            while (low < high) {
                const size_t middle = (low + high) / 2;
                if (uint64_t(indices[middle]) + middle < at)
                    low = middle + 1;
                else
                    high = middle;
            }
            const bool isInserted = low < indices.size() && uint64_t(indices[low]) + low == at;
            const uint64_t from = at - low;
            word |= (isInserted ? inserted[low] : hashOf(from / 4) >> 8 * (from % 4) & 255u)
                    << 8 * (at % 4);
        }
        return word;
    }));
}

TEST_CASE("large: 2^32 - 1 items with some removed" * doctest::skip(!wanted()))
{
    constexpr uint32_t n = ~0u;
    LargeBuffer source(4 * gib), destination(4 * gib);
    source.fill(hashOf);
    Words indices;
    for (uint64_t at = 3; at < n; at += 1000000 + hashOf(at) % 1000000)
        indices.push_back(uint32_t(at));
    Buffer list(device(), indices), result(device(), 8);
    SluiceBulkInfo info = {};
    info.elementSize = 1;
    info.maxItemCount = n;
    info.maxIndexCount = uint32_t(indices.size());
    info.indices = list.range();
    info.source = source.part(0, n);
    info.destination = destination.part(0, n);
    info.result = result.range();
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdBulkRemove(device().context(), commands, &info) == SLUICE_OK);
    });
    const uint32_t left = n - uint32_t(indices.size());
    CHECK((result.words() == Words{left, 0}));
    CHECK(destination.holds(left / 4 * 4, [&](uint64_t i) {
        uint32_t word = 0;
        for (uint64_t at = 4 * i; at < 4 * i + 4; ++at) {
            // How many are removed before the item that comes to `at`: of those in order, k have
            // indices up to at + k.
            size_t low = 0, high = indices.size();
            while (low < high) {
                const size_t middle = (low + high) / 2;
                if (uint64_t(indices[middle]) - middle <= at)
                    low = middle + 1;
                else
                    high = middle;
            }
            const uint64_t from = at + low;
            word |= (hashOf(from / 4) >> 8 * (from % 4) & 255u) << 8 * (at % 4);
        }
        return word;
    }));
}

TEST_CASE("large: GDeflate and Gstd tiles" * doctest::skip(!wanted()))
{
    const Words large = someWords((256 << 10) / 4);
    Words plain(65536 / 4);
    std::mt19937 random = makeRandom(92);
    const Tile tile = literalTile(65536, random);
    const std::vector<DecodedTile> decoded = decodeOnHost({tile});
    REQUIRE(decoded[0].status == SLUICE_TILE_OK);
    std::memcpy(plain.data(), decoded[0].bytes.data(), decoded[0].bytes.size());
    decodeFarTile(TileCodec::gdeflate, tile.compressed, plain);
    Bytes compressed;
    SluiceGstdEncoder encoder = nullptr;
    const SluiceGstdEncoderInfo info = {6, 4};
    REQUIRE(sluiceCreateGstdEncoder(&info, &encoder) == SLUICE_OK);
    compressed.resize(sluiceGstdTileBound(4 * large.size()));
    size_t size = 0;
    REQUIRE(sluiceEncodeGstdTile(encoder, large.data(), 4 * large.size(), compressed.data(),
                                 compressed.size(), &size) == SLUICE_OK);
    sluiceDestroyGstdEncoder(encoder);
    compressed.resize(size);
    decodeFarTile(TileCodec::gstd, compressed, large);
}

TEST_CASE("large: weights" * doctest::skip(!wanted()))
{
    // One tensor of 16 MiB, decoded to many places, its planes beyond 4 GiB in the source.
    constexpr uint64_t count = 8 << 20, copies = 4 * gib / (2 * count) + 10;
    Words plain(count / 2);
    for (uint64_t i = 0; i < plain.size(); ++i)
        plain[i] = (hashOf(i) & 0x83ff83ffu) | 0x3c003c00u;
    uint64_t histogram[256] = {};
    REQUIRE(sluiceFloatCountSymbols(SLUICE_FLOAT_BF16, plain.data(), count, histogram) ==
            SLUICE_OK);
    Bytes lengths(SLUICE_FLOAT_LENGTHS_SIZE), raw(sluiceFloatRawSize(SLUICE_FLOAT_BF16, count));
    REQUIRE(sluiceFloatCodeLengths(histogram, lengths.data()) == SLUICE_OK);
    REQUIRE(sluiceFloatPackRaw(SLUICE_FLOAT_BF16, count, plain.data(), 0, count, raw.data()) ==
            SLUICE_OK);
    Words words, index = {0};
    for (uint64_t first = 0; first < count; first += SLUICE_FLOAT_TILE) {
        uint32_t tile[SLUICE_FLOAT_TILE_BOUND], wordCount = 0;
        REQUIRE(sluiceFloatEncodeTile(SLUICE_FLOAT_BF16, lengths.data(), &plain[first / 2],
                                      SLUICE_FLOAT_TILE, tile, SLUICE_FLOAT_TILE_BOUND,
                                      &wordCount) == SLUICE_OK);
        words.insert(words.end(), tile, tile + wordCount);
        index.push_back(uint32_t(words.size() / 2));
    }
    LargeBuffer source(4 * gib + (64 << 20)), destination(copies * 2 * count);
    uint64_t at = 4 * gib;
    const auto place = [&](const void* bytes, uint64_t size) {
        const uint64_t here = at;
        source.write(here, bytes, size);
        at += (size + 15) / 16 * 16;
        return source.address() + here;
    };
    SluiceFloatTensor tensor = {};
    tensor.words = place(words.data(), 4 * words.size());
    tensor.wordsSize = 4 * words.size();
    tensor.index = place(index.data(), 4 * index.size());
    tensor.lengths = place(lengths.data(), lengths.size());
    tensor.raw = place(raw.data(), raw.size());
    tensor.count = count;
    tensor.type = SLUICE_FLOAT_BF16;
    std::vector<SluiceFloatTensor> tensors;
    for (uint64_t i = 0; i < copies; ++i) {
        tensor.output = destination.address() + i * 2 * count;
        tensor.firstTile = uint32_t(i * (count / SLUICE_FLOAT_TILE));
        tensors.push_back(tensor);
    }
    const uint32_t tiles = uint32_t(copies * (count / SLUICE_FLOAT_TILE));
    Buffer list(device(), bytesOf(tensors)), status(device(), (uint64_t(tiles) + 2) * 4);
    SluiceFloatDecodeInfo info = {};
    info.tensorCount = uint32_t(copies);
    info.tileCount = tiles;
    info.tensors = list.range();
    info.source = source.range();
    info.destination = destination.range();
    info.status = status.range();
    runWithScratch(device(), info, sluiceGetFloatDecodeRequirements, sluiceCmdFloatDecode);
    CHECK(status.words()[tiles] == 0);
    CHECK(
        destination.holds(copies * 2 * count, [&](uint64_t i) { return plain[i % plain.size()]; }));
}

TEST_SUITE_END();
