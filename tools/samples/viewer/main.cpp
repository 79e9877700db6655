// SPDX-License-Identifier: MIT OR Apache-2.0
// A viewer for maps of Quake III and OpenArena whose textures are streamed: the sample for
// developers of engines that will stream. What to read:
//   textures.cpp   images that change while frames are in flight: raise, lower, descriptors, copies
//   residency.cpp  which mip levels should be in memory
//   streaming.cpp  the streamer: memory, files, submit, poll, record
//   map.cpp        files to host memory, geometry and lightmaps to buffers and images
//   viewer.cpp     a frame, in the order in which an engine does these things
#include <cstdio>

#include <CLI/CLI.hpp>

#include "tools/samples/viewer/viewer.h"

namespace {

struct Arguments {
    viewer::Options options;
    std::string map, size = "1280x720", bindless = "auto";
};

void describe(CLI::App& app, Arguments& arguments)
{
    viewer::Options& options = arguments.options;
    app.add_option("archive", options.archive,
                   "archive of sluice pack --images: maps, textures, shader scripts")
        ->required();
    app.add_option("--map", arguments.map, "name of the map; several with commas between");
    app.add_flag("--tour", options.isTour, "all maps, one after the other");
    app.add_option("--seconds", options.seconds,
                   "length of the flight; default 20, in a tour 4 per map")
        ->check(CLI::Range(0.1, 1e6));
    app.add_option("--frames", options.frames, "the same in frames, 60 per second")
        ->check(CLI::Range(1, 100'000'000));
    app.add_option("--size", arguments.size, "WxH in pixels; default 1280x720");
    app.add_option("--budget-ms", options.budgetMilliseconds,
                   "milliseconds of GPU time that streaming may take per frame; default 1")
        ->check(CLI::Range(0.0, 1000.0));
    app.add_option(
           "--gpu-load", options.loadMilliseconds,
           "milliseconds of GPU time that each frame computes beside the picture, as a game "
           "would; default 0")
        ->check(CLI::Range(0.0, 1000.0));
    app.add_flag("--async", options.isAsync,
                 "stream beside the frames, in submits of its own: on a compute queue or a second "
                 "queue, where the device has one");
    app.add_option("--memory", options.memoryMiB, "MiB of textures; default 64")
        ->check(CLI::Range(0.1, 1e6));
    app.add_option("--ring", options.ringMiB, "MiB of each ring of the streamer; default 64")
        ->check(CLI::Range(16, 1024));
    app.add_option("--threads", options.threads, "threads that read and decode; default 2")
        ->check(CLI::Range(1, 64));
    app.add_option("--context", options.context,
                   "what decodes: gpu, cpu, or auto: the GPU unless it is software")
        ->check(CLI::IsMember({"auto", "gpu", "cpu"}));
    app.add_option("--device", options.device, "number of the device, or a part of its name");
    app.add_option("--bindless", arguments.bindless,
                   "all textures in one array: auto, if the device can; off")
        ->check(CLI::IsMember({"auto", "off"}));
    app.add_option("--uastc", options.uastc,
                   "what textures of UASTC become: bc (BC7; BC4 and BC5 for one and two channels), "
                   "astc, rgba8, or auto: the first of these that the device samples")
        ->check(CLI::IsMember(std::vector<std::string>(std::begin(viewer::kUastcChoices),
                                                       std::end(viewer::kUastcChoices))));
    app.add_flag("--window", options.hasWindow, "show it; Escape ends the flight");
    app.add_flag("--overlay", options.hasOverlay, "times, bytes and queue as text in the picture");
    app.add_flag("--pace", options.keepsPace, "60 frames per second, not as many as possible");
    app.add_flag("--compare", options.compares,
                 "compare the last frame with the one with everything resident, byte for byte; "
                 "exit code 1 if they differ");
    app.add_flag("--compare-times", options.comparesTimes,
                 "fly again without streaming, everything resident, and report the difference");
    app.add_option(
           "--random-teleports", options.teleportSeconds,
           "instead of a flight: jump about for this many seconds; exit code 1 if memory grows")
        ->check(CLI::Range(1.0, 1e6));
    app.add_option("--screenshot", options.screenshot, "the last frame, as .png or .ppm");
    app.add_option("--json", options.json, "what was measured");
    app.add_option("--html", options.page, "what was measured, as a page with plots");
    app.add_flag(
        "--validation", options.isValidated,
        "use the validation layers, synchronization included; exit code 1 if they complain");
}

VkExtent2D parseSize(const std::string& text)
{
    uint32_t width = 0, height = 0;
    char rest = 0;
    if (std::sscanf(text.c_str(), "%ux%u%c", &width, &height, &rest) != 2 || width < 16 ||
        height < 16 || width > 8192 || height > 8192)
        throw std::runtime_error("--size is WIDTHxHEIGHT, 16 to 8192 each");
    return {width, height};
}

std::vector<std::string> splitNames(const std::string& text)
{
    std::vector<std::string> names(1);
    for (const char c : text) {
        if (c == ',')
            names.emplace_back();
        else
            names.back() += c;
    }
    return names;
}

} // namespace

int main(int argc, char** argv)
{
    CLI::App app("Flies through maps whose textures are streamed");
    Arguments arguments;
    describe(app, arguments);
    CLI11_PARSE(app, argc, argv);
    viewer::Options& options = arguments.options;
    try {
        options.size = parseSize(arguments.size);
        options.allowsBindless = arguments.bindless != "off";
        if (!arguments.map.empty()) options.maps = splitNames(arguments.map);
        viewer::Viewer viewer(options);
        return viewer.run() ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const viewer::NoDevice& reason) {
        std::fprintf(stderr, "viewer: not run: %s\n", reason.what());
        return 77;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "viewer: %s\n", error.what());
        return EXIT_FAILURE;
    }
}
