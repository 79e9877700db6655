// SPDX-License-Identifier: MIT OR Apache-2.0
// A flight past the points of a map, the same on every run: the camera's place depends only on the
// number of the step.
#pragma once

#include <cstdint>

#include "tools/samples/viewer/scene.h"

namespace viewer {

constexpr uint32_t kStepsPerSecond = 60;

struct Pose {
    Vector position = {0, 0, 0};
    float yaw = 0; // radians, from x to y
    float pitch = 0;
};

class Flight {
public:
    explicit Flight(const std::vector<WayPoint>& way);
    Pose at(uint64_t step) const; // starts again at its end
    // Somewhere on the flight, looking anywhere.
    Pose random(uint32_t number) const;

private:
    // A turn towards the next point, the way there, or, before a jump, a turn about oneself.
    struct Leg {
        uint64_t firstStep, steps;
        Pose from, to;
    };
    void add(uint64_t steps, const Pose& from, const Pose& to);

    std::vector<Leg> m_legs;
    uint64_t m_steps = 0;
};

// Column-major, for column vectors; depth is 1 at `near` and 0 at infinity.
std::array<float, 16> viewProjection(const Pose& pose, float aspect);

} // namespace viewer
