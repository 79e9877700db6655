// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/support/devices.h"

#include <sluice/sluice_encode.h>
#include <sluice/sluice_float.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

using namespace sluice::test;

namespace {

constexpr uint64_t kTileElements = SLUICE_FLOAT_TILE;
uint64_t tilesOf(uint64_t count) { return (count + kTileElements - 1) / kTileElements; }

struct Encoded {
    uint32_t type = 0;
    uint64_t count = 0;
    Bytes plain;
    Words words, index;
    Bytes lengths, raw;
};

Encoded encode(uint32_t type, const Bytes& plain)
{
    Encoded result;
    result.type = type;
    result.plain = plain;
    const uint64_t size = sluiceFloatElementSize(type), count = result.count = plain.size() / size;
    uint64_t histogram[256] = {};
    REQUIRE(sluiceFloatCountSymbols(type, plain.data(), count, histogram) == SLUICE_OK);
    result.lengths.resize(SLUICE_FLOAT_LENGTHS_SIZE);
    REQUIRE(sluiceFloatCodeLengths(histogram, result.lengths.data()) ==
            (count == 0 ? SLUICE_ERROR_ARGUMENT : SLUICE_OK));
    result.index.push_back(0);
    for (uint64_t first = 0; first < count; first += kTileElements) {
        uint32_t words[SLUICE_FLOAT_TILE_BOUND], wordCount = 0;
        REQUIRE(sluiceFloatEncodeTile(type, result.lengths.data(), plain.data() + first * size,
                                      uint32_t(std::min(kTileElements, count - first)), words,
                                      SLUICE_FLOAT_TILE_BOUND, &wordCount) == SLUICE_OK);
        result.words.insert(result.words.end(), words, words + wordCount);
        result.index.push_back(uint32_t(result.words.size() / 2));
    }
    result.raw.resize(sluiceFloatRawSize(type, count));
    // The raw bytes are packed in two pieces, as a program does that streams.
    const uint64_t half = count / 16 * 8;
    REQUIRE(sluiceFloatPackRaw(type, count, plain.data(), 0, half, result.raw.data()) == SLUICE_OK);
    REQUIRE(sluiceFloatPackRaw(type, count, plain.data() + half * size, half, count - half,
                               result.raw.data()) == SLUICE_OK);
    return result;
}

// Holds a list of tensors in one source and one destination.
struct Scene {
    std::vector<SluiceFloatTensor> tensors; // their addresses are offsets
    Bytes source;
    uint64_t destinationSize = 0;
    uint32_t tiles = 0;

    uint64_t place(const void* bytes, size_t size)
    {
        const uint64_t at = source.size();
        source.insert(source.end(), static_cast<const uint8_t*>(bytes),
                      static_cast<const uint8_t*>(bytes) + size);
        source.resize((source.size() + 15) / 16 * 16, 0xA5);
        return at;
    }
    void add(const Encoded& one)
    {
        SluiceFloatTensor tensor = {};
        tensor.words = place(one.words.data(), one.words.size() * 4);
        tensor.wordsSize = one.words.size() * 4;
        tensor.index = place(one.index.data(), one.index.size() * 4);
        tensor.lengths = place(one.lengths.data(), one.lengths.size());
        tensor.raw = place(one.raw.data(), one.raw.size());
        tensor.output = destinationSize;
        tensor.count = one.count;
        tensor.type = one.type;
        tensor.firstTile = tiles;
        tensors.push_back(tensor);
        destinationSize = (destinationSize + one.plain.size() + 15) / 16 * 16 + 16;
        tiles += uint32_t(tilesOf(one.count));
    }
};

struct Outcome {
    Words status;
    Bytes output;
};

Outcome decode(Device& on, const Scene& scene)
{
    Buffer source(on, scene.source), destination(on, std::max<uint64_t>(scene.destinationSize, 16));
    Buffer status(on, (uint64_t(scene.tiles) + 2) * 4);
    std::vector<SluiceFloatTensor> tensors = scene.tensors;
    for (SluiceFloatTensor& tensor : tensors) {
        for (uint64_t* address : {&tensor.words, &tensor.index, &tensor.lengths, &tensor.raw})
            *address += source.address();
        tensor.output += destination.address();
    }
    Buffer list(on, bytesOf(tensors));
    SluiceFloatDecodeInfo info = {};
    info.tensorCount = uint32_t(tensors.size());
    info.tileCount = scene.tiles;
    info.tensors = list.range();
    info.source = source.range();
    info.destination = destination.range();
    info.status = status.range();
    SluiceRequirements requirements = {};
    REQUIRE(sluiceGetFloatDecodeRequirements(on.context(), &info, &requirements) == SLUICE_OK);
    on.run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdFloatDecode(on.context(), commands, &info) == SLUICE_OK);
    });
    return {status.words(), destination.bytes()};
}

