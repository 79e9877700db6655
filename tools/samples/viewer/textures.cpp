// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/samples/viewer/textures.h"

#include <algorithm>
#include <cstdio>

#include "tools/samples/require.h"

namespace viewer {

using ::require;

namespace {

// A slot is the index of an image's descriptor. A texture has up to two images, a tail and a
// detailed one. 512 more slots are for images that are being loaded or wait to be destroyed.
constexpr uint32_t kMaxSlots = 2 * kMaxTextures + 512;
// Levels of fewer bytes than this form the tail. It is also the size from which on the packer gives
// a level tiles of its own (kImageTile); smaller levels share tiles.
constexpr uint64_t kTailSize = 65536;
constexpr uint32_t kGreySide = 8; // side of the grey texture, in texels

VkImageMemoryBarrier barrierOf(VkImage image, VkImageLayout from, VkImageLayout to, uint32_t level,
                               uint32_t levels)
{
    const auto accessOf = [](VkImageLayout layout) -> VkAccessFlags {
        return layout == VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL   ? VK_ACCESS_TRANSFER_WRITE_BIT
               : layout == VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL ? VK_ACCESS_TRANSFER_READ_BIT
               : layout == VK_IMAGE_LAYOUT_UNDEFINED            ? 0
                                                                : VK_ACCESS_SHADER_READ_BIT;
    };
    VkImageMemoryBarrier barrier = {};
    barrier.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER;
    barrier.srcAccessMask = accessOf(from);
    barrier.dstAccessMask = accessOf(to);
    barrier.oldLayout = from;
    barrier.newLayout = to;
    barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    barrier.image = image;
    barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, level, levels, 0, 1};
    return barrier;
}

VkSamplerCreateInfo textureSampler()
{
    VkSamplerCreateInfo sampler = {};
    sampler.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO;
    sampler.magFilter = sampler.minFilter = VK_FILTER_LINEAR;
    sampler.mipmapMode = VK_SAMPLER_MIPMAP_MODE_LINEAR;
    sampler.maxLod = VK_LOD_CLAMP_NONE;
    return sampler;
}

} // namespace

Textures::Textures(Device& device, Streaming& streaming, const ResidencySettings& settings,
                   const std::string& uastc)
    : m_device(device), m_streaming(streaming), m_budget(settings.budget), m_uastc(uastc),
      m_residency(settings), m_sets(device, textureSampler(), device.isBindless() ? 1 : kMaxSlots,
                                    device.isBindless() ? kMaxSlots : 1)
{
    for (uint32_t slot = kMaxSlots; slot-- > 0;)
        m_freeSlots.push_back(slot);
    makeDefault();
}

Textures::~Textures()
{
    for (Texture& texture : m_textures)
        for (LevelImage* image : {&texture.tail, &texture.detail, &texture.coming})
            destroy(*image);
    for (Retired& retired : m_retired)
        destroy(retired.image);
}

// Makes texture 0, which stands in for missing ones. It has one level, which is streamed from host
// memory.
void Textures::makeDefault()
{
    m_grey.assign(size_t{kGreySide} * kGreySide * 4, 128);
    Texture grey;
    grey.info.format = VK_FORMAT_R8G8B8A8_UNORM;
    grey.info.width = grey.info.height = kGreySide;
    grey.info.levels = 1;
    m_residency.add({m_grey.size()}, 0);
    m_residency.setInUse(0, true);
    m_textures.push_back(grey);
}

