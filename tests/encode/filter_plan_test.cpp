// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests which filters files get: each file type, segments and tiles, what a caller forces or
// forbids, damaged files.
#include <sluice/sluice_filter.h>

#include "tests/support/filters.h"
#include "tests/support/images.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

using namespace sluice::test;

namespace {

SluiceFilterPlanInfo planInfo(uint32_t maxTileSize = 1u << 18)
{
    SluiceFilterPlanInfo info = {};
    info.maxTileSize = maxTileSize;
    info.features = SLUICE_FILTER_ALL;
    info.effort = 1;
    return info;
}

struct Plan {
    Plan(const Bytes& file, const SluiceFilterPlanInfo& info)
    {
        REQUIRE(sluiceCreateFilterPlan(file.data(), file.size(), &info, &handle) == SLUICE_OK);
        uint32_t count = 0;
        const SluiceFilterSegment* list = sluiceGetFilterSegments(handle, &count);
        segments.assign(list, list + count);
    }
    ~Plan() { sluiceDestroyFilterPlan(handle); }
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    bool filters() const
    {
        return std::any_of(segments.begin(), segments.end(),
                           [](const auto& one) { return one.description != nullptr; });
    }
    std::string text() const // of all segments
    {
        std::string all;
        for (const SluiceFilterSegment& segment : segments) {
            char line[1000] = "plain";
            if (segment.description != nullptr)
                REQUIRE(sluiceGetFilterText(segment.description, segment.descriptionSize, line,
                                            sizeof line) == SLUICE_OK);
            all += std::string(line) + "\n";
        }
        return all;
    }