// Checks that the device's statuses, and the bytes of good tiles, are those of the CPU reference.
// Returns how many tiles failed.
uint32_t compareWithReference(const Scene& scene)
{
    Device reference("cpu", "ref", 0);
    REQUIRE(reference.isOpen());
    const Outcome expected = decode(reference, scene), found = decode(device(), scene);
    CHECK((found.status == expected.status));
    for (size_t i = 0; i < scene.tensors.size(); ++i) {
        const SluiceFloatTensor& tensor = scene.tensors[i];
        const uint32_t end =
            i + 1 < scene.tensors.size() ? scene.tensors[i + 1].firstTile : scene.tiles;
        const uint64_t size = sluiceFloatElementSize(tensor.type);
        for (uint64_t tile = 0; tile < end - tensor.firstTile; ++tile) {
            if (expected.status[tensor.firstTile + tile] != SLUICE_TILE_OK) continue;
            const uint64_t begin = tensor.output + tile * kTileElements * size;
            const uint64_t stop =
                tensor.output + std::min((tile + 1) * kTileElements, tensor.count) * size;
            CHECK(std::memcmp(found.output.data() + begin, expected.output.data() + begin,
                              stop - begin) == 0);
        }
    }
    return expected.status[scene.tiles];
}

// These bytes are made without the encoder. The code of 'a' is 0, that of 'b' is 1. A full tile has
// 9 words of 32 bits for each lane; a row alone has one of 16 bits. Tile 0 has only 'a', tile 1
// only 'b'; tile 2 is one row of both in turn.
Encoded handMadeBytes()
{
    Encoded one;
    one.type = SLUICE_FLOAT_BYTES;
    one.count = 2 * kTileElements + 256;
    one.plain = Bytes(kTileElements, 'a');
    one.plain.resize(2 * kTileElements, 'b');
    one.words.assign(288, 0u);
    one.words.resize(2 * 288, ~0u);
    one.words.resize(2 * 288 + 16, 0x55555555u);
    for (uint32_t i = 0; i < 256; ++i)
        one.plain.push_back(i % 2 == 0 ? 'a' : 'b');
    one.index = {0, 144, 288, 296};
    one.lengths.assign(SLUICE_FLOAT_LENGTHS_SIZE, 0);
    one.lengths['a' / 2] = 0x10;
    one.lengths['b' / 2] = 0x01;
    return one;
}

// Makes a row of bf16: the exponents are 0x7F and 0x80 in turn; sign and mantissa count up.
Encoded handMadeWeights()
{
    Encoded one;
    one.type = SLUICE_FLOAT_BF16;
    one.count = 256;
    one.words.assign(16, 0x55555555u);
    one.index = {0, 8};
    one.lengths.assign(SLUICE_FLOAT_LENGTHS_SIZE, 0);
    one.lengths[0x7F / 2] = 0x10;
    one.lengths[0x80 / 2] = 0x01;
    for (uint32_t i = 0; i < 256; ++i) {
        one.raw.push_back(uint8_t(i));
        const uint32_t value = (i & 0x80) << 8 | (i % 2 == 0 ? 0x7Fu : 0x80u) << 7 | (i & 0x7F);
        one.plain.push_back(uint8_t(value));
        one.plain.push_back(uint8_t(value >> 8));
    }
    return one;
}

enum class Kind {
    weights,
    uniform,
    equal,
    two,
    rare
};

