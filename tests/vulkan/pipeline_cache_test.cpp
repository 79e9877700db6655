// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the file that holds what a driver compiled: damaged files, files of other drivers, and
// files that several processes use.
#include "tests/support/devices.h"
#include "tests/support/system.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "device/pipeline_cache.h"

using sluice::PipelineCache;
using sluice::PipelineCacheFile;
namespace fs = std::filesystem;

namespace {

using Bytes = std::vector<uint8_t>;

class Folder {
public:
    Folder()
    {
        const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
        m_path = fs::temp_directory_path() / ("sluice_cache_" + std::to_string(now));
        fs::create_directories(m_path);
    }
    ~Folder() { fs::remove_all(m_path); }
    std::string file(const char* name = "cache.bin") const { return (m_path / name).u8string(); }
    size_t count() const
    {
        return size_t(std::distance(fs::directory_iterator(m_path), fs::directory_iterator()));
    }

private:
    fs::path m_path;
};

VkPhysicalDeviceProperties properties()
{
    VkPhysicalDeviceProperties device{};
    device.vendorID = 0x10de;
    device.deviceID = 77;
    device.driverVersion = 5;
    for (uint8_t i = 0; i < VK_UUID_SIZE; ++i)
        device.pipelineCacheUUID[i] = uint8_t(i * 7);
    return device;
}

// Returns what a driver would return: its header, then bytes that depend on `seed`.
Bytes driversData(size_t more, uint32_t seed)
{
    const VkPhysicalDeviceProperties device = properties();
    const uint32_t words[] = {32, VK_PIPELINE_CACHE_HEADER_VERSION_ONE, device.vendorID,
                              device.deviceID};
    Bytes data(sizeof words + VK_UUID_SIZE);
    std::memcpy(data.data(), words, sizeof words);
    std::memcpy(data.data() + sizeof words, device.pipelineCacheUUID, VK_UUID_SIZE);
    for (size_t i = 0; i < more; ++i)
        data.push_back(uint8_t((i + seed) * 2654435761u >> 24));
    return data;
}

Bytes readBytes(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(file), {});
}

void writeBytes(const std::string& path, const Bytes& bytes)
{
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
}

// A made-up driver. Its caches are sets of bytes after the header, in order.
struct FakeCache {
    Bytes bytes;
};
std::atomic<int> fakeCaches{0};

VkResult VKAPI_PTR fakeCreate(VkDevice, const VkPipelineCacheCreateInfo* info,
                              const VkAllocationCallbacks*, VkPipelineCache* cache)
{
    auto* const made = new FakeCache;
    const auto* const data = static_cast<const uint8_t*>(info->pInitialData);
    if (info->initialDataSize > 32) made->bytes.assign(data + 32, data + info->initialDataSize);
    ++fakeCaches;
    *cache = reinterpret_cast<VkPipelineCache>(made);
    return VK_SUCCESS;
}
void VKAPI_PTR fakeDestroy(VkDevice, VkPipelineCache cache, const VkAllocationCallbacks*)
{
    --fakeCaches;
    delete reinterpret_cast<FakeCache*>(cache);
}
VkResult VKAPI_PTR fakeGetData(VkDevice, VkPipelineCache cache, size_t* size, void* data)
{
    const Bytes& bytes = reinterpret_cast<FakeCache*>(cache)->bytes;
    if (data != nullptr) {
        const Bytes head = driversData(0, 0);
        std::memcpy(data, head.data(), 32);
        if (!bytes.empty())
            std::memcpy(static_cast<uint8_t*>(data) + 32, bytes.data(), bytes.size());
    }
    *size = 32 + bytes.size();
    return VK_SUCCESS;
}
VkResult VKAPI_PTR fakeMerge(VkDevice, VkPipelineCache to, uint32_t count,
                             const VkPipelineCache* from)
{
    Bytes& bytes = reinterpret_cast<FakeCache*>(to)->bytes;
    for (uint32_t i = 0; i < count; ++i)
        for (const uint8_t byte : reinterpret_cast<FakeCache*>(from[i])->bytes)
            if (bytes.end() == std::find(bytes.begin(), bytes.end(), byte)) bytes.push_back(byte);
    std::sort(bytes.begin(), bytes.end());
    return VK_SUCCESS;
}

