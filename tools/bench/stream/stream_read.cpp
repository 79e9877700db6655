// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/bench/stream/stream_read.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include "tools/common/platform.h"

namespace sluice {
namespace {

constexpr uint64_t kPage = 4096;

struct OpenFiles {
    OpenFiles(const std::vector<std::string>& paths, bool isDirect)
    {
        for (const std::string& path : paths) {
            files.push_back(isDirect ? openForDirectReading(path) : openForReading(path));
            if (files.back() == kNoFile) throw Failure{exitIo, path + ": " + std::strerror(errno)};
        }
    }
    ~OpenFiles()
    {
        for (const SystemFile file : files)
            if (file != kNoFile) closeFile(file);
    }
    OpenFiles(const OpenFiles&) = delete;
    OpenFiles& operator=(const OpenFiles&) = delete;

    std::vector<SystemFile> files;
};

} // namespace

std::string whyNotDirect(const std::string& path)
{
    const SystemFile file = openForDirectReading(path);
    if (file == kNoFile) return std::string("O_DIRECT: ") + std::strerror(errno);
    const ReadRing ring(kPage);
    const int64_t got = readSomeAt(file, 0, ring.data(), kPage);
    const int error = errno;
    closeFile(file);
    return got >= 0 ? "" : std::string("O_DIRECT: ") + std::strerror(error);
}

ReadRing::ReadRing(uint64_t size)
    : m_bytes(new uint8_t[size + kPage]),
      m_data(m_bytes.get() + (kPage - reinterpret_cast<uintptr_t>(m_bytes.get()) % kPage) % kPage),
      m_size(size)
{
    std::memset(m_data, 0, size_t(size));
}

StreamPass readFiles(const StreamFiles& files, const ReadPlan& plan, uint8_t* ring,
                     uint64_t ringSize)
{
    if (plan.isCold) files.dropFromMemory();
    const OpenFiles open(files.paths(), plan.isDirect);
    const uint64_t blocksOfFile = (files.fileSize() + plan.blockSize - 1) / plan.blockSize;
    const uint64_t blocks = blocksOfFile * open.files.size();
    const uint64_t places = ringSize / plan.blockSize;
    std::atomic<uint64_t> next{0};
    std::atomic<int> error{0};
    const auto work = [&] {
        for (uint64_t block = next++; block < blocks && error == 0; block = next++) {
            const uint64_t offset = block % blocksOfFile * plan.blockSize;
            const uint64_t wanted = std::min(plan.blockSize, files.fileSize() - offset);
            // O_DIRECT reads whole pages, even at the end of a file.
            const uint64_t asked = plan.isDirect ? (wanted + kPage - 1) / kPage * kPage : wanted;
            const int64_t got = readSomeAt(open.files[block / blocksOfFile], offset,
                                           ring + block % places * plan.blockSize, size_t(asked));
            if (got < int64_t(wanted)) error = got < 0 ? errno : EIO;
        }
    };
    const PassClock clock;
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < plan.threads; ++i)
        threads.emplace_back(work);
    for (std::thread& thread : threads)
        thread.join();
    if (error != 0) throw Failure{exitIo, files.paths()[0] + ": reading: " + std::strerror(error)};
    return clock.finish(files.fileSize() * open.files.size());
}

} // namespace sluice