Bytes makePlain(uint32_t type, uint64_t count, Kind kind, std::mt19937& random)
{
    const uint32_t size = sluiceFloatElementSize(type);
    Bytes bytes(count * size);
    std::normal_distribution<float> normal(0, 0.03f);
    for (uint64_t i = 0; i < count; ++i) {
        uint32_t value = uint32_t(random());
        if (kind == Kind::equal) value = 0x3C1A2B5Cu;
        if (kind == Kind::two) value = random() % 5 == 0 ? 0x40404040u : 0x3E3E3E3Eu;
        if (kind == Kind::weights || kind == Kind::rare) {
            const float number = kind == Kind::rare && random() % 1000 == 0
                                     ? std::ldexp(1.0f, int(random() % 200) - 100)
                                     : normal(random);
            std::memcpy(&value, &number, 4);
            // This rounds roughly as the type would: it puts sign, exponent and mantissa where the
            // type has them.
            if (type == SLUICE_FLOAT_BF16) value >>= 16;
            if (type == SLUICE_FLOAT_F16)
                value = (value >> 16 & 0x8000) |
                        (uint32_t(int32_t(value >> 23 & 255) - 112) & 31) << 10 |
                        (value >> 13 & 0x3ff);
            if (type == SLUICE_FLOAT_F8_E4M3 || type == SLUICE_FLOAT_F8_E4M3_DENSE)
                value = (value >> 24 & 0x80) |
                        (uint32_t(int32_t(value >> 23 & 255) - 112) & 15) << 3 | (value >> 20 & 7);
            if (type == SLUICE_FLOAT_F8_E5M2)
                value = (value >> 24 & 0x80) |
                        (uint32_t(int32_t(value >> 23 & 255) - 112) & 31) << 2 | (value >> 21 & 3);
            if (type == SLUICE_FLOAT_BYTES) value = value >> 23 & 255;
        }
        std::memcpy(bytes.data() + i * size, &value, size);
    }
    return bytes;
}

} // namespace

TEST_CASE("float codec: sizes and arguments of the encoder")
{
    CHECK(sluiceFloatElementSize(SLUICE_FLOAT_BF16) == 2);
    CHECK(sluiceFloatElementSize(SLUICE_FLOAT_F32) == 4);
    CHECK(sluiceFloatElementSize(SLUICE_FLOAT_TYPE_COUNT) == 0);
    CHECK(sluiceFloatRawSize(SLUICE_FLOAT_BF16, 17) == 32);
    CHECK(sluiceFloatRawSize(SLUICE_FLOAT_F16, 17) == 32 + 16);
    CHECK(sluiceFloatRawSize(SLUICE_FLOAT_F32, 17) == 48 + 32);
    CHECK(sluiceFloatRawSize(SLUICE_FLOAT_F8_E4M3, 17) == 16);
    CHECK(sluiceFloatRawSize(SLUICE_FLOAT_F8_E5M2, 48) == 32);
    CHECK(sluiceFloatRawSize(SLUICE_FLOAT_F8_E4M3_DENSE, 65) == 32);
    CHECK(sluiceFloatRawSize(SLUICE_FLOAT_BYTES, 1000) == 0);
    CHECK(sluiceFloatRawSize(SLUICE_FLOAT_F16, SLUICE_FLOAT_TILE) == 11 * 1024);
    CHECK(sluiceFloatRawSize(SLUICE_FLOAT_F32, 2 * SLUICE_FLOAT_TILE + 17) ==
          2 * 24 * 1024 + 48 + 32);
    CHECK(sluiceFloatRawSize(SLUICE_FLOAT_BF16, (1ull << 40) + 1) == 0);
    uint64_t histogram[256] = {};
    uint8_t lengths[SLUICE_FLOAT_LENGTHS_SIZE];
    const uint16_t element = 0x3F80;
    CHECK(sluiceFloatCountSymbols(SLUICE_FLOAT_TYPE_COUNT, &element, 1, histogram) ==
          SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceFloatCodeLengths(histogram, lengths) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceFloatCountSymbols(SLUICE_FLOAT_BF16, &element, 1, histogram) == SLUICE_OK);
    CHECK(histogram[0x7F] == 1);
    REQUIRE(sluiceFloatCodeLengths(histogram, lengths) == SLUICE_OK);
    uint32_t words[SLUICE_FLOAT_TILE_BOUND], count = 0;
    CHECK(sluiceFloatEncodeTile(SLUICE_FLOAT_BF16, lengths, &element, 1, words, 0, &count) ==
          SLUICE_ERROR_BUFFER_SIZE);
    CHECK(sluiceFloatEncodeTile(SLUICE_FLOAT_BF16, lengths, &element, 8193, words, 3200, &count) ==
          SLUICE_ERROR_ARGUMENT);
    const uint16_t unknown = 0x1F80;
    CHECK(sluiceFloatEncodeTile(SLUICE_FLOAT_BF16, lengths, &unknown, 1, words, 3200, &count) ==
          SLUICE_ERROR_ARGUMENT);
}

