// SPDX-License-Identifier: MIT OR Apache-2.0
// A flight through a map. The camera's position depends only on the number of the step, so that
// each run shows the same.
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
    Pose at(uint64_t step) const; // after the last step the flight begins again
    // Returns a random position of the flight, and a random direction. They depend on `number`
    // alone.
    Pose random(uint32_t number) const;

private:
    // A piece of the flight: a turn towards the next point, the way to it, or, if that point is not
    // visible, a full turn, after which the flight jumps there.
    struct Leg {
        uint64_t firstStep, steps;
        Pose from, to;
    };
    void add(uint64_t steps, const Pose& from, const Pose& to);

    std::vector<Leg> m_legs;
    uint64_t m_steps = 0;
};

// Returns a column-major matrix for column vectors. Depth is 1 at the near plane and 0 at infinity.
std::array<float, 16> viewProjection(const Pose& pose, float aspect);

} // namespace viewer
