// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes the viewer's reader of maps: a map that it accepts must be safe to draw and to fly
// through.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tools/samples/viewer/camera.h"
#include "tools/samples/viewer/scene.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    std::vector<uint8_t> file(data, data + size);
    if (size < 8) return 0;
    std::memcpy(file.data(), "IBSP\x2e\0\0\0", 8);
    viewer::BspMap map;
    std::string error;
    if (!viewer::readBsp(file.data(), file.size(), map, error)) return 0;
    const viewer::SceneData scene = viewer::makeScene(map, {});
    for (const uint32_t index : scene.indices)
        if (index >= scene.vertices.size()) std::abort();
    const viewer::Flight flight(scene.way);
    (void)flight.at(12345);
    (void)flight.random(7);
    return 0;
}
