// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/bench/contest.h"

#include <algorithm>
#include <optional>
#include <thread>

namespace sluice {
namespace {

constexpr uint64_t kPiece = 1u << 20, kPieces = 64;

struct Piece {
    uint64_t offset, size;
};

// Chooses the pieces of a result to check. A small result is checked whole. A large result is
// divided into kPieces ranges, and one piece at a random offset in each range is checked. The first
// and the last piece are those at the ends of the result.
std::vector<Piece> piecesOf(const Result& result)
{
    const uint64_t size = result.buffer.size, unit = result.elementSize,
                   piece = kPiece / unit * unit;
    std::vector<Piece> pieces;
    if (size <= kPieces * piece) {
        for (uint64_t at = 0; at < size; at += piece)
            pieces.push_back({at, std::min(piece, size - at)});
        return pieces;
    }
    const uint64_t last = size / unit - piece / unit, stride = last / (kPieces - 1);
    for (uint64_t i = 0; i + 1 < kPieces; ++i) {
        const uint64_t spare = stride > piece / unit ? stride - piece / unit : 0;
        const uint64_t random = i == 0 || spare == 0 ? 0 : scrambled(uint32_t(i)) % spare;
        pieces.push_back({(i * stride + random) * unit, piece});
    }
    pieces.push_back({last * unit, size - last * unit});
    return pieces;
}

SluiceBuffer partOf(const SluiceBuffer& buffer, const Piece& piece)
{
    return {buffer.handle, buffer.offset + piece.offset, piece.size};
}

void check(const BenchDevice& device, const std::string& who, const Result& result)
{
    const std::vector<Piece> pieces = piecesOf(result);
    std::vector<Bytes> got;
    for (const Piece& piece : pieces) {
        got.emplace_back(piece.size);
        device.download(partOf(result.buffer, piece), got.back().data(), piece.size);
    }
    // Offset in the result of the first wrong byte of each piece; ~0: the piece is right.
    std::vector<uint64_t> wrong(pieces.size(), ~uint64_t{0});
    inParallel(pieces.size(), [&](uint64_t first, uint64_t last) {
        for (uint64_t i = first; i < last; ++i) {
            Bytes right = got[i];
            result.expect(pieces[i].offset, pieces[i].size, right.data());
            const auto found = std::mismatch(right.begin(), right.end(), got[i].begin()).first;
            if (found != right.end()) wrong[i] = pieces[i].offset + uint64_t(found - right.begin());
        }
    });
    for (const uint64_t at : wrong) {
        if (at != ~uint64_t{0})
            throw Failure{exitDevice, who + ": wrong result at element " +
                                          std::to_string(at / result.elementSize)};
    }
}

// Returns a function that records the barrier that an engine would put between two calls. This
// barrier orders the accesses of shaders only; sluiceCmdBarrier orders others too. CUDA streams and
// the CPU need no barrier.
std::function<void(SluiceCommands)> callBarrier(const BenchDevice& device)
{
    if (device.backend() == SLUICE_BACKEND_VULKAN) return makeVulkanBarrier(device);
    return [](SluiceCommands) {};
}

} // namespace

const char* const kCheckedText = "results of the primitives are checked: all of them up to 64 MiB, "
                                 "above that 64 pieces of 1 MiB over the whole length";

void Contest::sayMissing(const std::string& kernel) const
{
    if (cub == nullptr)
        report.addMissing(kernel, "CUB",
                          cubIsBuiltIn() ? "this device is no CUDA device" : "built without CUDA");
}

uint32_t scrambled(uint32_t value) // the hash "lowbias32" of Chris Wellons' hash prospector
{
    value = (value ^ value >> 16) * 0x7feb352du;
    value = (value ^ value >> 15) * 0x846ca68bu;
    return value ^ value >> 16;
}

std::string powerText(uint64_t count)
{
    uint32_t exponent = 0;
    while (uint64_t{1} << exponent < count)
        ++exponent;
    return "2^" + std::to_string(exponent);
}

void inParallel(uint64_t count, const std::function<void(uint64_t first, uint64_t last)>& body)
{
    const uint64_t workers =
        std::clamp<uint64_t>(std::thread::hardware_concurrency(), 1, std::max<uint64_t>(count, 1));
    std::vector<std::optional<Failure>> failures(workers);
    const auto work = [&](uint64_t i) {
        try {
            body(count * i / workers, count * (i + 1) / workers);
        } catch (const Failure& failure) {
            failures[i] = failure;
        }
    };
    std::vector<std::thread> threads;
    for (uint64_t i = 1; i < workers; ++i)
        threads.emplace_back(work, i);
    work(0);
    for (std::thread& thread : threads)
        thread.join();
    for (const std::optional<Failure>& failure : failures) {
        if (failure) throw *failure;
    }
}

HostWords::HostWords(uint64_t size, const std::function<uint32_t(uint32_t index)>& word)
    : words(new uint32_t[size]), count(size)
{
    inParallel(count, [&](uint64_t first, uint64_t last) {
        for (uint64_t i = first; i < last; ++i)
            words[i] = word(uint32_t(i));
    });
}

uint64_t maxWords(const BenchDevice& device, uint64_t arrays)
{
    uint64_t count = !device.isGpu() ? 1u << 20 : device.isBrief() ? 1u << 26 : 1u << 30;
    while (count > 1u << 20 && count * 4 * arrays > device.properties().memorySize)
        count /= 4;
    return count;
}

std::vector<uint64_t> sweepSizes(uint64_t limit, uint64_t factor)
{
    std::vector<uint64_t> sizes;
    for (uint64_t size = 1u << 10; size < limit; size *= factor)
        sizes.push_back(size);
    sizes.push_back(limit);
    return sizes;
}

uint32_t callsFor(uint64_t count, uint64_t limit)
{
    const uint64_t calls = std::min<uint64_t>((uint64_t{1} << 25) / count, limit);
    return uint32_t(std::clamp<uint64_t>(calls, 1, 1000));
}

BenchRow Contest::measure(const BenchDevice& device, const std::string& kernel,
                          const std::string& size, const std::string& who, uint64_t bytes,
                          const TimedWork& work) const
{
    for (const Result& result : work.results) {
        if (!result.poison) continue;
        for (const Piece& piece : piecesOf(result))
            device.fill(partOf(result.buffer, piece), 0xee);
    }
    const BenchDevice::RecordRun captured =
        device.capture([&, barrier = callBarrier(device)](SluiceCommands commands, uint32_t) {
            for (uint32_t call = 0; call < work.calls; ++call) {
                work.record(commands, call);
                barrier(commands);
            }
        });
    device.runOnce(captured);
    for (const Result& result : work.results)
        check(device, who + " " + kernel + " " + size, result);
    return {kernel, size, who, bytes, device.time(work.calls, captured), who != "sluice"};
}

} // namespace sluice
