// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/samples/viewer/map.h"

#include <stdexcept>

namespace viewer {

namespace {

constexpr uint32_t kMaxMaps = 8;          // most maps that load or are drawn at once
constexpr int32_t kMapPriority = 1 << 28; // below a texture's smallest levels, above other levels

SceneData parse(const std::vector<uint8_t>& file, const Materials& materials,
                const std::string& name)
{
    BspMap map;
    std::string error;
    if (!readBsp(file.data(), file.size(), map, error))
        throw std::runtime_error("map " + name + ": " + error);
    SceneData scene = makeScene(map, materials);
    if (scene.draws.empty()) throw std::runtime_error("map " + name + " shows nothing");
    return scene;
}

VkSamplerCreateInfo lightmapSampler()
{
    VkSamplerCreateInfo sampler = {};
    sampler.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO;
    sampler.magFilter = sampler.minFilter = VK_FILTER_LINEAR;
    sampler.addressModeU = sampler.addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
    return sampler;
}

} // namespace

LightmapSets::LightmapSets(Device& device) : m_sets(device, lightmapSampler(), kMaxMaps, 1)
{
    for (uint32_t i = 0; i < kMaxMaps; ++i)
        m_free.push_back(m_sets[i]);
}

VkDescriptorSet LightmapSets::make(VkImageView view)
{
    if (m_free.empty()) throw std::runtime_error("there are too many maps");
    const VkDescriptorSet set = m_free.back();
    m_free.pop_back();
    m_sets.write(set, 0, view);
    return set;
}

void LightmapSets::free(VkDescriptorSet set)
{
    if (set != VK_NULL_HANDLE) m_free.push_back(set);
}

Map::Map(Device& device, Streaming& streaming, Textures& textures, LightmapSets& sets,
         const Materials& materials, const std::string& name)
    : m_device(device), m_streaming(streaming), m_textures(textures), m_sets(sets),
      m_materials(materials), m_name(name), m_key(0)
{
    const auto asset = streaming.maps().find(name);
    if (asset == streaming.maps().end()) throw std::runtime_error("no map " + name);
    m_key = asset->second;
    m_requests = {streaming.readAsset(asset->second, m_file)};
}

Map::~Map()
{
    if (m_parsed.valid()) m_parsed.wait();
    m_sets.free(m_lightmapSet);
    m_device.destroy(m_lightmaps);
    m_device.engine().release(m_vertexBuffer);
    m_device.engine().release(m_indexBuffer);
}

bool Map::update()
{
    if (m_group == 0 && !m_requests.empty())
        m_group = m_streaming.submit(m_requests, kMapPriority, GroupClass::map, m_key);
    if (m_state == State::parsing &&
        m_parsed.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
        m_scene = m_parsed.get();
        m_file = {};
        upload();
        m_state = State::uploading;
    }
    return m_state == State::ready && m_textures.haveTails(m_textureNumbers);
}

bool Map::ended(const EndedGroup& group)
{
    if (group.groupClass != GroupClass::map || group.key != m_key || m_group == 0) return false;
    if (group.status != SLUICE_OK)
        throw std::runtime_error("map " + m_name + ": " + sluiceGetStatusText(group.status));
    m_requests.clear();
    m_group = 0;
    if (m_state == State::reading) {
        m_parsed =
            std::async(std::launch::async, [this] { return parse(m_file, m_materials, m_name); });
        m_state = State::parsing;
    } else {
        m_scene.vertices = {}, m_scene.indices = {}, m_scene.lightmaps = {};
        m_state = State::ready;
    }
    return true;
}

// Sends geometry and lightmaps from host memory to the GPU, by the streamer.
void Map::upload()
{
    const auto bufferRequest = [this](const void* bytes, uint64_t size, VkBufferUsageFlags usage,
                                      Buffer& buffer) {
        buffer = m_device.engine().allocate(size, Memory::local, usage);
        SluiceStreamRequest request = {};
        request.source = SLUICE_STREAM_FROM_MEMORY;
        request.target = SLUICE_STREAM_TO_BUFFER;
        request.memory = bytes;
        request.size = size;
        request.buffer = buffer.buffer;
        m_requests.push_back(request);
    };
    bufferRequest(m_scene.vertices.data(), m_scene.vertices.size() * sizeof(SceneVertex),
                  VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, m_vertexBuffer);
    bufferRequest(m_scene.indices.data(), m_scene.indices.size() * sizeof(uint32_t),
                  VK_BUFFER_USAGE_INDEX_BUFFER_BIT, m_indexBuffer);

    VkImageCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
    info.imageType = VK_IMAGE_TYPE_2D;
    info.format = VK_FORMAT_R8G8B8A8_UNORM;
    info.extent = {kLightmapSide, kLightmapSide, 1};
    info.mipLevels = 1;
    info.arrayLayers = m_scene.lightmapLayers;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    if (info.arrayLayers > m_device.properties().limits.maxImageArrayLayers)
        throw std::runtime_error("map " + m_name + " has too many lightmaps for this device");
    m_lightmaps = m_device.makeImage(info, VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_VIEW_TYPE_2D_ARRAY);
    m_lightmapSet = m_sets.make(m_lightmaps.view);
    SluiceStreamRequest request = {};
    request.source = SLUICE_STREAM_FROM_MEMORY;
    request.target = SLUICE_STREAM_TO_IMAGE;
    request.memory = m_scene.lightmaps.data();
    request.size = m_scene.lightmaps.size();
    request.image.image = sluiceStreamImageHandle(m_lightmaps.image);
    request.image.blockWidth = request.image.blockHeight = 1;
    request.image.blockSize = 4;
    request.image.layerCount = m_scene.lightmapLayers;
    request.image.extent[0] = request.image.extent[1] = kLightmapSide;
    request.image.extent[2] = 1;
    request.image.oldLayout = VK_IMAGE_LAYOUT_UNDEFINED;
    request.image.newLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    m_requests.push_back(request);

    for (SceneDraw& draw : m_scene.draws) {
        draw.texture = m_textures.find(m_scene.textures[draw.texture]);
        m_textureNumbers.push_back(draw.texture);
    }
    setInUse(true);
    m_flight = std::make_unique<Flight>(m_scene.way);
}

} // namespace viewer