constexpr PipelineCache::Functions kFake = {fakeCreate, fakeDestroy, fakeGetData, fakeMerge};

} // namespace

TEST_CASE("pipeline cache: a file gives back what was written, and nothing else")
{
    const Folder folder;
    const PipelineCacheFile file(properties(), folder.file());
    CHECK(file.read().empty());
    const Bytes data = driversData(500, 1);
    REQUIRE(file.write(data));
    CHECK((file.read() == data));
    CHECK(folder.count() == 1); // no temporary file is left
    const Bytes whole = readBytes(folder.file());

    // Files of every shorter length, and files with any byte changed, are refused.
    for (size_t size = 0; size < whole.size(); ++size) {
        writeBytes(folder.file(), Bytes(whole.begin(), whole.begin() + std::ptrdiff_t(size)));
        CHECK(file.read().empty());
    }
    for (size_t i = 0; i < whole.size(); ++i) {
        Bytes changed = whole;
        changed[i] ^= uint8_t(1u << i % 8);
        writeBytes(folder.file(), changed);
        CHECK(file.read().empty());
    }
    Bytes longer = whole;
    longer.push_back(0);
    writeBytes(folder.file(), longer);
    CHECK(file.read().empty());

    // A file of another device, driver or format of caches is refused, too.
    writeBytes(folder.file(), whole);
    VkPhysicalDeviceProperties others[4] = {properties(), properties(), properties(), properties()};
    ++others[0].vendorID;
    ++others[1].deviceID;
    ++others[2].driverVersion;
    ++others[3].pipelineCacheUUID[15];
    for (const VkPhysicalDeviceProperties& other : others)
        CHECK(PipelineCacheFile(other, folder.file()).read().empty());

    // The data begins with another driver's header, though the file's checksum is right.
    Bytes foreign = data;
    foreign[8] ^= 1;
    REQUIRE(file.write(foreign));
    CHECK(file.read().empty());

    // Data that cannot be written changes nothing.
    REQUIRE(file.write(data));
    CHECK_FALSE(file.write(Bytes()));
    CHECK_FALSE(file.write(Bytes(PipelineCacheFile::kMaxBytes)));
    CHECK((file.read() == data));
    CHECK_FALSE(PipelineCacheFile(properties(), folder.file() + "/below").write(data));
    CHECK(PipelineCacheFile(properties(), folder.file("")).read().empty());
    CHECK(folder.count() == 1);
}

TEST_CASE("pipeline cache: who reads while others write gets a whole file")
{
    if (!sluice::test::replacesOpenFiles())
        return sluice::test::skipCase("Wine replaces no file that is open");
    const Folder folder;
    std::atomic<bool> done{false};
    std::atomic<uint32_t> wrong{0}, reads{0};
    REQUIRE(PipelineCacheFile(properties(), folder.file()).write(driversData(1000, 9)));
    std::vector<std::thread> threads;
    for (uint32_t t = 0; t < 2; ++t) {
        threads.emplace_back([&, t] {
            const PipelineCacheFile file(properties(), folder.file());
            for (uint32_t i = 0; i < 200; ++i)
                if (!file.write(driversData(1000 + 100 * t, i))) ++wrong;
        });
    }
    std::thread reader([&] {
        const PipelineCacheFile file(properties(), folder.file());
        while (!done) {
            if (file.read().size() < 1032) ++wrong;
            ++reads;
        }
    });
    for (std::thread& thread : threads)
        thread.join();
    done = true;
    reader.join();
    CHECK(wrong == 0);
    CHECK(reads > 0);
    CHECK(folder.count() == 1);
}

