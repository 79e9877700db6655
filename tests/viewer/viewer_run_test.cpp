// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the viewer as a user does, on a map that is made here. It is a program of its own, since it
// runs other programs, on one device.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>

#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tests/support/images.h"
#include "tests/viewer/viewer_maps.h"
#include "test_paths.h"

namespace fs = std::filesystem;
using namespace sluice::test;

namespace {

constexpr uint32_t kRooms = 14;
constexpr uint32_t kSide = 256; // in texels

std::string readText(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    REQUIRE_MESSAGE(file, path.string());
    return std::string(std::istreambuf_iterator<char>(file), {});
}

void writeText(const fs::path& path, const std::string& text)
{
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
}

// Returns a picture of noise in colours of its own, so that every level of every texture differs
// from all others. The grate's has holes.
std::string targa(uint32_t seed, bool hasHoles)
{
    std::string file = {0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    for (const uint32_t number : {kSide, kSide}) {
        file += char(number & 255);
        file += char(number >> 8);
    }
    file += char(32);
    file += char(8); // bits of alpha
    std::mt19937 random(seed);
    for (uint32_t y = 0; y < kSide; ++y) {
        for (uint32_t x = 0; x < kSide; ++x) {
            const uint32_t shade = random() % 128;
            for (uint32_t channel = 0; channel < 3; ++channel)
                file += char(shade + (seed * 37 + channel * 71) % 128);
            file += char(hasHoles && (x / 16 + y / 16) % 2 == 0 ? 0 : 255);
        }
    }
    return file;
}

std::string vectors() { return readText(SLUICE_TEST_DATA_DIR "/uastc/uastc.bin"); }

// Returns a KTX2 file of UASTC, RGBA, with all levels. `blocks` are repeated in each.
std::string uastc(uint32_t layers, const std::string& blocks)
{
    TestImage image(0, kSide, kSide, 0, layers, 1, 9);
    image.channel = 3;
    for (auto& level : image.slices)
        for (auto& slices : level)
            for (size_t i = 0; i < slices[0].size(); ++i)
                slices[0][i] = uint8_t(blocks[i % blocks.size()]);
    const Bytes file = makeKtx2(image);
    return std::string(file.begin(), file.end());
}

class Run {
public:
    Run()
    {
        std::string pattern = (fs::temp_directory_path() / "sluice-viewer-XXXXXX").string();
        REQUIRE(mkdtemp(pattern.data()) != nullptr);
        m_path = pattern;
        static std::string archive; // packed only once, for all cases
        if (archive.empty()) {
            makeGame();
            archive = readText(m_path / "game.sluice");
        }
        writeText(m_path / "game.sluice", archive);
    }
    ~Run() { fs::remove_all(m_path); }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    void tool(const std::string& arguments) const
    {
        REQUIRE_MESSAGE(shell("'" SLUICE_TOOL_PATH "' " + arguments) == 0, read(".err"));
    }
    int shell(const std::string& command) const
    {
        const int result = std::system(
            ("cd '" + m_path.string() + "' && " + command + " >.out 2>.err </dev/null").c_str());
        REQUIRE(WIFEXITED(result));
        return WEXITSTATUS(result);
    }
    // Returns the viewer's exit code. If it is not 0, shows the viewer's output.
    int view(const std::string& arguments) const
    {
        const char* more = std::getenv("SLUICE_VIEWER_ARGUMENTS");
        const int code = shell("'" SLUICE_VIEWER_PATH "' game.sluice --size 160x120 --ring 16 " +
                               arguments + " " + (more != nullptr ? more : ""));
        if (code != 0) MESSAGE(readText(m_path / ".out") << readText(m_path / ".err"));
        return code;
    }
    std::string read(const std::string& name) const { return readText(m_path / name); }
    nlohmann::json json(const std::string& name) const { return nlohmann::json::parse(read(name)); }
    const fs::path& path() const { return m_path; }

private:
    void makeGame() const
    {
        const std::vector<uint8_t> map = makeRooms(kRooms).bytes();
        writeText(m_path / "game/maps/rooms.bsp", std::string(map.begin(), map.end()));
        const std::vector<uint8_t> small = makeRooms(2).bytes();
        writeText(m_path / "game/maps/small.bsp", std::string(small.begin(), small.end()));
        for (uint32_t i = 0; i < kRooms; ++i)
            writeText(m_path / ("game/textures/test/wall" + std::to_string(i) + ".tga"),
                      targa(i, false));
        writeText(m_path / "game/textures/test/curve.tga", targa(kRooms, false));
        writeText(m_path / "game/textures/test/bars.tga", targa(kRooms + 1, true));
        writeText(m_path / "game/scripts/test.shader",
                  "textures/test/grate\n{\n{\nmap textures/test/bars.tga\nalphaFunc GE128\n}\n}\n");
        tool("pack --images -c gdeflate -l 1 -o game.sluice game");
    }

    fs::path m_path;
};

} // namespace

TEST_CASE("viewer: levels come and go under a budget, and the frame equals the full one")
{
    Run run;
    // Each texture has 349,524 bytes: its tail has 21,844, and it has 87,380 without the largest
    // level. Not even those of all textures fit, so rooms that were left must make room.
    REQUIRE(run.view("--map rooms --memory 1.2 --compare --json out.json --html out.html "
                     "--screenshot out.ppm --bindless off") == 0);
    const nlohmann::json out = run.json("out.json");
    CHECK(out["residency"]["textures"] == kRooms + 2);
    CHECK(out["residency"]["raised"] > kRooms + 2 + 4); // more than only tails
    CHECK(out["residency"]["lowered"] >= 2);
    CHECK(out["residency"]["damaged"] == 0);
    CHECK(out["bytes"]["peak_images"] <= out["budget_bytes"]);
    CHECK(out["bytes"]["decoded"] > 349524);
    CHECK(out["failed_groups"] == 0);
    CHECK(out["validation_errors"] == 0);
    CHECK(out["compare"]["equal"] == true);
    CHECK(out["compare"]["reduced_textures"] >= 3); // otherwise nothing was compared
    CHECK(out["latency_ms"]["tail"]["count"] >= kRooms + 2);
    CHECK(out["latency_ms"]["level"]["count"] >= 4);
    CHECK(out["batches"]["count"] >= 1);

    // The picture shows the map, so it has many colours.
    const std::string picture = run.read("out.ppm");
    REQUIRE(picture.size() == 15 + 160 * 120 * 3);
    std::set<std::string> colours;
    for (size_t i = 15; i < picture.size(); i += 3)
        colours.insert(picture.substr(i, 3));
    CHECK(colours.size() > 300);

    const std::string page = run.read("out.html");
    CHECK(page.find("\"plots\":[{\"title\":\"GPU time of a frame\"") != std::string::npos);
    CHECK(page.find("\"latency, tail\"") != std::string::npos);
    CHECK(page.find("http") == std::string::npos); // nothing comes from other places
    CHECK(page.find("nan") == std::string::npos);
    // At last every texture is there with some of its levels, but not all with all of them.
    const std::string before = "application/json\">";
    const size_t begin = page.find(before) + before.size();
    const nlohmann::json data =
        nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
    for (const nlohmann::json& plot : data["plots"]) {
        if (plot["title"] != "Residency by level") continue;
        uint32_t textures = 0;
        for (const nlohmann::json& line : plot["lines"])
            textures += line["values"].back().get<uint32_t>();
        CHECK(textures == kRooms + 2);
        CHECK(plot["lines"][0]["values"].back() < kRooms + 2);
    }
}

TEST_CASE("viewer: a tour of maps, the same frame with and without descriptor indexing")
{
    Run run;
    REQUIRE(run.view("--tour --frames 240 --memory 4 --screenshot a.ppm --json a.json") == 0);
    REQUIRE(run.view("--tour --frames 240 --memory 4 --screenshot b.ppm --bindless off") == 0);
    CHECK(run.read("a.ppm") == run.read("b.ppm"));
    CHECK(run.json("a.json")["maps"] == "rooms small");
    // Each of the two maps has a time for its file and one for what is made of it.
    CHECK(run.json("a.json")["latency_ms"]["map"]["count"] >= 4);
}

TEST_CASE("viewer: the GPU decodes")
{
    Run run;
    REQUIRE(run.view("--map small --frames 90 --memory 4 --budget-ms 100 --context gpu --compare "
                     "--json out.json") == 0);
    const nlohmann::json out = run.json("out.json");
    CHECK(out["context"] == "GPU");
    CHECK(out["compare"]["equal"] == true);
    CHECK(out["bytes"]["decoded"] > 349524);
    CHECK(out["failed_groups"] == 0);
}

TEST_CASE("viewer: batches beside the frames, and the frame equals the full one")
{
    Run run;
    REQUIRE(run.view("--map rooms --frames 600 --memory 1.2 --async --compare --context cpu "
                     "--json out.json --html out.html") == 0);
    const auto check = [&](const nlohmann::json& out) {
        CHECK((out["queue"] == "own" || out["queue"] == "shared"));
        CHECK(out["batches"]["count"] >= 1);
        CHECK(out["compare"]["equal"] == true);
        CHECK(out["failed_groups"] == 0);
        CHECK(out["validation_errors"] == 0);
    };
    const nlohmann::json out = run.json("out.json");
    check(out);
    CHECK(out["residency"]["lowered"] >= 1);
    CHECK(out["compare"]["reduced_textures"] >= 3);
    CHECK(run.read("out.html").find("beside it") != std::string::npos);

    REQUIRE(run.view("--map small --frames 90 --memory 4 --budget-ms 100 --async --compare "
                     "--context gpu --json out.json") == 0);
    check(run.json("out.json"));
    CHECK(run.json("out.json")["bytes"]["decoded"] > 349524);
}

TEST_CASE("viewer: a load of the GPU takes its time and leaves the picture as it is")
{
    Run run;
    const std::string flight = "--map small --frames 60 --memory 4 --json out.json --screenshot ";
    REQUIRE(run.view(flight + "plain.ppm") == 0);
    CHECK(run.json("out.json")["gpu_load_ms"] == 0);
    REQUIRE(run.view(flight + "loaded.ppm --gpu-load 0.01 --compare-times") == 0);
    const nlohmann::json out = run.json("out.json");
    CHECK(out["gpu_load_ms"] > 0);
    for (const char* frames : {"streamed", "resident"}) {
        const nlohmann::json& spread = out["frame_ms"][frames];
        CHECK(spread["low_1_percent_fps"].get<double>() <= 1000.1 / spread["p99"].get<double>());
        CHECK(spread["low_1_percent_fps"].get<double>() >= 999.9 / spread["max"].get<double>());
    }
    CHECK(run.read("loaded.ppm") == run.read("plain.ppm"));
}

TEST_CASE("viewer: a damaged texture stays coarse, and nothing else suffers")
{
    Run run;
    std::string archive = run.read("game.sluice");
    // Near the end of the archive, before the index, is the noise of the last texture's largest
    // level.
    const size_t at = archive.size() * 3 / 4;
    for (size_t i = 0; i < 32; ++i)
        archive[at + i] = char(archive[at + i] ^ 0x55);
    writeText(run.path() / "game.sluice", archive);
    REQUIRE(run.view("--map rooms --memory 64 --compare --json out.json") == 0);
    const nlohmann::json out = run.json("out.json");
    CHECK(out["residency"]["damaged"] >= 1);
    CHECK(out["failed_groups"] == out["residency"]["damaged"]);
}

TEST_CASE("viewer: UASTC becomes what the device samples, the same as the tool makes of it")
{
    Run run;
    const std::vector<uint8_t> map = makeRooms(2).bytes();
    writeText(run.path() / "in/maps/small.bsp", std::string(map.begin(), map.end()));
    writeText(run.path() / "in/textures/test/wall0.ktx2", uastc(0, vectors()));
    writeText(run.path() / "in/textures/test/wall1.ktx2", uastc(0, vectors().substr(7 * 16)));
    writeText(run.path() / "in/textures/test/curve.ktx2", uastc(0, vectors().substr(9 * 16)));
    const std::string flight =
        "--map small --frames 15 --memory 16 --compare --json out.json --screenshot ";
    std::set<std::string> pictures;
    for (const std::string choice : {"bc", "astc", "rgba8"}) {
        CAPTURE(choice);
        run.tool("pack --images -f -o game.sluice in");
        REQUIRE(run.view(flight + "a.ppm --uastc " + choice) == 0);
        const bool isShown = run.read(".err").find("is not shown") == std::string::npos;
        CHECK((isShown || choice != "rgba8")); // which every device samples
        CHECK(run.json("out.json")["residency"]["textures"] == (isShown ? 3 : 0));
        CHECK(run.json("out.json")["failed_groups"] == 0);
        run.tool("unpack -f game.sluice -C out --as " + (choice == "bc" ? "bc7" : choice));
        run.tool("pack --images -f -o game.sluice out/in");
        REQUIRE(run.view(flight + "b.ppm") == 0);
        CHECK(run.read("a.ppm") == run.read("b.ppm"));
        if (isShown) pictures.insert(run.read("a.ppm"));
    }
    run.tool("pack --images -f -o game.sluice in");
    REQUIRE(run.view(flight + "a.ppm") == 0);
    CHECK(pictures.count(run.read("a.ppm")) == 1);
}

TEST_CASE("viewer: what cannot be is said")
{
    Run run;
    const auto failsWith = [&](const std::string& arguments, const std::string& message) {
        const int code = run.shell("'" SLUICE_VIEWER_PATH "' " + arguments);
        CHECK(code != 0);
        CHECK(code != 77);
        const std::string said = run.read(".err");
        CHECK_MESSAGE(said.find(message) != std::string::npos, said);
    };
    failsWith("game.sluice --map nowhere", "no map nowhere");
    failsWith("none.sluice", "none.sluice");
    failsWith("game.sluice --size 1x1", "--size");
    writeText(run.path() / "short/maps/rooms.bsp", "IBSP");
    run.tool("pack -f -o game.sluice short");
    failsWith("game.sluice --map rooms", "map rooms: the file is too short");

    // A texture that is no 2D image, and one of invalid blocks, which would be magenta.
    const std::vector<uint8_t> map = makeRooms(2).bytes();
    writeText(run.path() / "in/maps/small.bsp", std::string(map.begin(), map.end()));
    writeText(run.path() / "in/textures/test/wall0.ktx2", uastc(2, vectors()));
    writeText(run.path() / "in/textures/test/wall1.ktx2",
              uastc(0, readText(SLUICE_TEST_DATA_DIR "/uastc/invalid.bin")));
    run.tool("pack --images -f -o game.sluice in");
    REQUIRE(run.view("--map small --frames 60 --json out.json") == 0);
    const std::string said = run.read(".err");
    CHECK(said.find("textures/test/wall0 is not shown: it is not one 2D image") !=
          std::string::npos);
    CHECK(said.find("textures/test/wall1.ktx2 is not shown: all its levels are damaged") !=
          std::string::npos);
    CHECK(run.json("out.json")["residency"]["damaged"] >= 1);
}