TEST_CASE("float codec: what is neither code nor sign nor mantissa takes at most 0.05 bit a weight")
{
    std::mt19937 random = makeRandom(401);
    for (const uint32_t type : {SLUICE_FLOAT_BF16, SLUICE_FLOAT_F8_E4M3}) {
        const uint64_t count = 1u << 20;
        const Encoded one = encode(type, makePlain(type, count, Kind::weights, random));
        uint64_t histogram[256] = {}, bits = 0;
        REQUIRE(sluiceFloatCountSymbols(type, one.plain.data(), count, histogram) == SLUICE_OK);
        for (uint32_t i = 0; i < 256; ++i)
            bits += histogram[i] * (one.lengths[i / 2] >> i % 2 * 4 & 15);
        const uint64_t all = (one.words.size() + one.index.size()) * 32 + 128 * 8;
        CHECK(double(all - bits) / double(count) < 0.05);
        // For such data, codes of whole bits cost at most 0.1 bit more than the entropy: much less
        // than the 1 bit that Huffman's bound allows.
        double entropy = 0;
        for (const uint64_t occurs : histogram)
            if (occurs != 0) entropy -= double(occurs) * std::log2(double(occurs) / double(count));
        CHECK(double(bits) < entropy + 0.1 * double(count));
    }
}

TEST_SUITE_BEGIN("device");

TEST_CASE("float codec: every type, kind of data and size around lane, row and tile")
{
    std::mt19937 random = makeRandom(402);
    Scene scene;
    std::vector<Encoded> all;
    for (uint32_t type = 0; type < SLUICE_FLOAT_TYPE_COUNT; ++type) {
        for (const uint64_t count : {0, 1, 7, 8, 9, 255, 256, 257, 511, 8191, 8192, 8193}) {
            all.push_back(encode(type, makePlain(type, count, Kind(random() % 5), random)));
            scene.add(all.back());
        }
        for (const Kind kind : {Kind::weights, Kind::uniform, Kind::equal, Kind::two, Kind::rare}) {
            all.push_back(encode(type, makePlain(type, 9000 + random() % 3000, kind, random)));
            scene.add(all.back());
        }
    }
    const Outcome found = decode(device(), scene);
    Bytes expected(found.output.size(), Buffer::kPoison);
    for (size_t i = 0; i < all.size(); ++i)
        std::copy(all[i].plain.begin(), all[i].plain.end(),
                  expected.begin() + std::ptrdiff_t(scene.tensors[i].output));
    CHECK((found.output == expected));
    Words statuses(scene.tiles, SLUICE_TILE_OK);
    statuses.push_back(0);
    statuses.push_back(~0u);
    CHECK((found.status == statuses));
}

TEST_CASE("float codec: many tiles of one tensor, so that a workgroup does several")
{
    std::mt19937 random = makeRandom(403);
    const PlannedBy few(device(), isSoftware() ? "floatDecode.laneGroups=32" : "", "");
    const uint64_t count = (isSoftware() ? 100 : 3000) * kTileElements + 100;
    const Encoded one =
        encode(SLUICE_FLOAT_BF16, makePlain(SLUICE_FLOAT_BF16, count, Kind::weights, random));
    Scene scene;
    scene.add(one);
    const Outcome found = decode(device(), scene);
    CHECK(std::memcmp(found.output.data(), one.plain.data(), one.plain.size()) == 0);
    CHECK(found.status[scene.tiles] == 0);
}

