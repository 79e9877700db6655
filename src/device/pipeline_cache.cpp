// SPDX-License-Identifier: MIT OR Apache-2.0
// The file of a pipeline cache: its name, its header and how it is replaced.
#include "device/pipeline_cache.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <random>

#include <sluice/sluice.h>

#include "platform/shared_file.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

// The file begins with a header of little-endian words: magic, version, vendor, device, driver
// version, the UUID of the driver's caches (four words), the size of the driver's data (two words),
// and a checksum. The checksum covers the header before it and the data.
constexpr uint32_t kMagic = 0x43504c53, kVersion = 1; // "SLPC"
constexpr size_t kUuidAt = 20, kSizeAt = kUuidAt + VK_UUID_SIZE, kChecksumAt = kSizeAt + 8,
                 kHeaderBytes = kChecksumAt + 4;
constexpr const char* kPrefix = "pipelines-";

// Appends a little-endian word.
void putWord(std::vector<uint8_t>& bytes, uint32_t word)
{
    for (uint32_t i = 0; i < 4; ++i)
        bytes.push_back(uint8_t(word >> 8 * i));
}

// Returns the folder for sluice's cache files of this user, or an empty path if the environment
// names none. Relative paths are ignored, as the XDG base directory specification demands.
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

// Returns whether `data` is from this driver and device. To find out, it reads the header that
// Vulkan prescribes at the start of such data (VkPipelineCacheHeaderVersionOne).
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

constexpr const char* kTemporaryEnd = ".tmp";

// Returns a name for a file beside `path` that no other process or thread uses.
fs::path temporaryBeside(const fs::path& path)
{
    std::random_device random;
    fs::path name = path;
    name += "." + std::to_string(random()) + "-" + std::to_string(random()) + kTemporaryEnd;
    return name;
}

constexpr char kDigits[] = "0123456789";

// Returns whether `text` is a number, a dash, and another number.
bool isPairOfNumbers(const std::string& text)
{
    const size_t dash = text.find_first_not_of(kDigits);
    return dash != 0 && dash + 1 < text.size() && text[dash] == '-' &&
           text.find_first_not_of(kDigits, dash + 1) == text.npos;
}

// Returns whether `name` could be the name of temporaryBeside(file). Both are names without a
// folder.
bool isTemporaryOf(const std::string& file, const std::string& name)
{
    const std::string start = file + ".", end = kTemporaryEnd;
    return name.size() > start.size() + end.size() && name.compare(0, start.size(), start) == 0 &&
           name.compare(name.size() - end.size(), end.size(), end) == 0 &&
           isPairOfNumbers(name.substr(start.size(), name.size() - start.size() - end.size()));
}

// Returns whether `name` is a cache file's name in the user's cache folder, as the constructor of
// PipelineCacheFile makes it: pipelines-VENDOR-DEVICE-UUID.bin.
bool isUsualName(const std::string& name)
{
    const std::string start = kPrefix, end = ".bin";
    const size_t uuid = name.rfind('-');
    return name.compare(0, start.size(), start) == 0 && uuid != name.npos && uuid > start.size() &&
           name.size() == uuid + 1 + 2 * VK_UUID_SIZE + end.size() &&
           name.compare(name.size() - end.size(), end.size(), end) == 0 &&
           name.find_first_not_of("0123456789abcdef", uuid + 1) == name.size() - end.size() &&
           isPairOfNumbers(name.substr(start.size(), uuid - start.size()));
}

bool isFile(const fs::path& path)
{
    std::error_code error;
    return fs::symlink_status(path, error).type() == fs::file_type::regular;
}

fs::path withoutLinks(fs::path path)
{
    std::error_code error;
    for (int links = 0; links < 40 && fs::is_symlink(path, error); ++links)
        path = path.parent_path() / fs::read_symlink(path, error);
    return path;
}

// Calls call(path, name) for each regular file in a folder. Links are skipped.
template <typename Call>
void forEachFile(const fs::path& folder, const Call& call)
{
    std::error_code error;
    for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error))
        if (isFile(i->path())) call(i->path(), i->path().filename().u8string());
}

} // namespace

PipelineCacheFile::PipelineCacheFile(const VkPhysicalDeviceProperties& device,
                                     const std::string& path)
    : m_device(device), m_isUsual(path.empty())
{
    m_path = withoutLinks(fs::u8path(path));
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

// Removes temporary files that killed processes have left beside the file. Writing such a file
// takes seconds at most, so one that is an hour old is no longer being written.
void PipelineCacheFile::removeUnfinished() const
{
    const std::string own = m_path.filename().u8string();
    const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
    const fs::path folder = m_path.has_parent_path() ? m_path.parent_path() : fs::path(".");
    forEachFile(folder, [&](const fs::path& path, const std::string& name) {
        std::error_code error;
        if (isTemporaryOf(own, name) && fs::last_write_time(path, error) < old && !error)
            fs::remove(path, error);
    });
}

// Removes caches of other drivers and devices from the folder, the oldest first, until they and
// `room` bytes for our own file take at most kMaxBytes together.
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
    forEachFile(m_path.parent_path(), [&](const fs::path& path, const std::string& name) {
        if (!isUsualName(name) || path == m_path) return;
        std::error_code failed;
        const auto time = fs::last_write_time(path, failed);
        if (failed) return; // another process has removed it
        const uint64_t size = fs::file_size(path, failed);
        if (failed) return;
        others.push_back({time, size, path});
        total += size;
    });
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
    const fs::file_status before = fs::symlink_status(m_path, error);
    const bool isNew = before.type() == fs::file_type::not_found;
    if (!isNew && before.type() != fs::file_type::regular) return false;
    error.clear();
    removeUnfinished();
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
    if (!error && !isNew) fs::permissions(temporary, before.permissions(), error);
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
    // The driver rejected the data of the file, so the cache starts empty.
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
    } catch (const std::exception&) {
        // Memory ran out, or the path cannot be converted to this locale. The next run compiles the
        // pipelines again.
    }
}

void PipelineCache::mergeAndWrite()
{
    if (m_handle == VK_NULL_HANDLE) return;
    std::vector<uint8_t> own = data();
    if (own.empty() || own == m_saved) return;
    // Another process may have written the file since it was read or written here.
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