// Chooses the format of a texture's images. Returns why the texture cannot be shown, or nothing.
std::string Textures::chooseFormat(Texture& texture) const
{
    SluiceImageInfo& info = texture.info;
    if (info.depth != 1 || info.layers * info.faces != 1) return "it is not one 2D image";
    if (std::max(info.width, info.height) >
        std::min(m_device.properties().limits.maxImageDimension2D, 65535u))
        return "it is too large for this device";
    if ((info.flags & SLUICE_IMAGE_TRANSCODE) == 0)
        return info.format != VK_FORMAT_UNDEFINED && m_device.hasFormat(VkFormat(info.format))
                   ? ""
                   : "this device does not sample format " + std::to_string(info.format);
    // Archives made before version 0.2.0 do not say which channels UASTC blocks hold.
    const uint32_t channels = info.colourModel != 0 ? info.channel : uint32_t(SLUICE_UASTC_RGBA);
    const uint32_t choice = (info.flags & SLUICE_IMAGE_SRGB) != 0 ? SLUICE_UASTC_SRGB : 0;
    const uint32_t features[] = {SLUICE_UASTC_HAS_BC, SLUICE_UASTC_HAS_ASTC, 0};
    for (uint32_t i = 0; i < 3; ++i) {
        if (m_uastc != kUastcChoices[0] && m_uastc != kUastcChoices[i + 1]) continue;
        SluiceUastcFormat formats[SLUICE_UASTC_MAX_FORMATS]; // the best comes first
        uint32_t count = 0;
        if (sluiceGetUastcFormats(channels, features[i], choice, formats, &count) != SLUICE_OK)
            return "its channels are unknown";
        if (!m_device.hasFormat(VkFormat(formats[0].format))) continue;
        texture.uastc = formats[0];
        info.format = formats[0].format;
        return "";
    }
    return "it is UASTC, and this device does not sample " +
           (m_uastc == kUastcChoices[0] ? "what that can become" : m_uastc);
}

uint32_t Textures::find(const std::string& name)
{
    const auto known = m_byName.find(name);
    if (known != m_byName.end()) return known->second;
    uint32_t& number = m_byName[name]; // a new name has 0, the grey texture
    const auto asset = m_streaming.textures().find(name);
    if (asset == m_streaming.textures().end() || m_textures.size() == kMaxTextures) return 0;
    Texture texture;
    texture.asset = asset->second;
    const SluiceArchiveAsset about = m_streaming.asset(asset->second);
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS];
    require(sluiceGetArchiveImage(&about, &texture.info, levels), name.c_str());
    const std::string obstacle = chooseFormat(texture);
    if (!obstacle.empty()) {
        std::fprintf(stderr, "viewer: %s is not shown: %s\n", name.c_str(), obstacle.c_str());
        return 0;
    }
    const SluiceImageInfo& info = texture.info;
    std::vector<uint64_t> bytesFrom(info.levels);
    uint64_t bytes = 0;
    for (uint32_t level = info.levels; level-- > 0;) {
        SluiceImageLevel made; // its size, which differs from what is packed if UASTC becomes RGBA8
        require(sluiceGetImageLevel(&info, level, &made), name.c_str());
        bytes += made.decodedSize;
        bytesFrom[level] = bytes;
        if (levels[level].decodedSize < kTailSize) texture.tailLevel = level;
    }
    if (levels[info.levels - 1].decodedSize >= kTailSize) texture.tailLevel = info.levels - 1;
    number = m_residency.add(std::move(bytesFrom), texture.tailLevel);
    m_textures.push_back(texture);
    return number;
}

void Textures::setInUse(const std::vector<uint32_t>& textures, bool isInUse)
{
    for (const uint32_t texture : textures)
        if (texture != 0) m_residency.setInUse(texture, isInUse);
}

void Textures::wantEverything(bool isOn)
{
    m_wantsEverything = isOn;
    m_residency.wantEverything(isOn);
}

bool Textures::haveTails(const std::vector<uint32_t>& textures) const
{
    const auto isReady = [this](uint32_t texture) {
        return m_textures[texture].tail.isThere() || m_residency.isDamaged(texture);
    };
    return isReady(0) && std::all_of(textures.begin(), textures.end(), isReady);
}

void Textures::feedback(const uint32_t* levels, const uint32_t* pixels, uint64_t frame)
{
    for (uint32_t i = 0; i < m_textures.size(); ++i)
        m_residency.feedback(i, levels[i], pixels[i], frame);
}

uint32_t Textures::missing() const
{
    uint32_t missing = 0;
    for (uint32_t i = 0; i < m_textures.size(); ++i)
        missing += m_residency.isBusy(i) ? 1 : 0;
    return missing;
}

