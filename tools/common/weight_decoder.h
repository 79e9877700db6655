// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes a unit of weights (tensors under one code) on a device, in parts of bounded size.
#pragma once

#include <functional>

#include "tools/common/device.h"
#include "tools/common/weights.h"

namespace sluice {

class WeightDecoder {
public:
    // Receives the decoded bytes of a unit, piece by piece in order. `element` is the index, in the
    // unit, of the piece's first element.
    using Take = std::function<void(uint64_t element, const uint8_t* bytes, uint64_t size)>;

    explicit WeightDecoder(const ToolDevice& device);

    // Throws a Failure if a block does not decode.
    void decode(const WeightFile& file, const WeightUnit& unit, const Take& take);

    double gpuMilliseconds() const { return m_milliseconds; }

private:
    struct Part; // a range of a unit's blocks

    Part readPart(const WeightFile& file, const WeightUnit& unit,
                  const std::vector<uint64_t>& positions, uint64_t firstBlock, uint64_t endBlock);
    void decodePart(const WeightFile& file, const WeightUnit& unit, const Part& part);

    const ToolDevice& m_device;
    DeviceBuffer m_units, m_source, m_destination, m_status, m_scratch;
    Bytes m_bytes, m_decoded;
    Words m_statuses;
    double m_milliseconds = 0;
};

} // namespace sluice