    SluiceFilterPlan handle = nullptr;
    std::vector<SluiceFilterSegment> segments;
};

// Checks a plan: its segments must cover the file, its parameters hold their descriptions, and
// every tile, filtered and unfiltered again, be as before.
void checkPlan(const Plan& plan, const Bytes& file, uint32_t maxTileSize)
{
    uint32_t parameterSize = 0;
    const uint8_t* parameters =
        static_cast<const uint8_t*>(sluiceGetFilterParameters(plan.handle, &parameterSize));
    CHECK((parameters != nullptr) == plan.filters());
    CHECK(parameterSize % 4 == 0);
    size_t at = 0;
    for (const SluiceFilterSegment& segment : plan.segments) {
        const size_t end = at + size_t(segment.size);
        REQUIRE(end <= file.size());
        REQUIRE(segment.size != 0);
        CHECK(segment.tileSize <= maxTileSize);
        CHECK((end == file.size() || (segment.size % 4 == 0 && segment.tileSize % 4 == 0)));
        CHECK((segment.filterOffset != 0) == (segment.description != nullptr));
        if (segment.description != nullptr) {
            REQUIRE(segment.filterOffset >= 4);
            REQUIRE(uint64_t(segment.filterOffset) + 4 + segment.descriptionSize <= parameterSize);
            const uint8_t* item = parameters + segment.filterOffset - 4;
            const uint32_t head[2] = {1, segment.descriptionSize}; // kind 1: a filter; no flags
            CHECK(std::memcmp(item, head, 8) == 0);
            CHECK(std::memcmp(item + 8, segment.description, segment.descriptionSize) == 0);
        }
        for (size_t size; at < end; at += size) {
            size = std::min<size_t>(segment.tileSize, end - at);
            if (segment.description == nullptr) continue;
            Bytes filtered(size), back(size);
            REQUIRE(sluiceApplyFilter(segment.description, segment.descriptionSize, &file[at],
                                      filtered.data(), size) == SLUICE_OK);
            REQUIRE(sluiceUndoFilter(segment.description, segment.descriptionSize, filtered.data(),
                                     back.data(), size) == SLUICE_OK);
            REQUIRE(std::memcmp(back.data(), &file[at], size) == 0);
        }
    }
    CHECK(at == file.size());
}

void append(Bytes& bytes, const void* from, size_t size)
{
    bytes.insert(bytes.end(), static_cast<const uint8_t*>(from),
                 static_cast<const uint8_t*>(from) + size);
}

template <typename T>
void append(Bytes& bytes, T value)
{
    append(bytes, &value, sizeof value);
}

Bytes tgaHeader(uint8_t type, uint16_t width, uint16_t height, uint8_t bits)
{
    Bytes file(18);
    file[2] = type;
    file[12] = uint8_t(width);
    file[13] = uint8_t(width >> 8);
    file[14] = uint8_t(height);
    file[15] = uint8_t(height >> 8);
    file[16] = bits;
    return file;
}

// Returns a picture that the median predicts best: each pixel is the median of its neighbours plus
// noise.
Bytes makeTga(uint16_t width, uint16_t height, std::mt19937& random)
{
    Bytes file = tgaHeader(2, width, height, 24), values(size_t(width) * height);
    for (size_t i = 0; i < values.size(); ++i) {
        const bool column = i % width != 0, row = i >= width;
        const uint32_t left = column ? values[i - 1] : 0, up = row ? values[i - width] : 100;
        const uint32_t upLeft = column && row ? values[i - width - 1] : up;
        values[i] = uint8_t(sluice::filterMedian(left, up, upLeft) + random() % 9 - 4);
        for (const int tint : {-10, 0, 15})
            file.push_back(uint8_t(values[i] + tint + int(random() % 2)));
    }
    return file;
}

Bytes makeRleTga(std::mt19937& random)
{
    Bytes file = tgaHeader(10, 256, 256, 32);
    uint8_t value = 0;
    for (uint32_t pixels = 0; pixels < 65536;) {
        const uint32_t count = std::min(1 + uint32_t(random() % 128), 65536 - pixels);
        const bool run = random() % 3 == 0;
        file.push_back(uint8_t((count - 1) | (run ? 128 : 0)));
        for (uint32_t p = 0; p < (run ? 1 : count); ++p) {
            value = uint8_t(value + random() % 3);
            for (const int tint : {0, 3, 9})
                file.push_back(uint8_t(value + tint));
            file.push_back(255);
        }
        pixels += count;
    }
    return file;
}

Bytes makeWav(uint32_t samples, uint16_t channels)
{
    Bytes file;
    const uint32_t dataSize = samples * channels * 2;
    append(file, "RIFF", 4);
    append(file, dataSize + 36);
    append(file, "WAVEfmt ", 8);
    append(file, uint32_t(16));
    append(file, uint16_t(1));
    append(file, channels);
    append(file, uint32_t(22050));
    append(file, uint32_t(22050 * 2 * channels));
    append(file, uint16_t(2 * channels));
    append(file, uint16_t(16));
    append(file, "data", 4);
    append(file, dataSize);
    for (uint32_t i = 0; i < samples; ++i)
        for (uint32_t c = 0; c < channels; ++c)
            append(file, int16_t(9000 * std::sin(i * 0.021) + 3000 * std::sin(i * 0.173 + c)));
    return file;
}

// Returns a model with one surface, whose vertices move in waves from frame to frame.
Bytes makeMd3()
{
    constexpr uint32_t frames = 30, vertices = 120, triangles = 200;
    const auto words = [](Bytes& to, std::initializer_list<uint32_t> values) {
        for (const uint32_t value : values)
            append(to, value);
    };
    Bytes surface;
    append(surface, "IDP3", 4);
    surface.resize(68);
    const uint32_t atTriangles = 108, atSt = atTriangles + 12 * triangles,
                   atVertices = atSt + 8 * vertices;
    const uint32_t end = atVertices + 8 * vertices * frames;
    words(surface,
          {0, frames, 0, vertices, triangles, atTriangles, atTriangles, atSt, atVertices, end});
    for (uint32_t t = 0; t < triangles; ++t)
        words(surface, {t % vertices, (t + 1) % vertices, (t + 7) % vertices});
    for (uint32_t v = 0; v < vertices; ++v) {
        append(surface, float(v) / vertices);
        append(surface, std::sqrt(float(v)));
    }
    for (uint32_t f = 0; f < frames; ++f)
        for (uint32_t v = 0; v < vertices; ++v) {
            const int16_t place[3] = {int16_t(v * 113 % 4001 + 3 * f), int16_t(v * 771 % 3001 - f),
                                      int16_t(v * v % 2003)};
            append(surface, place, sizeof place);
            append(surface, uint16_t(v * 31 + f));
        }
    Bytes file;
    append(file, "IDP3", 4);
    words(file, {15});
    file.resize(72);
    words(file,
          {0, frames, 0, 1, 0, 108, 108 + 56 * frames, 108 + 56 * frames, 108 + 56 * frames + end});
    for (uint32_t f = 0; f < frames; ++f) {
        for (uint32_t k = 0; k < 10; ++k)
            append(file, float(k) + 0.01f * float(f));
        append(file, "a frame of it  \0", 16);
    }
    append(file, surface.data(), surface.size());
    return file;
}

// Returns a map with vertices and lightmaps; all other lumps are empty.
Bytes makeBsp(std::mt19937& random)
{
    Bytes file;
    append(file, "IBSP", 4);
    append(file, uint32_t(46));
    const uint32_t vertexCount = 2000, lightmapSize = 6 * 49152;
    for (uint32_t lump = 0; lump < 17; ++lump) {
        append(file, uint32_t(lump == 14 ? 144 + 44 * vertexCount : 144));
        append(file, uint32_t(lump == 10 ? 44 * vertexCount : lump == 14 ? lightmapSize : 0));
    }
    for (uint32_t v = 0; v < vertexCount; ++v) {
        for (uint32_t k = 0; k < 10; ++k)
            append(file, k < 7 ? float(v / 4) * 0.5f + float(k) : k == 9 ? 1.0f : 0.0f);
        append(file, uint32_t(0xff202020 + (v / 4) * 0x010101));
    }
    for (uint32_t i = 0; i < lightmapSize / 3; ++i) {
        const uint8_t light = uint8_t(60 + 40 * std::sin(i % 128 * 0.1) +
                                      40 * std::cos(i / 128 * 0.07) + double(random() % 3));
        file.insert(file.end(), {light, uint8_t(light + 2), uint8_t(light + 5)});
    }
    return file;
}

Bytes makeDds(std::mt19937& random)
{
    Bytes file(128);
    std::memcpy(&file[0], "DDS ", 4);
    const uint32_t words[] = {124, 0, 256, 256, 0, 0, 3};
    std::memcpy(&file[4], words, sizeof words);
    const uint32_t pixelFormat[] = {32, 4};
    std::memcpy(&file[76], pixelFormat, sizeof pixelFormat);
    std::memcpy(&file[84], "DXT1", 4);
    for (uint32_t blocks = 64 * 64; blocks >= 16 * 16; blocks /= 4)
        for (uint32_t b = 0; b < blocks; ++b) {
            const uint32_t grey = 8 + random() % 16;
            append(file, uint16_t(grey << 11 | (2 * grey + random() % 2) << 5 | grey));
            append(file, uint16_t((grey - 8) << 11 | (2 * grey - 16) << 5 | (grey - 8)));
            uint32_t indices = 0x01010101u * (random() % 256); // the pixels of a column are alike
            indices ^= 1u << random() % 32;
            append(file, indices);
        }
    return file;
}

Bytes makeGlb()
{
    constexpr uint32_t count = 3000;
    std::string document = "{\"bufferViews\":[{\"buffer\":0,\"byteOffset\":0,\"byteLength\":" +
                           std::to_string(count * 20) +
                           ",\"byteStride\":20}],\"accessors\":[{\"bufferView\":0,"
                           "\"componentType\":5126,\"type\":\"VEC3\",\"count\":3000}"
                           ","
                           "{\"bufferView\":0,\"byteOffset\":12,\"componentType\":5123,\"type\":"
                           "\"VEC2\",\"count\":3000}]}";
    document.resize((document.size() + 3) / 4 * 4, ' ');
    Bytes file;
    append(file, "glTF", 4);
    append(file, uint32_t(2));
    append(file, uint32_t(28 + document.size() + count * 20));
    append(file, uint32_t(document.size()));
    append(file, "JSON", 4);
    append(file, document.data(), document.size());
    append(file, uint32_t(count * 20));
    append(file, "BIN\0", 4);
    for (uint32_t v = 0; v < count; ++v) {
        for (const float k : {0.01f, 0.003f, -0.002f})
            append(file, std::sin(float(v) * k));
        append(file, uint16_t(v * 20));
        append(file, uint16_t(65535 - v * 7));
        append(file, uint32_t(0));
    }
    return file;
}

struct NamedFile {
    const char* name;
    Bytes bytes;
    const char* expected; // part of the text
};

std::vector<NamedFile> files()
{
    std::mt19937 random = makeRandom(310);
    return {{"image.tga", makeTga(300, 260, random), "median"},
            {"packets.tga", makeRleTga(random), "packets"},
            {"mono.wav", makeWav(40000, 1), "u16 left"},
            {"stereo.wav", makeWav(90000, 2), "u16"},
            {"model.md3", makeMd3(), "width 120"},
            {"map.bsp", makeBsp(random), "width 128"},
            {"blocks.dds", makeDds(random), "u16"},
            {"vertices.glb", makeGlb(), "u32"}};
}

} // namespace

