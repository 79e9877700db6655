// SPDX-License-Identifier: MIT OR Apache-2.0
// A map: read, parsed in a thread of its own, and sent to the GPU without delaying frames.
#pragma once

#include <future>
#include <memory>

#include "tools/samples/viewer/camera.h"
#include "tools/samples/viewer/scene.h"
#include "tools/samples/viewer/textures.h"

namespace viewer {

// Descriptor sets, each with the lightmaps of one map.
class LightmapSets {
public:
    explicit LightmapSets(Device& device);
    VkDescriptorSetLayout layout() const { return m_sets.layout(); }
    VkDescriptorSet make(VkImageView view);
    void free(VkDescriptorSet set);

private:
    ImageSets m_sets;
    std::vector<VkDescriptorSet> m_free;
};

class Map {
public:
    Map(Device& device, Streaming& streaming, Textures& textures, LightmapSets& sets,
        const Materials& materials, const std::string& name);
    ~Map(); // no frame may use the map any more, and none of its groups may be under way
    Map(const Map&) = delete;
    Map& operator=(const Map&) = delete;

    // Continues to load the map. Returns true once it can be drawn.
    bool update();
    // Must be called when a group of requests has ended, to continue loading. Returns false if the
    // group is not this map's.
    bool ended(const EndedGroup& group);
    void setInUse(bool isInUse) { m_textures.setInUse(m_textureNumbers, isInUse); }

    const std::string& name() const { return m_name; }
    const Flight& flight() const { return *m_flight; }
    const std::vector<SceneDraw>& draws() const
    {
        return m_scene.draws;
    } // `texture` is a number of Textures
    VkBuffer vertices() const { return m_vertexBuffer.handle; }
    VkBuffer indices() const { return m_indexBuffer.handle; }
    VkDescriptorSet lightmaps() const { return m_lightmapSet; }

private:
    enum class State {
        reading,
        parsing,
        uploading,
        ready
    };

    void upload();

    Device& m_device;
    Streaming& m_streaming;
    Textures& m_textures;
    LightmapSets& m_sets;
    const Materials& m_materials;
    std::string m_name;
    uint64_t m_key;
    State m_state = State::reading;
    SluiceStreamGroup m_group = 0;
    std::vector<SluiceStreamRequest> m_requests;
    std::vector<uint8_t> m_file;
    std::future<SceneData> m_parsed;
    SceneData m_scene;
    std::unique_ptr<Flight> m_flight;
    std::vector<uint32_t> m_textureNumbers;
    Buffer m_vertexBuffer, m_indexBuffer;
    Image m_lightmaps;
    VkDescriptorSet m_lightmapSet = VK_NULL_HANDLE;
};

} // namespace viewer