// Each workgroup has three tiles. With one tensor more or less, the last tensor does not begin
// where a workgroup's share does.
TEST_CASE("float codec: tensors that begin and end inside of a workgroup's tiles")
{
    std::mt19937 random = makeRandom(407);
    const uint32_t tiles[] = {3, 1, 2, 1, 5};
    std::vector<Encoded> some;
    for (uint32_t i = 0; i < 5; ++i) {
        const uint32_t type = i % SLUICE_FLOAT_TYPE_COUNT;
        const uint64_t count =
            (tiles[i] - 1) * uint64_t(kTileElements) + 1 + random() % kTileElements;
        some.push_back(encode(type, makePlain(type, count, Kind::weights, random)));
    }
    std::unique_ptr<Device> tuned;
    if (device().backend() == SLUICE_BACKEND_VULKAN) {
        tuned = std::make_unique<Device>(
            device().selector(), device().info().tier,
            environmentNumber("SLUICE_TEST_VALIDATION", 1), SLUICE_KERNELS_FLOAT,
            "floatDecode.laneGroups=1 floatDecode.tilesPerLaneGroup=3");
        REQUIRE_MESSAGE(tuned->isOpen(), tuned->openError());
    }
    for (uint32_t more = 0; more < 2; ++more) {
        Scene scene;
        std::vector<const Encoded*> added;
        // The last tensor but one has three tiles, the last one has one tile.
        for (uint32_t i = 0; i < more + 22; ++i)
            added.push_back(&some[i < more ? 1 : (i - more) % 5]);
        for (const Encoded* one : added)
            scene.add(*one);
        const Outcome found = decode(tuned ? *tuned : device(), scene);
        uint32_t wrong = 0;
        for (size_t i = 0; i < added.size(); ++i)
            wrong += std::memcmp(&found.output[scene.tensors[i].output], added[i]->plain.data(),
                                 added[i]->plain.size()) != 0
                         ? 1
                         : 0;
        CHECK(wrong == 0);
        CHECK(found.status[scene.tiles] == 0);
    }
}

TEST_CASE("float codec: any tiles of a tensor as tensors of the list")
{
    std::mt19937 random = makeRandom(406);
    Scene scene;
    std::vector<Bytes> expected;
    for (uint32_t type = 0; type < SLUICE_FLOAT_TYPE_COUNT; ++type) {
        const Encoded one = encode(
            type, makePlain(type, 5 * kTileElements + 1 + random() % 8000, Kind::weights, random));
        const uint64_t size = sluiceFloatElementSize(type), tiles = tilesOf(one.count);
        Scene whole;
        whole.source.swap(scene.source);
        whole.add(one);
        scene.source.swap(whole.source);
        for (const auto& [begin, end] :
             {std::pair<uint64_t, uint64_t>(3, 4), {1, 3}, {5, tiles}, {0, 1}, {4, tiles}}) {
            const uint64_t first = begin * kTileElements;
            SluiceFloatTensor part = whole.tensors[0];
            part.index += 4 * begin;
            part.raw += begin * sluiceFloatRawSize(type, kTileElements);
            part.output = scene.destinationSize;
            part.count = std::min(end * kTileElements, one.count) - first;
            part.firstTile = scene.tiles;
            scene.tensors.push_back(part);
            scene.tiles += uint32_t(end - begin);
            scene.destinationSize = (scene.destinationSize + part.count * size + 15) / 16 * 16 + 16;
            expected.emplace_back(one.plain.begin() + std::ptrdiff_t(first * size),
                                  one.plain.begin() + std::ptrdiff_t((first + part.count) * size));
        }
    }
    const Outcome found = decode(device(), scene);
    Bytes all(found.output.size(), Buffer::kPoison);
    for (size_t i = 0; i < expected.size(); ++i)
        std::copy(expected[i].begin(), expected[i].end(),
                  all.begin() + std::ptrdiff_t(scene.tensors[i].output));
    CHECK((found.output == all));
    CHECK(found.status[scene.tiles] == 0);
}

namespace {

constexpr uint32_t kOk = SLUICE_TILE_OK, kRegion = SLUICE_TILE_BAD_REGION,
                   kCode = SLUICE_TILE_BAD_CODE, kCut = SLUICE_TILE_TRUNCATED;

// Holds tensors, good ones and bad ones, and the status that each of their tiles shall have.
struct Faults {
    using Change = std::function<void(SluiceFloatTensor&)>;

    Faults()
    {
        add(bytes, {kOk, kOk, kOk});
        add(weights, {kOk});
    }
    void add(const Encoded& one, const Words& statuses, const Change& change = {})
    {
        scene.add(one);
        if (change) change(scene.tensors.back());
        expected.insert(expected.end(), statuses.begin(), statuses.end());
    }
    void check() const;