TEST_CASE("filter plan: every type of file")
{
    for (const NamedFile& file : files()) {
        CAPTURE(std::string(file.name));
        for (const uint32_t maxTileSize : {1u << 18, 65536u, 4096u}) {
            const Plan plan(file.bytes, planInfo(maxTileSize)),
                again(file.bytes, planInfo(maxTileSize));
            checkPlan(plan, file.bytes, maxTileSize);
            CHECK(plan.filters());
            CHECK(plan.text() == again.text());
            CAPTURE(plan.text());
            if (maxTileSize == 1u << 18)
                CHECK(plan.text().find(file.expected) != std::string::npos);
        }
    }
}

TEST_CASE("filter plan: what is forbidden is not used")
{
    const struct {
        uint32_t feature;
        const char* text;
    } features[] = {{SLUICE_FILTER_PLANES, "planes"}, {SLUICE_FILTER_DIFFERENCE, "left"},
                    {SLUICE_FILTER_UP, " up"},        {SLUICE_FILTER_GRADIENT, "gradient"},
                    {SLUICE_FILTER_MEDIAN, "median"}, {SLUICE_FILTER_SUBTRACT, " -"},
                    {SLUICE_FILTER_FLOAT, "float"},   {SLUICE_FILTER_TGA_PACKETS, "packets"},
                    {SLUICE_FILTER_BLOCKS, "block"}};
    bool used[9] = {};
    for (const NamedFile& file : files()) {
        CAPTURE(std::string(file.name));
        for (size_t f = 0; f < 9; ++f) {
            SluiceFilterPlanInfo info = planInfo();
            used[f] = used[f] ||
                      Plan(file.bytes, info).text().find(features[f].text) != std::string::npos;
            info.features &= ~features[f].feature;
            const Plan plan(file.bytes, info);
            checkPlan(plan, file.bytes, info.maxTileSize);
            CHECK(plan.text().find(features[f].text) == std::string::npos);
        }
        SluiceFilterPlanInfo nothing = planInfo();
        nothing.features = 0;
        CHECK(!Plan(file.bytes, nothing).filters());
    }
    // These features must have been used, or leaving them out shows nothing.
    CHECK((used[0] && used[1] && used[4] && used[7] && used[8]));
}