uint32_t Textures::reduced() const
{
    uint32_t reduced = 0;
    for (uint32_t i = 0; i < m_textures.size(); ++i)
        reduced += m_residency.resident(i) != 0 ? 1 : 0;
    return reduced;
}

std::array<uint32_t, kLevelBands> Textures::byLevel() const
{
    std::array<uint32_t, kLevelBands> counts = {};
    for (uint32_t i = 1; i < m_textures.size(); ++i) { // 0 is grey
        const uint32_t absent = m_residency.resident(i);
        if (absent < m_residency.levels(i)) ++counts[std::min<size_t>(absent, counts.size() - 1)];
    }
    return counts;
}

Textures::LevelImage Textures::makeImage(const Texture& texture, uint32_t firstLevel)
{
    const SluiceImageInfo& info = texture.info;
    if (m_freeSlots.empty()) return {}; // too many images wait for the GPU
    VkImageCreateInfo create = {};
    create.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
    create.imageType = VK_IMAGE_TYPE_2D;
    create.format = VkFormat(info.format);
    create.extent = {std::max(info.width >> firstLevel, 1u),
                     std::max(info.height >> firstLevel, 1u), 1};
    create.mipLevels = info.levels - firstLevel;
    create.arrayLayers = 1;
    create.samples = VK_SAMPLE_COUNT_1_BIT;
    create.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                   VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    LevelImage made;
    const uint32_t* const swizzle = texture.uastc.swizzle;
    made.image =
        m_device.makeImage(create, VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_VIEW_TYPE_2D,
                           {VkComponentSwizzle(swizzle[0]), VkComponentSwizzle(swizzle[1]),
                            VkComponentSwizzle(swizzle[2]), VkComponentSwizzle(swizzle[3])});
    made.firstLevel = firstLevel;
    made.slot = m_freeSlots.back();
    m_freeSlots.pop_back();
    m_usedBytes += made.image.memory.size;
    if (m_device.isBindless())
        m_sets.write(m_sets[0], made.slot, made.image.view);
    else
        m_sets.write(m_sets[made.slot], 0, made.image.view);
    return made;
}

void Textures::destroy(LevelImage& image)
{
    if (!image.isThere()) return;
    m_usedBytes -= image.image.memory.size;
    m_freeSlots.push_back(image.slot);
    m_device.destroy(image.image);
    image = {};
}

void Textures::retire(LevelImage& image, uint64_t frame)
{
    if (!image.isThere()) return;
    m_retiredBytes += image.image.memory.size;
    m_retired.push_back({image, frame});
    image = {};
}

// Begins to raise a texture: makes an image with the levels from `level` on. Levels in memory will
// be copied from the old image, finer ones are streamed. Shaders use the old image until all levels
// are there.
void Textures::raise(uint32_t index, uint32_t level)
{
    Texture& texture = m_textures[index];
    const uint32_t resident = m_residency.resident(index);
    texture.coming = makeImage(texture, level);
    if (!texture.coming.isThere()) return;
    // m_residency has planned with the bytes of the levels. The budget is checked once more, since
    // a driver may need more memory for an image.
    if (!m_wantsEverything && m_usedBytes > m_budget && index != 0) {
        destroy(texture.coming);
        return;
    }
    SluiceStreamImage image = {};
    image.image = sluiceStreamImageHandle(texture.coming.image.image);
    image.oldLayout = VK_IMAGE_LAYOUT_UNDEFINED;
    image.newLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    image.format = texture.uastc.format;
    image.formatFlags = texture.uastc.flags;
    // The queue of a compute-only family cannot name the fragment stage in a barrier. There, frames
    // wait for a semaphore instead (StreamQueue::semaphore).
    if (m_device.streamingFamily() == m_device.family()) {
        image.stages = VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
        image.accesses = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;
    }
    std::vector<SluiceStreamRequest> requests(SLUICE_IMAGE_MAX_LEVELS);
    if (index != 0) {
        uint32_t count = SLUICE_IMAGE_MAX_LEVELS;
        require(sluiceStreamGetImageRequests(m_streaming.file(), texture.asset, level,
                                             resident - level, &image, requests.data(), &count),
                "sluiceStreamGetImageRequests");
        requests.resize(count);
    } else {
        requests.resize(1);
        requests[0].source = SLUICE_STREAM_FROM_MEMORY;
        requests[0].target = SLUICE_STREAM_TO_IMAGE;
        requests[0].memory = m_grey.data();
        requests[0].size = m_grey.size();
        image.blockWidth = image.blockHeight = image.layerCount = image.extent[2] = 1;
        image.blockSize = 4;
        image.extent[0] = image.extent[1] = kGreySide;
        requests[0].image = image;
    }
    texture.priority = m_residency.priority(index);
    texture.group =
        m_streaming.submit(requests, texture.priority,
                           texture.tail.isThere() ? GroupClass::level : GroupClass::tail, index);
    if (texture.group == 0) { // the streamer is full; try again in the next frame
        destroy(texture.coming);
        return;
    }
    if (texture.tail.isThere()) addCopy(texture, texture.coming);
    m_residency.started(index, level);
    texture.isCancelled = false;
    m_counts.raised += 1;
}