    const Encoded bytes = handMadeBytes(), weights = handMadeWeights();
    Scene scene;
    Words expected;
};

void Faults::check() const
{
    const Outcome found = decode(device(), scene);
    for (size_t i = 0; i < scene.tensors.size(); ++i) {
        CAPTURE(i);
        const SluiceFloatTensor& one = scene.tensors[i];
        const uint32_t end =
            i + 1 < scene.tensors.size() ? scene.tensors[i + 1].firstTile : scene.tiles;
        const auto begin = [&](const Words& words) {
            return words.begin() + std::ptrdiff_t(one.firstTile);
        };
        const Words is(begin(found.status), begin(found.status) + (end - one.firstTile));
        const Words shall(begin(expected), begin(expected) + (end - one.firstTile));
        CHECK(is == shall);
    }
    CHECK(found.status[scene.tiles] ==
          expected.size() - size_t(std::count(expected.begin(), expected.end(), kOk)));
    CHECK(std::equal(bytes.plain.begin(), bytes.plain.end(), found.output.begin()));
    CHECK(std::equal(weights.plain.begin(), weights.plain.end(),
                     found.output.begin() + std::ptrdiff_t(scene.tensors[1].output)));
}

} // namespace

TEST_CASE("float codec: what each fault of a tensor is called")
{
    Faults faults;
    const auto tensor = [&](const Faults::Change& change) {
        faults.add(faults.bytes, {kRegion, kRegion, kRegion}, change);
        faults.add(faults.weights, {kRegion}, change);
    };
    tensor([](SluiceFloatTensor& one) { one.type = SLUICE_FLOAT_TYPE_COUNT; });
    tensor([](SluiceFloatTensor& one) { one.type = ~0u; });
    tensor([](SluiceFloatTensor& one) { one.count = (1ull << 40) + 1; });
    tensor([](SluiceFloatTensor& one) { one.count = ~0ull; });
    tensor([](SluiceFloatTensor& one) { one.count += 1ull << 33; }); // outside the buffers
    uint64_t SluiceFloatTensor::*const addresses[] = {
        &SluiceFloatTensor::words, &SluiceFloatTensor::index, &SluiceFloatTensor::lengths,
        &SluiceFloatTensor::raw, &SluiceFloatTensor::output};
    for (uint64_t SluiceFloatTensor::*const address : addresses) {
        const uint64_t odd = address == &SluiceFloatTensor::index ? 2 : 8;
        for (const uint64_t wrong : {odd, uint64_t(1), uint64_t(1) << 40, uint64_t(1) << 63})
            tensor([&](SluiceFloatTensor& one) { one.*address += wrong; });
    }
    for (const uint64_t wrong : {uint64_t(1), uint64_t(4), uint64_t(1) << 40, uint64_t(1) << 63})
        tensor([&](SluiceFloatTensor& one) { one.wordsSize += wrong; });
    faults.add(faults.bytes, {kOk, kOk, kRegion},
               [](SluiceFloatTensor& one) { one.wordsSize -= 8; });
    faults.add(faults.bytes, {kRegion, kRegion, kRegion},
               [](SluiceFloatTensor& one) { one.wordsSize = 0; });
    faults.add(faults.bytes, {kOk, kRegion, kRegion},
               [](SluiceFloatTensor& one) { one.wordsSize = 288 * 4; });
    faults.check();
}

