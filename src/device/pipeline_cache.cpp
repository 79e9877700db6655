// SPDX-License-Identifier: MIT OR Apache-2.0
#include "device/pipeline_cache.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>

#include <sluice/sluice.h>

#include "platform/shared_file.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

// The header consists of little-endian words: magic, version, vendor, device, driver version, the
// UUID of the driver's caches, the size of the data (two words), and the checksum of header and
// data without the checksum itself.
constexpr uint32_t kMagic = 0x43504c53, kVersion = 1; // "SLPC"
constexpr size_t kUuidAt = 20, kSizeAt = kUuidAt + VK_UUID_SIZE, kChecksumAt = kSizeAt + 8,
                 kHeaderBytes = kChecksumAt + 4;
constexpr const char* kPrefix = "pipelines-";

void putWord(std::vector<uint8_t>& bytes, uint32_t word)
{
    for (uint32_t i = 0; i < 4; ++i)
        bytes.push_back(uint8_t(word >> 8 * i));
}

// Relative paths in the variables are ignored, as the XDG base directory specification demands.
fs::path cacheFolder()
{
#ifdef _WIN32
    const fs::path folder = folderFromVariable("LOCALAPPDATA");
#else
    fs::path folder = folderFromVariable("XDG_CACHE_HOME");
    if (!folder.is_absolute()) {
        const fs::path home = folderFromVariable("HOME");
        folder = home.is_absolute() ? home / ".cache" : fs::path();
    }
#endif
    return folder.is_absolute() ? folder / "sluice" : fs::path();
}

std::string hexadecimal(const uint8_t* bytes, size_t count)
{
    std::string text;
    for (size_t i = 0; i < count; ++i) {
        text += "0123456789abcdef"[bytes[i] >> 4];
        text += "0123456789abcdef"[bytes[i] & 15];
    }
    return text;
}

// Checks the header with which the driver's own data begins (VkPipelineCacheHeaderVersionOne).
bool isDriversOwn(const std::vector<uint8_t>& data, const VkPhysicalDeviceProperties& device)
{
    uint32_t words[4];
    if (data.size() < sizeof words + VK_UUID_SIZE) return false;
    std::memcpy(words, data.data(), sizeof words);
    return words[0] >= sizeof words + VK_UUID_SIZE && words[0] <= data.size() &&
           words[1] == VK_PIPELINE_CACHE_HEADER_VERSION_ONE && words[2] == device.vendorID &&
           words[3] == device.deviceID &&
           std::memcmp(data.data() + sizeof words, device.pipelineCacheUUID, VK_UUID_SIZE) == 0;
}

// Returns a name beside `path` that no other process or thread uses.
fs::path temporaryBeside(const fs::path& path)
{
    std::random_device random;
    fs::path name = path;
    name += "." + std::to_string(random()) + "-" + std::to_string(random()) + ".tmp";
    return name;
}

} // namespace

PipelineCacheFile::PipelineCacheFile(const VkPhysicalDeviceProperties& device,
                                     const std::string& path)
    : m_device(device), m_isUsual(path.empty())
{
    m_path = fs::u8path(path);
    if (!m_isUsual) return;
    const fs::path folder = cacheFolder();
    if (!folder.empty())
        m_path = folder / (kPrefix + std::to_string(device.vendorID) + "-" +
                           std::to_string(device.deviceID) + "-" +
                           hexadecimal(device.pipelineCacheUUID, VK_UUID_SIZE) + ".bin");
}

std::vector<uint8_t> PipelineCacheFile::header(const std::vector<uint8_t>& data) const
{
    std::vector<uint8_t> bytes;
    for (const uint32_t word :
         {kMagic, kVersion, m_device.vendorID, m_device.deviceID, m_device.driverVersion})
        putWord(bytes, word);
    bytes.insert(bytes.end(), m_device.pipelineCacheUUID,
                 m_device.pipelineCacheUUID + VK_UUID_SIZE);
    putWord(bytes, uint32_t(data.size()));
    putWord(bytes, uint32_t(uint64_t(data.size()) >> 32));
    const uint32_t sums[] = {sluiceTileChecksum(bytes.data(), bytes.size()),
                             sluiceTileChecksum(data.data(), data.size())};
    putWord(bytes, sluiceTileChecksum(sums, sizeof sums));
    return bytes;
}

bool PipelineCacheFile::isStart(const std::vector<uint8_t>& bytes)
{
    std::vector<uint8_t> magic;
    putWord(magic, kMagic);
    return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin());
}

