// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes the frames of a Zstandard file on a device, in batches of bounded size.
#pragma once

#include "tools/common/device.h"
#include "tools/common/zstd/zstd_decoder.h"

namespace sluice {

class ZstdOnDevice {
public:
    // The plan must be one for kZstdDeviceRun. The other arguments are those of ZstdDecoder.
    ZstdOnDevice(const ToolDevice& device, const ZstdFile& file, const ZstdPlan& plan,
                 ZstdSink& sink, bool keepGoing);

    // Does what ZstdDecoder::run does. A run that fails on the device is decoded once more on the
    // CPU, which finds the frame and the block and gives what is before them. Throws a Failure if
    // the CPU finds nothing wrong there.
    ZstdDamages run();
    // Returns whether frames were larger than a batch may be, or had very many blocks, so that only
    // the CPU decoded them.
    bool isAnyOfCpu() const { return m_isAnyOfCpu; }

private:
    bool fits(const ZstdRun& run) const;
    size_t endOfBatch(size_t first) const;
    void decodeBatch(size_t first, size_t end);
    bool takeBatch(size_t first, size_t end);

    const ToolDevice& m_device;
    const ZstdFile& m_file;
    const ZstdPlan& m_plan;
    ZstdSink& m_sink;
    bool m_keepGoing, m_isAnyOfCpu = false;
    uint64_t m_batchBytes;
    ZstdDecoder m_cpu;
    Bytes m_bytes; // compressed bytes of a batch, or what a run decodes to
    std::vector<SluiceRegion> m_regions;
    Words m_statuses;
    DeviceBuffer m_dictionaryBuffer, m_source, m_destination, m_list, m_status, m_scratch;
    SluiceBuffer m_dictionary;
};

} // namespace sluice
