// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/samples/viewer/camera.h"

#include <algorithm>
#include <cmath>

namespace viewer {

namespace {

constexpr float kSpeed = 320;                        // units a second, as fast as players run
constexpr float kNear = 4;                           // units
constexpr float kFieldOfView = 1.6f;                 // radians, from left to right at 16 : 9
constexpr float kTurn = 6.2831853f;                  // radians
constexpr uint64_t kLookSteps = 4 * kStepsPerSecond; // steps in which the camera turns once round

float mixed(float a, float b, float t) { return a + (b - a) * t; }

} // namespace

void Flight::add(uint64_t steps, const Pose& from, const Pose& to)
{
    m_legs.push_back({m_steps, steps, from, to});
    m_steps += steps;
}

Flight::Flight(const std::vector<WayPoint>& way)
{
    Pose pose;
    for (size_t i = 0; i < way.size(); ++i) {
        pose.position = way[i].position;
        Pose turned = pose;
        turned.pitch = 0;
        if (!way[i].seesNext) {
            turned.yaw += kTurn;
            add(kLookSteps, pose, turned);
            pose = turned;
            continue;
        }
        const Vector& next = way[i + 1].position;
        const float x = next[0] - pose.position[0], y = next[1] - pose.position[1],
                    z = next[2] - pose.position[2];
        const float distance = std::hypot(x, y, z);
        if (std::hypot(x, y) > 1) { // otherwise the next point is straight above or below
            turned.yaw = std::atan2(y, x);
            turned.pitch = std::clamp(std::atan2(z, std::hypot(x, y)), -0.5f, 0.5f);
        }
        // Turn the shorter way round.
        pose.yaw = turned.yaw + std::remainder(pose.yaw - turned.yaw, kTurn);
        const float turn = std::fabs(turned.yaw - pose.yaw);
        add(uint64_t(turn / kTurn * 2 * float(kStepsPerSecond)) + 1, pose, turned);
        pose = turned;
        pose.position = next;
        add(uint64_t(distance / kSpeed * float(kStepsPerSecond)) + 1, turned, pose);
    }
}

Pose Flight::at(uint64_t step) const
{
    step %= m_steps;
    const auto after =
        std::upper_bound(m_legs.begin(), m_legs.end(), step,
                         [](uint64_t value, const Leg& leg) { return value < leg.firstStep; });
    const Leg& leg = *std::prev(after);
    const float t = float(step - leg.firstStep) / float(leg.steps);
    Pose pose;
    for (size_t i = 0; i < 3; ++i)
        pose.position[i] = mixed(leg.from.position[i], leg.to.position[i], t);
    pose.yaw = mixed(leg.from.yaw, leg.to.yaw, t);
    pose.pitch = mixed(leg.from.pitch, leg.to.pitch, t);
    return pose;
}

Pose Flight::random(uint32_t number) const
{
    const uint32_t hash = (number + 1) * 2654435761u;
    Pose pose = at(hash % m_steps);
    pose.yaw = float(hash >> 8 & 1023) * kTurn / 1024;
    return pose;
}

std::array<float, 16> viewProjection(const Pose& pose, float aspect)
{
    const float cy = std::cos(pose.yaw), sy = std::sin(pose.yaw), cp = std::cos(pose.pitch),
                sp = std::sin(pose.pitch);
    const Vector forward = {cy * cp, sy * cp, sp}, right = {sy, -cy, 0},
                 down = {cy * sp, sy * sp, -cp};
    // Half the height of the view at distance 1; half its width is `aspect` times as much.
    const float wide = std::tan(kFieldOfView / 2) / (16.0f / 9.0f);
    const auto dot = [&](const Vector& axis) {
        return axis[0] * pose.position[0] + axis[1] * pose.position[1] + axis[2] * pose.position[2];
    };
    std::array<float, 16> matrix = {};
    for (size_t i = 0; i < 3; ++i) {
        matrix[4 * i] = right[i] / (wide * aspect);
        matrix[4 * i + 1] = down[i] / wide;
        matrix[4 * i + 3] = forward[i];
    }
    matrix[12] = -dot(right) / (wide * aspect);
    matrix[13] = -dot(down) / wide;
    matrix[14] = kNear;
    matrix[15] = -dot(forward);
    return matrix;
}

} // namespace viewer