std::vector<uint8_t> PipelineCacheFile::read() const
{
    if (m_path.empty()) return {};
    const std::vector<uint8_t> whole = readSharedFile(m_path, kMaxBytes);
    if (whole.size() <= kHeaderBytes) return {};
    const auto split = whole.begin() + kHeaderBytes;
    const std::vector<uint8_t> found(whole.begin(), split);
    std::vector<uint8_t> data(split, whole.end());
    if (found != header(data) || !isDriversOwn(data, m_device)) return {};
    return data;
}

// Removes the oldest files of other drivers until `room` bytes are left for ours.
void PipelineCacheFile::pruneFolder(uint64_t room) const
{
    struct Other {
        fs::file_time_type time;
        uint64_t size;
        fs::path path;
    };
    std::vector<Other> others;
    uint64_t total = 0;
    std::error_code error;
    for (fs::directory_iterator i(m_path.parent_path(), error), end; !error && i != end;
         i.increment(error)) {
        std::error_code ignored;
        const std::string name = i->path().filename().u8string();
        if (name.compare(0, std::strlen(kPrefix), kPrefix) != 0 || i->path() == m_path) continue;
        others.push_back({i->last_write_time(ignored), i->file_size(ignored), i->path()});
        if (ignored)
            others.pop_back(); // another process has removed it
        else
            total += others.back().size;
    }
    std::sort(others.begin(), others.end(),
              [](const Other& a, const Other& b) { return a.time < b.time; });
    for (size_t i = 0; i < others.size() && total + room > kMaxBytes; ++i) {
        fs::remove(others[i].path, error);
        total -= others[i].size;
    }
}

bool PipelineCacheFile::write(const std::vector<uint8_t>& data) const
{
    if (m_path.empty() || data.empty() || data.size() + kHeaderBytes > kMaxBytes) return false;
    std::error_code error;
    if (m_path.has_parent_path()) fs::create_directories(m_path.parent_path(), error);
    if (m_isUsual) pruneFolder(data.size() + kHeaderBytes);
    const std::vector<uint8_t> first = header(data);
    const fs::path temporary = temporaryBeside(m_path);
    {
        std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
        file.write(reinterpret_cast<const char*>(first.data()), std::streamsize(first.size()));
        file.write(reinterpret_cast<const char*>(data.data()), std::streamsize(data.size()));
        file.close();
        if (!file) error = std::make_error_code(std::errc::io_error);
    }
    if (!error && renameOver(temporary, m_path)) return true;
    std::error_code ignored;
    fs::remove(temporary, ignored);
    return false;
}

PipelineCache::PipelineCache(VkDevice device, const Functions& vk, PipelineCacheFile file)
    : m_device(device), m_vk(vk), m_file(std::move(file)), m_saved(m_file.read())
{
    VkPipelineCacheCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
    info.initialDataSize = m_saved.size();
    info.pInitialData = m_saved.data();
    if (m_vk.create(m_device, &info, nullptr, &m_handle) == VK_SUCCESS) return;
    // The driver rejected the file's content, so the cache starts empty.
    m_saved.clear();
    info.initialDataSize = 0;
    if (m_vk.create(m_device, &info, nullptr, &m_handle) != VK_SUCCESS) m_handle = VK_NULL_HANDLE;
}

PipelineCache::~PipelineCache() { m_vk.destroy(m_device, m_handle, nullptr); }

std::vector<uint8_t> PipelineCache::data() const
{
    size_t size = 0;
    if (m_vk.getData(m_device, m_handle, &size, nullptr) != VK_SUCCESS) return {};
    std::vector<uint8_t> bytes(size);
    if (m_vk.getData(m_device, m_handle, &size, bytes.data()) != VK_SUCCESS) return {};
    bytes.resize(size);
    return bytes;
}

void PipelineCache::save() noexcept
{
    try {
        mergeAndWrite();
    } catch (const std::exception&) { // memory ran out, or a path cannot be written in this locale
    }
}

void PipelineCache::mergeAndWrite()
{
    if (m_handle == VK_NULL_HANDLE) return;
    std::vector<uint8_t> own = data();
    if (own.empty() || own == m_saved) return;
    const std::vector<uint8_t> theirs = m_file.read();
    if (!theirs.empty() && theirs != m_saved) {
        VkPipelineCacheCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
        info.initialDataSize = theirs.size();
        info.pInitialData = theirs.data();
        VkPipelineCache other = VK_NULL_HANDLE;
        if (m_vk.create(m_device, &info, nullptr, &other) == VK_SUCCESS) {
            if (m_vk.merge(m_device, m_handle, 1, &other) == VK_SUCCESS) own = data();
            m_vk.destroy(m_device, other, nullptr);
        }
    }
    if (own != theirs && !m_file.write(own)) return;
    m_saved = std::move(own);
}

} // namespace sluice