TEST_CASE("filter plan: noise stays as it is unless forced; records on demand")
{
    std::mt19937 random = makeRandom(311);
    Bytes noise = tgaHeader(2, 100, 100, 24);
    const Bytes pixels = randomBytes(random, 30000);
    append(noise, pixels.data(), pixels.size());
    SluiceFilterPlanInfo info = planInfo();
    CHECK(!Plan(noise, info).filters());
    info.force = 1;
    const Plan forced(noise, info);
    CHECK(forced.filters());
    checkPlan(forced, noise, info.maxTileSize);

    Bytes table; // of an unknown type
    for (uint32_t i = 0; i < 5000; ++i) {
        append(table, uint32_t(1000 + 3 * i));
        append(table, uint32_t(random()));
        append(table, uint32_t(i / 7));
    }
    info = planInfo();
    info.layout = SLUICE_FILTER_LAYOUT_RECORDS;
    info.stride = 12;
    info.columnSize = 4;
    const Plan records(table, info);
    CHECK(records.text().find("left") != std::string::npos);
    checkPlan(records, table, info.maxTileSize);
    info.begin = 8;
    checkPlan(Plan(table, info), table, info.maxTileSize);
    info.begin = table.size() + 5;
    CHECK(!Plan(table, info).filters());
    CHECK(Plan(Bytes(), planInfo()).segments.empty());
    CHECK(!Plan(Bytes(5000, 1), planInfo()).filters());
}