TEST_CASE("float codec: what each fault of an index, code lengths and words is called")
{
    Faults faults;
    const Encoded& bytes = faults.bytes;
    const auto indexed = [&](const Words& index, const Words& statuses) {
        Encoded one = bytes;
        one.index = index;
        faults.add(one, statuses);
    };
    indexed({0, 145, 288, 296}, {kOk, kCut, kOk});
    indexed({0, 143, 288, 296}, {kCut, kOk, kOk});
    indexed({0, 0, 288, 296}, {kCut, kOk, kOk});
    indexed({0, 144, 288, 295}, {kOk, kOk, kCut});
    indexed({0, 144, 288, 288}, {kOk, kOk, kCut});
    indexed({1, 144, 288, 296}, {kCut, kOk, kOk});
    indexed({0, 144, 288, 297}, {kOk, kOk, kRegion});
    indexed({0, 288, 144, 296}, {kOk, kRegion, kOk});
    indexed({0, ~0u, 288, 296}, {kRegion, kRegion, kOk});
    indexed({0, 0x20000090, 288, 296},
            {kRegion, kRegion, kOk}); // 8 * 0x20000090 is 8 * 144 in 32 bits
    indexed({~0u, 144, 288, 296}, {kRegion, kOk, kOk});
    indexed({296, 296, 296, 296}, {kCut, kCut, kCut});
    indexed({0, 0, 0, 8}, {kCut, kCut, kOk});
    // Tables of code lengths: of 'a' and 'b', of symbols around them, and of all symbols.
    const auto coded = [&](const std::vector<std::pair<uint32_t, uint32_t>>& lengths,
                           const Words& statuses) {
        Encoded one = bytes;
        one.lengths.assign(SLUICE_FLOAT_LENGTHS_SIZE, 0);
        for (const auto& [symbol, length] : lengths)
            one.lengths[symbol / 2] = uint8_t(one.lengths[symbol / 2] | length << symbol % 2 * 4);
        faults.add(one, statuses);
    };
    const auto all = [&](uint8_t both, const Words& statuses) {
        Encoded one = bytes;
        one.lengths.assign(SLUICE_FLOAT_LENGTHS_SIZE, both);
        faults.add(one, statuses);
    };
    const Words bad = {kCode, kCode, kCode};
    all(0x00, bad);
    all(0x11, bad);
    all(0xff, bad);
    all(0x99, bad);                // 256 codes of 9 bits, half of a complete code
    all(0x88, {kCut, kCut, kCut}); // 256 codes of 8 bits, which are complete
    coded({{'a', 1}}, {kOk, kOk, kOk});
    coded({{'a', 2}}, bad);
    coded({{'a', 12}}, bad);
    coded({{'a', 1}, {'b', 2}}, bad);
    coded({{'a', 1}, {'b', 1}, {'c', 12}}, bad);
    coded({{'a', 1}, {'b', 13}}, bad);
    coded({{'a', 1}, {'b', 1}, {0, 15}}, bad);
    // Tile 2 is OK, since the 8 codes of a lane take 15 bits there, and its words have 16.
    coded({{'a', 1}, {'b', 2}, {'c', 2}}, {kOk, kCut, kOk});
    coded({{'a', 2}, {'b', 2}, {'c', 1}}, {kOk, kCut, kOk}); // here 0 is 'c' and 10 is 'a'
    std::vector<std::pair<uint32_t, uint32_t>> deep = {{0, 12}, {1, 12}};
    for (uint32_t length = 1; length < 12; ++length)
        deep.emplace_back(20 + length, length);
    coded(deep, {kOk, kCut, kOk});
    deep.back().second = 12;
    coded(deep, bad);
    {
        Encoded both = bytes; // the index is checked before the code
        both.index[1] = ~0u;
        both.lengths.assign(SLUICE_FLOAT_LENGTHS_SIZE, 0);
        faults.add(both, {kRegion, kRegion, kCode});
    }
    faults.check();
}