TEST_CASE("pipeline cache: what two processes compiled is kept")
{
    const Folder folder;
    const auto bytesOf = [](const PipelineCache& cache) -> Bytes& {
        return reinterpret_cast<FakeCache*>(cache.handle())->bytes;
    };
    {
        PipelineCache first(VK_NULL_HANDLE, kFake, PipelineCacheFile(properties(), folder.file()));
        PipelineCache second(VK_NULL_HANDLE, kFake, PipelineCacheFile(properties(), folder.file()));
        bytesOf(first) = {1, 2};
        bytesOf(second) = {3};
        first.save();
        second.save();
    }
    PipelineCache third(VK_NULL_HANDLE, kFake, PipelineCacheFile(properties(), folder.file()));
    CHECK((bytesOf(third) == Bytes{1, 2, 3}));
    // With nothing new, the file is not written.
    const auto time = fs::last_write_time(fs::u8path(folder.file()));
    third.save();
    CHECK(fs::last_write_time(fs::u8path(folder.file())) == time);
    // A damaged file is replaced.
    writeBytes(folder.file(), Bytes(100, 7));
    bytesOf(third).push_back(4);
    third.save();
    CHECK((PipelineCacheFile(properties(), folder.file()).read().size() == 36));
    CHECK(fakeCaches == 1);
}

TEST_CASE("pipeline cache: links are followed, and what is no file stays what it is")
{
    const Folder folder;
    std::error_code error;
    const auto at = [&](const char* name) { return fs::u8path(folder.file(name)); };
    fs::create_symlink("target.bin", at("link"), error);
    if (error) return sluice::test::skipCase("this system makes no links");
    const Bytes data = driversData(500, 1);
    for (int i = 0; i < 2; ++i) { // the target is new, then is replaced and keeps its mode
        CHECK(PipelineCacheFile(properties(), folder.file("link")).write(data));
        CHECK(fs::is_symlink(at("link")));
        CHECK((PipelineCacheFile(properties(), folder.file("target.bin")).read() == data));
        fs::permissions(at("target.bin"), fs::perms::owner_read | fs::perms::owner_write);
    }
    CHECK((fs::status(at("target.bin")).permissions() & fs::perms::group_all) == fs::perms::none);
    // What becomes a link later is not followed.
    const PipelineCacheFile later(properties(), folder.file("later"));
    fs::create_symlink("target.bin", at("later"));
    CHECK(later.read().empty());
    CHECK_FALSE(later.write(data));
    fs::create_directory(at("empty"));
    CHECK_FALSE(PipelineCacheFile(properties(), folder.file("empty")).write(data));
    CHECK(fs::is_directory(at("empty")));
    CHECK_FALSE(PipelineCacheFile(properties(), "/dev/null").write(data));
}

TEST_CASE("pipeline cache: what killed runs left is removed, and nothing else")
{
    const Folder folder;
    const auto old = fs::file_time_type::clock::now() - std::chrono::hours(2);
    const std::vector<std::string> kept = {"cache.bin.1-2.tmp.txt", "cache.bin.1-x.tmp",
                                           "cache.bin.-2.tmp",      "cache.bin.tmp",
                                           "other.bin.1-2.tmp",     "cache.bin.3-4.tmp"};
    for (const std::string& name : kept) {
        writeBytes(folder.file(name.c_str()), Bytes(9));
        if (&name != &kept.back()) fs::last_write_time(folder.file(name.c_str()), old);
    }
    writeBytes(folder.file("cache.bin.12-34.tmp"), Bytes(9));
    fs::last_write_time(folder.file("cache.bin.12-34.tmp"), old);
    REQUIRE(PipelineCacheFile(properties(), folder.file()).write(driversData(500, 1)));
    CHECK(folder.count() == kept.size() + 1);
    CHECK_FALSE(fs::exists(folder.file("cache.bin.12-34.tmp")));
}

TEST_CASE("pipeline cache: an unusable folder is no error")
{
    PipelineCache cache(VK_NULL_HANDLE, kFake,
                        PipelineCacheFile(properties(), "/proc/nothing/cache.bin"));
    REQUIRE(cache.handle() != VK_NULL_HANDLE);
    reinterpret_cast<FakeCache*>(cache.handle())->bytes = {1};
    cache.save();
}