TEST_CASE("filter plan: arguments")
{
    const Bytes file(100);
    SluiceFilterPlan plan = nullptr;
    const auto status = [&](void (*change)(SluiceFilterPlanInfo&)) {
        SluiceFilterPlanInfo info = planInfo();
        info.layout = SLUICE_FILTER_LAYOUT_RECORDS;
        info.stride = info.columnSize = 4;
        change(info);
        const SluiceStatus result = sluiceCreateFilterPlan(file.data(), file.size(), &info, &plan);
        sluiceDestroyFilterPlan(plan);
        return result;
    };
    CHECK(status([](SluiceFilterPlanInfo&) {}) == SLUICE_OK);
    for (const auto change : {+[](SluiceFilterPlanInfo& i) { i.maxTileSize = 4092; },
                              +[](SluiceFilterPlanInfo& i) { i.maxTileSize = 4098; },
                              +[](SluiceFilterPlanInfo& i) { i.maxTileSize = (1u << 20) + 4; },
                              +[](SluiceFilterPlanInfo& i) { i.features = SLUICE_FILTER_ALL + 1; },
                              +[](SluiceFilterPlanInfo& i) { i.effort = 3; },
                              +[](SluiceFilterPlanInfo& i) { i.force = 2; },
                              +[](SluiceFilterPlanInfo& i) { i.layout = 3; },
                              +[](SluiceFilterPlanInfo& i) { i.stride = 0; },
                              +[](SluiceFilterPlanInfo& i) { i.stride = 132; },
                              +[](SluiceFilterPlanInfo& i) { i.stride = 6; },
                              +[](SluiceFilterPlanInfo& i) { i.columnSize = 3; },
                              +[](SluiceFilterPlanInfo& i) { i.rowRecords = (1u << 20) + 1; }})
        CHECK(status(change) == SLUICE_ERROR_ARGUMENT);
    const SluiceFilterPlanInfo info = planInfo();
    CHECK(sluiceCreateFilterPlan(nullptr, 1, &info, &plan) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCreateFilterPlan(file.data(), 1, nullptr, &plan) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCreateFilterPlan(file.data(), 1, &info, nullptr) == SLUICE_ERROR_ARGUMENT);
}

TEST_CASE("filter plan: damaged files")
{
    std::mt19937 random = makeRandom(312);
    const std::vector<NamedFile> all = files();
    SluiceFilterPlanInfo info = planInfo(8192);
    info.effort = 0;
    for (uint32_t i = 0; i < std::min(400u, environmentNumber("SLUICE_MUTATIONS", 160)); ++i) {
        const NamedFile& file = all[i % all.size()];
        CAPTURE(std::string(file.name));
        CAPTURE(i);
        Bytes bytes = file.bytes;
        if (i % 3 == 0) bytes.resize(random() % bytes.size());
        for (uint32_t k = 0; k < 1 + i % 4 && !bytes.empty(); ++k)
            bytes[random() % std::min<size_t>(bytes.size(), i % 2 == 0 ? 200 : bytes.size())] =
                uint8_t(random() % 3 == 0 ? 255 : random());
        info.force = i / 8 % 2;
        checkPlan(Plan(bytes, info), bytes, info.maxTileSize);
    }
}

namespace {

// Returns where the plan's tiles begin, and the end of the file.
std::vector<uint64_t> tileBegins(const Plan& plan)
{
    std::vector<uint64_t> begins;
    uint64_t at = 0;
    for (const SluiceFilterSegment& segment : plan.segments) {
        for (uint64_t offset = 0; offset < segment.size; offset += segment.tileSize)
            begins.push_back(at + offset);
        at += segment.size;
    }
    begins.push_back(at);
    return begins;
}

// Checks that levels of 64 KiB or more (in DDS, single images of them) have tiles of their own, and
// that what lies between two of them is one tile, if it fits.
void checkTilesOfLevels(const Plan& plan, const Bytes& file, uint32_t maxTileSize)
{
    const ParsedImage image = parseImage(file);
    REQUIRE(image.status == SLUICE_OK);
    const bool together = image.info.container == SLUICE_IMAGE_KTX2;
    const uint64_t images = together ? 1 : uint64_t(image.info.layers) * image.info.faces;
    const std::vector<uint64_t> begins = tileBegins(plan);
    std::vector<std::pair<uint64_t, uint64_t>> large; // begin and end
    for (uint64_t i = 0; i < images; ++i)
        for (uint32_t level = 0; level < image.info.levels; ++level) {
            const SluiceImageLevel& one = image.levels[level];
            const uint64_t begin = one.offset + i * one.imageStride,
                           size = together ? one.size : one.imageSize;
            if (size >= 65536) large.emplace_back(begin, begin + size);
        }
    std::sort(large.begin(), large.end());
    for (const auto& [from, to] : large) {
        const uint64_t cut = from / 4 * 4;
        CHECK(std::count(begins.begin(), begins.end(), cut) == 1);
        const bool isLast = to + 4 > file.size();
        if (!isLast) // the next level may begin a few bytes later
            CHECK(std::any_of(begins.begin(), begins.end(), [&, last = to](uint64_t begin) {
                return begin + 3 >= last && begin < last + 64;
            }));
        // The first tile has the header and the small levels that follow it.
        if (from == large[0].first && cut <= maxTileSize) CHECK(begins[1] == cut);
    }
}

} // namespace