TEST_CASE("float codec: bad tensors, indices, code lengths and words")
{
    std::mt19937 random = makeRandom(404);
    Scene scene;
    const Encoded good =
        encode(SLUICE_FLOAT_BF16, makePlain(SLUICE_FLOAT_BF16, 20000, Kind::rare, random));
    const auto add = [&](const std::function<void(Encoded&, SluiceFloatTensor&)>& change) {
        Encoded one = good;
        SluiceFloatTensor unused = {};
        change(one, unused);
        scene.add(one);
        Encoded again = one;
        change(again, scene.tensors.back());
    };
    const auto tensor = [&](const std::function<void(SluiceFloatTensor&)>& change) {
        add([&](Encoded&, SluiceFloatTensor& one) { change(one); });
    };
    add([](Encoded&, SluiceFloatTensor&) {});
    tensor([](SluiceFloatTensor& one) { one.type = SLUICE_FLOAT_TYPE_COUNT; });
    tensor([](SluiceFloatTensor& one) { one.type = ~0u; });
    tensor([](SluiceFloatTensor& one) { one.count = ~0ull; });
    tensor([](SluiceFloatTensor& one) { one.count = (1ull << 40) + 1; });
    tensor([](SluiceFloatTensor& one) { one.count += 1ull << 33; });
    tensor([](SluiceFloatTensor& one) { one.count -= 8192; });
    for (const uint64_t wrong : {8ull, 1ull, 1ull << 40, ~15ull, 1ull << 63}) {
        tensor([&](SluiceFloatTensor& one) { one.words += wrong; });
        tensor([&](SluiceFloatTensor& one) { one.index += wrong; });
        tensor([&](SluiceFloatTensor& one) { one.lengths += wrong; });
        tensor([&](SluiceFloatTensor& one) { one.raw += wrong; });
        tensor([&](SluiceFloatTensor& one) { one.output += wrong; });
        tensor([&](SluiceFloatTensor& one) { one.wordsSize += wrong; });
    }
    tensor([](SluiceFloatTensor& one) { one.wordsSize -= 8; });
    tensor([](SluiceFloatTensor& one) { one.wordsSize = 0; });
    const auto encoded = [&](const std::function<void(Encoded&)>& change) {
        add([&](Encoded& one, SluiceFloatTensor&) { change(one); });
    };
    encoded([](Encoded& one) { one.index[1] = ~0u; });
    encoded([](Encoded& one) { std::swap(one.index[1], one.index[2]); });
    encoded([](Encoded& one) { one.index[1] -= 1; });
    encoded([](Encoded& one) { one.index[1] += 1; });
    encoded([](Encoded& one) { one.index[1] = 0; });
    encoded([](Encoded& one) { std::fill(one.lengths.begin(), one.lengths.end(), uint8_t(0)); });
    encoded([](Encoded& one) { std::fill(one.lengths.begin(), one.lengths.end(), uint8_t(0xff)); });
    encoded([](Encoded& one) { std::fill(one.lengths.begin(), one.lengths.end(), uint8_t(0x11)); });
    encoded([](Encoded& one) { std::fill(one.lengths.begin(), one.lengths.end(), uint8_t(0x88)); });
    encoded([](Encoded& one) { one.lengths[0] = 0x0d; });
    encoded([](Encoded& one) { std::fill(one.words.begin(), one.words.end(), 0u); });
    encoded([](Encoded& one) { std::fill(one.words.begin(), one.words.end(), ~0u); });
    compareWithReference(scene);
}

TEST_CASE("float codec: mutated words, lengths, signs and mantissas, counts and types")
{
    std::mt19937 random = makeRandom(405);
    const uint32_t total = environmentNumber("SLUICE_MUTATIONS", 100);
    uint32_t tiles = 0, refused = 0;
    for (uint32_t done = 0; done < total; done += 50) {
        Scene scene;
        for (uint32_t i = 0; i < 50; ++i) {
            const uint32_t type = uint32_t(random()) % SLUICE_FLOAT_TYPE_COUNT;
            Encoded one =
                encode(type, makePlain(type, 1 + random() % 3000, Kind(random() % 5), random));
            for (uint32_t flips = 1 + uint32_t(random()) % 4; flips > 0; --flips) {
                const uint32_t where = uint32_t(random()) % 8;
                if (where < 4 || (where == 4 && one.raw.empty()))
                    one.words[random() % one.words.size()] ^= 1u << random() % 32;
                else if (where == 4)
                    one.raw[random() % one.raw.size()] ^= uint8_t(1u << random() % 8);
                else
                    one.lengths[random() % one.lengths.size()] ^= uint8_t(1u << random() % 8);
            }
            if (random() % 4 == 0)
                one.index.back() = uint32_t(random() % (one.words.size() / 2 + 2));
            scene.add(one);
            // Outputs must not overlap. So elements do not become larger, and their number grows
            // only so far that they leave the buffers.
            SluiceFloatTensor& tensor = scene.tensors.back();
            if (random() % 8 == 0)
                tensor.count = random() % 2 == 0 ? 1 + random() % tensor.count
                                                 : tensor.count ^ 1ull << (32 + random() % 32);
            const uint32_t other = uint32_t(random()) % (2 * SLUICE_FLOAT_TYPE_COUNT);
            if (random() % 8 == 0 && sluiceFloatElementSize(other) <= sluiceFloatElementSize(type))
                tensor.type = other;
        }
        tiles += scene.tiles;
        refused += compareWithReference(scene);
    }
    CHECK(refused > tiles / 10);
    CHECK(refused < tiles - tiles / 10);
}

TEST_SUITE_END();