// Replaces a texture's image by a smaller one. This frame copies the levels before it draws, so
// that its draws may use the smaller image already.
void Textures::lower(uint32_t index, uint32_t level, uint64_t frame)
{
    Texture& texture = m_textures[index];
    if (level < texture.tailLevel) {
        LevelImage smaller = makeImage(texture, level);
        if (smaller.isThere() && m_usedBytes <= m_budget) {
            addCopy(texture, smaller);
            retire(texture.detail, frame);
            texture.detail = smaller;
        } else {
            destroy(smaller);
            retire(texture.detail, frame);
            level = texture.tailLevel;
        }
    } else {
        retire(texture.detail, frame);
        if (level > texture.tailLevel) retire(texture.tail, frame);
    }
    m_residency.lowered(index, level);
    m_counts.lowered += 1;
}

// Adds to m_copies a copy from the texture's current image into the image `to`, of every level that
// both have.
void Textures::addCopy(const Texture& texture, const LevelImage& to)
{
    const LevelImage& from = texture.current();
    const uint32_t first = std::max(from.firstLevel, to.firstLevel);
    m_copies.push_back({from.image.image, to.image.image, texture.info.levels - from.firstLevel,
                        texture.info.levels - to.firstLevel, texture.info.levels - first,
                        std::max(texture.info.width >> first, 1u),
                        std::max(texture.info.height >> first, 1u)});
}

void Textures::recordCopies(VkCommandBuffer commands)
{
    std::vector<VkImageMemoryBarrier> before, behind;
    for (const Copy& copy : m_copies) {
        const uint32_t from = copy.fromLevels - copy.levels, to = copy.toLevels - copy.levels;
        const VkImageLayout read = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
                            source = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                            target = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
        before.push_back(barrierOf(copy.from, read, source, from, copy.levels));
        before.push_back(barrierOf(copy.to, VK_IMAGE_LAYOUT_UNDEFINED, target, to, copy.levels));
        behind.push_back(barrierOf(copy.from, source, read, from, copy.levels));
        behind.push_back(barrierOf(copy.to, target, read, to, copy.levels));
    }
    if (m_copies.empty()) return;
    const VkPipelineStageFlags used =
        VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    vkCmdPipelineBarrier(commands, used, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, nullptr, 0, nullptr,
                         uint32_t(before.size()), before.data());
    for (const Copy& copy : m_copies) {
        std::vector<VkImageCopy> regions(copy.levels);
        for (uint32_t i = 0; i < copy.levels; ++i) {
            VkImageCopy& region = regions[i];
            region.srcSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, copy.fromLevels - copy.levels + i,
                                     0, 1};
            region.dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, copy.toLevels - copy.levels + i, 0,
                                     1};
            region.extent = {std::max(copy.width >> i, 1u), std::max(copy.height >> i, 1u), 1};
        }
        vkCmdCopyImage(commands, copy.from, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, copy.to,
                       VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, copy.levels, regions.data());
    }
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, used, 0, 0, nullptr, 0, nullptr,
                         uint32_t(behind.size()), behind.data());
    m_copies.clear();
}