TEST_CASE("filter plan: images of every format")
{
    SluiceFilterPlanInfo info = planInfo();
    info.layout = SLUICE_FILTER_LAYOUT_IMAGE;
    for (const uint32_t format : allFormats()) {
        SluiceImageFormat row;
        REQUIRE(sluiceGetImageFormat(format, &row) == SLUICE_OK);
        TestImage image(format, 300, 300, 0, 0, 1, 9);
        CAPTURE(image.text());
        std::vector<Bytes> files = {makeKtx2(image)};
        if (row.dxgi != 0) files.push_back(makeDds10(image, row.dxgi));
        for (const Bytes& file : files) {
            for (const uint32_t force : {0u, 1u}) {
                info.effort = 0;
                info.force = force;
                const Plan plan(file, info);
                checkPlan(plan, file, info.maxTileSize);
                checkTilesOfLevels(plan, file, info.maxTileSize);
                if (force != 0) CHECK(plan.filters());
            }
        }
    }
}

TEST_CASE("filter plan: images of every shape")
{
    SluiceFilterPlanInfo info = planInfo();
    info.layout = SLUICE_FILTER_LAYOUT_IMAGE;
    info.effort = 0;
    for (const uint32_t maxTileSize : {1u << 18, 65536u}) {
        info.maxTileSize = maxTileSize;
        for (const TestImage& image :
             {TestImage(9, 301, 267, 0, 3, 1, 4), TestImage(37, 150, 150, 0, 0, 6, 8),
              TestImage(145, 260, 260, 0, 2, 6, 3), TestImage(41, 40, 40, 40, 0, 1, 6),
              TestImage(37, 3, 30000, 0, 0, 1, 15), TestImage(37, 8, 8, 0, 0, 1, 1)}) {
            CAPTURE(image.text());
            SluiceImageFormat row;
            REQUIRE(sluiceGetImageFormat(image.format, &row) == SLUICE_OK);
            for (const Bytes& file : {makeKtx2(image), makeDds10(image, row.dxgi)}) {
                for (const uint32_t features : {uint32_t(SLUICE_FILTER_ALL), 0u}) {
                    info.features = features;
                    const Plan plan(file, info);
                    checkPlan(plan, file, maxTileSize);
                    checkTilesOfLevels(plan, file, maxTileSize);
                    CHECK((features != 0 || !plan.filters()));
                }
            }
        }
    }
    // A file that is no image, or a supercompressed one, must be planned like any other file.
    info.features = SLUICE_FILTER_ALL;
    SluiceFilterPlanInfo other = info;
    other.layout = SLUICE_FILTER_LAYOUT_AUTO;
    for (const Bytes& file :
         {makeKtx2({37, 300, 300, 0, 0, 1, 2}, 2, packZstd), Bytes(100000, 3), Bytes()})
        CHECK(Plan(file, info).text() == Plan(file, other).text());
}

TEST_CASE("filter plan: a base has as many bytes as the columns that take it")
{
    // Blocks of BC2. Their first columns are wider than the colour column that others may subtract.
    // A fuzzer found that for these bytes the smallest result has all columns in one group, with a
    // base.
    const uint8_t blocks[64] = {0,  0,  0,  0,  0,  0,   0,  0,   0,  0, 0, 110, 1,   0, 0,   0,
                                0,  0,  0,  0,  0,  0,   0,  0,   0,  0, 0, 0,   0,   0, 0,   0,
                                0,  0,  82, 0,  2,  0,   0,  110, 1,  0, 0, 0,   254, 1, 171, 75,
                                84, 88, 32, 48, 48, 187, 43, 0,   16, 9, 0, 16,  0,   0, 226, 226};
    TestImage image(135, 8, 8, 0, 0, 1, 1);
    image.slices[0][0][0].assign(std::begin(blocks), std::end(blocks));
    const Bytes file = makeDds10(image, 74);
    SluiceFilterPlanInfo info = planInfo();
    info.force = 1;
    for (info.effort = 0; info.effort <= 2; ++info.effort) {
        const Plan plan(file, info);
        checkPlan(plan, file, info.maxTileSize);
        CHECK(plan.filters());
    }
}
