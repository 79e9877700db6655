// SPDX-License-Identifier: MIT OR Apache-2.0
// A small test of each kernel: the same work on a device and on the CPU reference must give the
// same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sluice/sluice_device.h>

#include "vulkan/context.h"

namespace sluice::dev {

class SelfTest {
public:
    // Makes the test data and the CPU's answers.
    SluiceStatus prepare();

    // Empty if the device gives the same answers for `kernel`. lost: a call failed, the device is
    // of no more use.
    std::string run(SluiceDevice device, Kernel kernel, bool& lost) const;

private:
    using Words = std::vector<uint32_t>;
    SluiceStatus scan(SluiceDevice device, Words& out) const;
    SluiceStatus reduce(SluiceDevice device, Words& out) const;
    SluiceStatus compact(SluiceDevice device, uint32_t elementSize, Words& out) const;
    // byDriver: by the driver's decoder, if it has one, and the good tiles only.
    SluiceStatus tiles(SluiceDevice device, bool byDriver, Words& out) const;
    SluiceStatus tileStreams(SluiceDevice device, Words& out) const;
    SluiceStatus gstd(SluiceDevice device, Words& out) const;
    SluiceStatus fseTables(SluiceDevice device, Words& out) const;
    SluiceStatus filters(SluiceDevice device, Words& out) const;
    SluiceStatus weights(SluiceDevice device, Words& out) const;
    SluiceStatus answers(SluiceDevice device, Kernel kernel, Words& out) const;

    struct Tile {
        std::vector<uint8_t> stream;
        uint32_t size;     // after decoding
        uint32_t checksum; // expected
    };
    std::vector<Tile> tiles_;
    Words values_;
    Words expected_[kernelCount];
};

} // namespace sluice::dev