void Textures::ended(const EndedGroup& group)
{
    const uint32_t index = uint32_t(group.key);
    Texture& texture = m_textures[index];
    texture.group = 0;
    if (group.status == SLUICE_OK) {
        LevelImage& place = texture.tail.isThere() ? texture.detail : texture.tail;
        retire(place, UINT64_MAX);
        place = texture.coming;
        texture.coming = {};
        m_residency.finished(index, true);
        return;
    }
    const bool wasLast = texture.coming.firstLevel + 1 == texture.info.levels;
    retire(texture.coming, UINT64_MAX); // an earlier frame may still copy into this image
    if (group.status == SLUICE_ERROR_CANCELLED) {
        m_residency.finished(index, false);
        m_counts.cancelled += 1;
    } else {
        m_residency.failed(index);
        m_counts.damaged += 1;
        if (!wasLast || texture.tail.isThere()) return;
        const SluiceArchiveAsset about = m_streaming.asset(texture.asset);
        std::fprintf(stderr, "viewer: %.*s is not shown: all its levels are damaged\n",
                     int(about.nameLength), about.name);
    }
}

void Textures::update(VkCommandBuffer commands, uint64_t frame, uint64_t finishedFrame)
{
    for (Retired& retired : m_retired) // ended() did not know the current frame
        if (retired.frame == UINT64_MAX) retired.frame = frame - 1;
    const auto isFree = [&](const Retired& retired) { return retired.frame <= finishedFrame; };
    for (Retired& retired : m_retired) {
        if (!isFree(retired)) continue;
        m_retiredBytes -= retired.image.image.memory.size;
        destroy(retired.image);
        retired.frame = 0;
    }
    m_retired.erase(std::remove_if(m_retired.begin(), m_retired.end(), isFree), m_retired.end());

    for (const ResidencyStep& step : m_residency.plan(m_usedBytes, m_retiredBytes)) {
        Texture& texture = m_textures[step.texture];
        if (step.kind == ResidencyStep::raise) {
            raise(step.texture, step.level);
        } else if (step.kind == ResidencyStep::lower) {
            lower(step.texture, step.level, frame);
        } else if (!texture.isCancelled) {
            m_streaming.cancel(texture.group);
            texture.isCancelled = true;
        }
    }
    m_counts.peakBytes = std::max(m_counts.peakBytes, m_usedBytes);
    recordCopies(commands);
    for (uint32_t i = 0; i < m_textures.size(); ++i) {
        Texture& texture = m_textures[i];
        if (texture.group == 0 || texture.isCancelled) continue;
        const int32_t priority = m_residency.priority(i);
        // Tell the streamer only if the priority has at least doubled or halved.
        if (priority == texture.priority ||
            (priority / 2 < texture.priority && texture.priority / 2 < priority))
            continue;
        m_streaming.setPriority(texture.group, priority);
        texture.priority = priority;
    }
}

VkDescriptorSet Textures::set(uint32_t texture) const
{
    if (m_device.isBindless()) return m_sets[0];
    const LevelImage& image = m_textures[texture].current();
    return m_sets[image.isThere() ? image.slot : m_textures[0].tail.slot];
}

void Textures::writeEntries(TextureEntry* entries) const
{
    for (uint32_t i = 0; i < m_textures.size(); ++i) {
        const Texture& texture = m_textures[i];
        const LevelImage& image = texture.current();
        TextureEntry& entry = entries[i];
        entry.size = texture.info.width | texture.info.height << 16;
        entry.slot = image.isThere() ? image.slot : m_textures[0].tail.slot;
        entry.firstLevel = image.isThere() ? image.firstLevel : 0;
        entry.isSrgb = image.isThere() && (texture.info.flags & SLUICE_IMAGE_SRGB) != 0 ? 1 : 0;
    }
}

} // namespace viewer
