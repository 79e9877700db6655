// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/bench/stream/stream_content.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <libdeflate.h>
#include <zstd.h>

#include <sluice/sluice_encode.h>

#include "tools/bench/contest.h"
#include "tools/bench/input.h"
#include "tools/common/archive_writer.h"
#include "tools/common/platform.h"

namespace sluice {
namespace {

constexpr uint64_t kAssetAlignment = 256, kStoredAlignment = 16;
constexpr uint64_t kMadeUpAsset = 1u << 20, kFewestAssets = 4;
constexpr uint32_t kMadeUpLevel = 9;
constexpr uint32_t kPeerChunk = 262144, kDriverTile = 65536;
constexpr int kZstdLevel = 19, kDeflateLevel = 12;
constexpr uint32_t kGdeflateLevel = 12;

uint64_t alignedTo(uint64_t value, uint64_t alignment)
{
    return (value + alignment - 1) / alignment * alignment;
}

Bytes makeUpArchive(uint64_t size)
{
    const Bytes content = makeUpContent(size_t(size));
    Bytes archive;
    uint64_t at = 0;
    Transfer transfer;
    transfer.onRead = [&](void* bytes, size_t count) {
        std::memcpy(bytes, content.data() + at, count);
        at += count;
    };
    transfer.onWrite = [&](uint64_t offset, const void* bytes, size_t count) {
        archive.resize(std::max(archive.size(), size_t(offset) + count));
        std::memcpy(archive.data() + offset, bytes, count);
    };
    SluiceArchiveWriterInfo info = {};
    info.codec = SLUICE_CODEC_GDEFLATE;
    info.level = kMadeUpLevel;
    info.threadCount = threadCount(0);
    ArchiveWriter writer(nullptr, sluiceDestroyArchiveWriter);
    SluiceStatus status = createArchive(info, transfer, writer);
    const uint64_t assetSize = std::min<uint64_t>(kMadeUpAsset, content.size() / kFewestAssets);
    for (uint64_t begin = 0; begin < content.size() && status == SLUICE_OK; begin += assetSize) {
        const std::string name = formatText("asset%06llu", wide(begin / assetSize));
        SluiceArchiveAssetInfo asset = {};
        asset.name = name.c_str();
        asset.nameLength = name.size();
        asset.size = std::min<uint64_t>(assetSize, content.size() - begin);
        asset.read = Transfer::read;
        asset.readUser = &transfer;
        status = sluiceAddArchiveAsset(writer.get(), &asset);
    }
    if (status == SLUICE_OK) status = sluiceFinishArchive(writer.get(), nullptr);
    require(status, "packing");
    return archive;
}

using Encode = std::function<Bytes(const uint8_t* bytes, uint32_t size)>;

// Encodes `plain` in chunks, on all cores. makeEncode returns the encoder of one thread.
StreamPack pack(const Bytes& plain, uint32_t chunkSize, const std::function<Encode()>& makeEncode)
{
    StreamPack result;
    const uint64_t count = (plain.size() + chunkSize - 1) / chunkSize;
    std::vector<Bytes> encoded(count);
    inParallel(count, [&](uint64_t first, uint64_t last) {
        const Encode encode = makeEncode();
        for (uint64_t i = first; i < last; ++i) {
            const uint64_t begin = i * chunkSize;
            encoded[i] = encode(plain.data() + begin,
                                uint32_t(std::min<uint64_t>(chunkSize, plain.size() - begin)));
        }
    });
    for (uint64_t i = 0; i < count; ++i) {
        const uint64_t begin = i * chunkSize;
        result.chunks.push_back({result.bytes.size(), uint32_t(encoded[i].size()),
                                 uint32_t(std::min<uint64_t>(chunkSize, plain.size() - begin)),
                                 begin});
        result.bytes.insert(result.bytes.end(), encoded[i].begin(), encoded[i].end());
        result.bytes.resize(alignedTo(result.bytes.size(), kStoredAlignment));
    }
    result.outputBytes = plain.size();
    return result;
}

bool decodeZstd(const uint8_t* stored, const StreamChunk& chunk, uint8_t* output)
{
    // Each thread has a decoder of its own, as a real program would have.
    static thread_local const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> decoder(
        ZSTD_createDCtx(), ZSTD_freeDCtx);
    return ZSTD_decompressDCtx(decoder.get(), output, chunk.size, stored, chunk.storedSize) ==
           chunk.size;
}

bool decodeDeflate(const uint8_t* stored, const StreamChunk& chunk, uint8_t* output)
{
    static thread_local const std::unique_ptr<libdeflate_decompressor,
                                              decltype(&libdeflate_free_decompressor)>
        decoder(libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
    return libdeflate_deflate_decompress(decoder.get(), stored, chunk.storedSize, output,
                                         chunk.size, nullptr) == LIBDEFLATE_SUCCESS;
}

[[noreturn]] void failFile(const std::string& path)
{
    throw Failure{exitIo, path + ": " + std::strerror(errno)};
}

} // namespace

StreamContent::StreamContent(const std::string& path, uint64_t mostBytes)
    : description(path.empty() ? "made-up assets" : path)
{
    auto file = path.empty() ? std::make_unique<InputFile>(description, makeUpArchive(mostBytes))
                             : openInput(path);
    container = std::make_unique<Container>(std::move(file));
    if (!container->isArchive()) throw Failure{exitFormat, path + ": streaming takes archives"};
    for (uint32_t number = 0; number < container->assetCount(); ++number) {
        // Rows compare the output tile by tile, so assets that share tiles are left out.
        if (container->archiveAsset(number).share != SLUICE_ARCHIVE_NO_SHARE) continue;
        const uint64_t size = container->asset(number).size;
        const uint64_t begin = alignedTo(plain.size(), kAssetAlignment);
        if (size == 0 || begin + size > mostBytes) continue;
        assets.push_back({number, size, begin});
        plain.resize(begin + size);
        uint64_t output = begin;
        container->forEachTile(number, [&](uint32_t, const ContainerTile& tile) {
            tiles.push_back({tile, stored.size(), output});
            stored.resize(alignedTo(stored.size() + tile.storedSize, kStoredAlignment));
            container->file().read(tile.offset, stored.data() + tiles.back().sourceOffset,
                                   tile.storedSize);
            output += tile.size;
            storedBytes += tile.storedSize;
            outputBytes += tile.size;
        });
    }
    if (assets.empty()) throw Failure{exitFormat, description + ": no asset is small enough"};
    std::vector<HostTile> decodes;
    for (const StreamTile& tile : tiles)
        decodes.push_back(
            {tile.tile, stored.data() + tile.sourceOffset, plain.data() + tile.outputOffset});
    decodeOnHost(decodes, true, description);
}

StreamPack packPlain(const Bytes& plain)
{
    return pack(plain, kPeerChunk, [] {
        return [](const uint8_t* bytes, uint32_t size) { return Bytes(bytes, bytes + size); };
    });
}

StreamPack packZstd(const Bytes& plain)
{
    StreamPack result = pack(plain, kPeerChunk, [] {
        const std::shared_ptr<ZSTD_CCtx> encoder(ZSTD_createCCtx(), ZSTD_freeCCtx);
        return [encoder](const uint8_t* bytes, uint32_t size) {
            Bytes out(ZSTD_compressBound(size));
            const size_t got =
                ZSTD_compressCCtx(encoder.get(), out.data(), out.size(), bytes, size, kZstdLevel);
            if (ZSTD_isError(got) != 0) throw Failure{exitDevice, "bench: zstd cannot compress"};
            out.resize(got);
            return out;
        };
    });
    result.decode = decodeZstd;
    return result;
}

StreamPack packDeflate(const Bytes& plain)
{
    StreamPack result = pack(plain, kPeerChunk, [] {
        const std::shared_ptr<libdeflate_compressor> encoder(
            libdeflate_alloc_compressor(kDeflateLevel), libdeflate_free_compressor);
        return [encoder](const uint8_t* bytes, uint32_t size) {
            Bytes out(libdeflate_deflate_compress_bound(encoder.get(), size));
            const size_t got =
                libdeflate_deflate_compress(encoder.get(), bytes, size, out.data(), out.size());
            if (got == 0) throw Failure{exitDevice, "bench: libdeflate cannot compress"};
            out.resize(got);
            return out;
        };
    });
    result.decode = decodeDeflate;
    return result;
}

StreamPack packGdeflate(const Bytes& plain)
{
    return pack(plain, kDriverTile, [] {
        SluiceGdeflateEncoder made = nullptr;
        const SluiceGdeflateEncoderInfo info = {kGdeflateLevel, 0};
        require(sluiceCreateGdeflateEncoder(&info, &made), "GDeflate encoder");
        const std::shared_ptr<SluiceGdeflateEncoder_T> encoder(made, sluiceDestroyGdeflateEncoder);
        return [encoder](const uint8_t* bytes, uint32_t size) {
            Bytes out(sluiceGdeflateTileBound(size));
            size_t got = 0;
            require(
                sluiceEncodeGdeflateTile(encoder.get(), bytes, size, out.data(), out.size(), &got),
                "GDeflate");
            out.resize(got);
            return out;
        };
    });
}

// --- Files

StreamFiles::StreamFiles(const std::string& folder, const InputFile& file, uint32_t copies)
    : m_size(file.size())
{
    constexpr size_t kPiece = 16u << 20;
    Bytes piece(size_t(std::min<uint64_t>(kPiece, m_size)));
    for (uint32_t i = 0; i < copies; ++i) {
        SystemFile to = kNoFile;
        const std::string path = create(folder, i, to);
        bool isGood = to != kNoFile;
        for (uint64_t at = 0; at < m_size && isGood; at += piece.size()) {
            const size_t size = size_t(std::min<uint64_t>(piece.size(), m_size - at));
            file.read(at, piece.data(), size);
            for (size_t done = 0; done < size && isGood;) {
                const int64_t got = writeSome(to, piece.data() + done, size - done);
                isGood = got > 0;
                done += isGood ? size_t(got) : 0;
            }
        }
        isGood = isGood && syncFile(to); // so that the system can drop its pages from memory
        const int error = errno;
        if (to != kNoFile && (m_unnamed.empty() || to != m_unnamed.back())) closeFile(to);
        if (isGood) continue;
        remove();
        errno = error;
        failFile(path);
    }
}

// Files without a name vanish with the process, whatever ends it. Where the system lacks them,
// files get names in a folder that a run leaves behind if it is killed.
std::string StreamFiles::create(const std::string& folder, uint32_t number, SystemFile& file)
{
    const SystemFile in = m_folder.empty() ? openFolder(folder) : kNoFile;
    if (in != kNoFile) {
        file = createUnnamedIn(in);
        closeFile(in);
    }
    if (file != kNoFile) {
        m_unnamed.push_back(file);
        m_paths.push_back(pathOfDescriptor(file));
        return m_paths.back();
    }
    if (m_folder.empty()) m_folder = makeTemporaryFolder(folder, "sluice-bench-");
    if (m_folder.empty()) failFile(folder);
    const std::string path = m_folder + formatText("/%05u", number);
    file = createFile(path);
    if (file != kNoFile) m_paths.push_back(path);
    return path;
}

StreamFiles::~StreamFiles() { remove(); }

void StreamFiles::remove() const
{
    for (const SystemFile file : m_unnamed)
        closeFile(file);
    for (size_t i = m_unnamed.size(); i < m_paths.size(); ++i)
        removeFile(m_paths[i]);
    if (!m_folder.empty()) removeFolder(m_folder);
}

void StreamFiles::dropFromMemory() const
{
    for (const std::string& path : m_paths)
        if (!::sluice::dropFromMemory(path)) failFile(path);
}

uint32_t copiesThatFit(const std::string& folder, uint64_t fileSize, uint32_t wanted)
{
    const std::optional<uint64_t> free = freeSpace(folder);
    if (!free) failFile(folder);
    return uint32_t(std::min<uint64_t>(wanted, *free / 10 * 9 / std::max<uint64_t>(fileSize, 1)));
}

bool isInMemory(const std::string& folder)
{
    const std::optional<bool> isIt = isFolderInMemory(folder);
    if (!isIt) failFile(folder);
    return *isIt;
}

} // namespace sluice
