// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/samples/viewer/renderer.h"

#include <cctype>

namespace viewer {

namespace {

constexpr VkDeviceSize kFeedbackSize = VkDeviceSize{kMaxTextures} * 2 * sizeof(uint32_t);

void memoryBarrier(VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags written,
                   VkPipelineStageFlags to, VkAccessFlags used)
{
    VkMemoryBarrier barrier = {};
    barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    barrier.srcAccessMask = written;
    barrier.dstAccessMask = used;
    vkCmdPipelineBarrier(commands, from, to, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

} // namespace

Renderer::Renderer(Device& device, Textures& textures, LightmapSets& lightmaps, VkExtent2D size)
    : m_device(device), m_textures(textures), m_size(size)
{
    createTargets();
    createFrames();
    createSets();
    createPipelines(lightmaps);
}

Renderer::~Renderer()
{
    waitIdle();
    const VkDevice device = m_device.get();
    for (Frame& frame : m_frames) {
        for (const Buffer& buffer : {frame.entries, frame.letters, frame.feedback})
            m_device.engine().release(buffer);
        vkDestroyQueryPool(device, frame.times, nullptr);
    }
    m_device.engine().release(m_feedback);
    m_device.engine().release(m_pixels);
    vkDestroySemaphore(device, m_semaphore, nullptr);
    vkDestroyCommandPool(device, m_pool, nullptr);
    for (const VkPipeline pipeline : m_pipelines)
        vkDestroyPipeline(device, pipeline, nullptr);
    vkDestroyPipeline(device, m_depthPipeline, nullptr);
    vkDestroyPipeline(device, m_overlayPipeline, nullptr);
    vkDestroyPipeline(device, m_loadPipeline, nullptr);
    vkDestroyPipelineLayout(device, m_layout, nullptr);
    vkDestroyDescriptorPool(device, m_descriptors, nullptr);
    vkDestroyDescriptorSetLayout(device, m_frameLayout, nullptr);
    vkDestroyFramebuffer(device, m_framebuffer, nullptr);
    vkDestroyRenderPass(device, m_pass, nullptr);
    m_device.destroy(m_colour);
    m_device.destroy(m_depth);
}

uint64_t Renderer::finishedFrame() const { return m_device.engine().valueOf(m_semaphore); }

void Renderer::waitIdle() { vkDeviceWaitIdle(m_device.get()); }

void Renderer::mark(uint32_t query)
{
    if (m_device.millisecondsPerTick() != 0)
        vkCmdWriteTimestamp(current().commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                            current().times, query);
}

VkCommandBuffer Renderer::begin(FrameResult& result)
{
    ++m_frame;
    Frame& frame = current();
    result = {};
    if (frame.number != 0) {
        if (!m_device.engine().waitUntil(m_semaphore, frame.number, UINT64_MAX))
            throw std::runtime_error("a frame does not end");
        result.frame = frame.number;
        result.levels = static_cast<const uint32_t*>(frame.feedback.host);
        result.pixels = result.levels + kMaxTextures;
        uint64_t ticks[kTimesWithLoad] = {};
        if (m_device.millisecondsPerTick() != 0)
            require(vkGetQueryPoolResults(m_device.get(), frame.times, 0,
                                          frame.hasLoad ? kTimesWithLoad : kTimes, sizeof ticks,
                                          ticks, sizeof ticks[0], VK_QUERY_RESULT_64_BIT),
                    "vkGetQueryPoolResults");
        const double tick = m_device.millisecondsPerTick();
        result.milliseconds = double(ticks[3] - ticks[0]) * tick;
        result.streamingMilliseconds = double(ticks[2] - ticks[1]) * tick;
        if (frame.hasLoad) {
            for (uint32_t i = 0; i < 2; ++i)
                result.loadMilliseconds[i] = double(ticks[5 + 2 * i] - ticks[4 + 2 * i]) * tick;
            m_load->adapt(result.loadMilliseconds[0], result.loadMilliseconds[1]);
        }
    }
    frame.number = m_frame;
    frame.hasLoad = false;
    VkCommandBufferBeginInfo begin = {};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    require(vkBeginCommandBuffer(frame.commands, &begin), "vkBeginCommandBuffer");
    // All frames use the same targets and the same feedback buffer, so frames must not overlap.
    // This barrier also makes the timestamps measure one frame alone.
    memoryBarrier(frame.commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT,
                  VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                  VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
    vkCmdResetQueryPool(frame.commands, frame.times, 0, kTimesWithLoad);
    mark(0);
    return frame.commands;
}

void Renderer::clearFeedback()
{
    const VkCommandBuffer commands = current().commands;
    const VkDeviceSize half = kFeedbackSize / 2;
    vkCmdFillBuffer(commands, m_feedback.handle, 0, half, kNotSeen);
    vkCmdFillBuffer(commands, m_feedback.handle, half, half, 0);
    memoryBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                  VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
                  VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
}

void Renderer::copyFeedback()
{
    const VkCommandBuffer commands = current().commands;
    memoryBarrier(commands, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
                  VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
    const VkBufferCopy region = {0, 0, kFeedbackSize};
    vkCmdCopyBuffer(commands, m_feedback.handle, current().feedback.handle, 1, &region);
    memoryBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                  VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
}

uint32_t Renderer::writeLetters(const std::vector<std::string>& lines)
{
    uint32_t* letters = static_cast<uint32_t*>(current().letters.host);
    uint32_t count = 0;
    for (uint32_t row = 0; row < lines.size(); ++row) {
        for (uint32_t column = 0; column < lines[row].size() && count < kMaxLetters; ++column) {
            const int c = std::toupper(static_cast<unsigned char>(lines[row][column]));
            const uint32_t code = c >= ' ' && c <= '_' ? uint32_t(c - ' ') : uint32_t('?' - ' ');
            letters[count++] = code | (column + 1) << 8 | (row + 1) << 20;
        }
    }
    return count;
}

void Renderer::drawMap(const Map& map)
{
    const VkCommandBuffer commands = current().commands;
    const VkDeviceSize zero = 0;
    const VkBuffer vertices = map.vertices();
    const VkDescriptorSet lightmaps = map.lightmaps();
    vkCmdBindVertexBuffers(commands, 0, 1, &vertices, &zero);
    vkCmdBindIndexBuffer(commands, map.indices(), 0, VK_INDEX_TYPE_UINT32);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, m_depthPipeline);
    for (const SceneDraw& draw : map.draws())
        if (draw.cover == Cover::opaque)
            vkCmdDrawIndexed(commands, draw.indexCount, 1, draw.firstIndex, 0, 0);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, m_layout, 2, 1, &lightmaps,
                            0, nullptr);
    VkPipeline pipeline = VK_NULL_HANDLE;
    VkDescriptorSet textures = VK_NULL_HANDLE;
    for (const SceneDraw& draw : map.draws()) {
        const VkPipeline wanted = m_pipelines[uint32_t(draw.cover)];
        if (pipeline != wanted)
            vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, wanted);
        const VkDescriptorSet set = m_textures.set(draw.texture);
        if (textures != set)
            vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, m_layout, 1, 1, &set,
                                    0, nullptr);
        pipeline = wanted;
        textures = set;
        vkCmdDrawIndexed(commands, draw.indexCount, 1, draw.firstIndex, 0, draw.texture);
    }
}

void Renderer::draw(const Map* map, const Pose& pose, const std::vector<std::string>& lines)
{
    Frame& frame = current();
    m_textures.writeEntries(static_cast<TextureEntry*>(frame.entries.host));
    clearFeedback();
    if (m_load) {
        mark(4);
        m_load->recordCompute(frame.commands);
        mark(5);
    }
    Push push = {};
    push.viewProjection = viewProjection(pose, float(m_size.width) / float(m_size.height));
    // The side of a letter's dot, in pixels of the screen.
    const float dot = m_size.height < 400 ? 1 : m_size.height < 1000 ? 2 : 3;
    push.cell[0] = 4 * dot * 2 / float(m_size.width);
    push.cell[1] = 6 * dot * 2 / float(m_size.height);
    push.pattern = uint32_t(m_frame % kPatterns);
    VkClearValue clear[2] = {};
    clear[0].color = {{0.42f, 0.5f, 0.6f, 1}}; // colour of the sky
    VkRenderPassBeginInfo begin = {};
    begin.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO;
    begin.renderPass = m_pass;
    begin.framebuffer = m_framebuffer;
    begin.renderArea.extent = m_size;
    begin.clearValueCount = 2;
    begin.pClearValues = clear;
    vkCmdBeginRenderPass(frame.commands, &begin, VK_SUBPASS_CONTENTS_INLINE);
    vkCmdPushConstants(frame.commands, m_layout,
                       VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof push,
                       &push);
    vkCmdBindDescriptorSets(frame.commands, VK_PIPELINE_BIND_POINT_GRAPHICS, m_layout, 0, 1,
                            &frame.set, 0, nullptr);
    if (map != nullptr) drawMap(*map);
    if (m_load) {
        vkCmdBindPipeline(frame.commands, VK_PIPELINE_BIND_POINT_GRAPHICS, m_loadPipeline);
        mark(6);
        m_load->recordDraw(frame.commands);
        mark(7);
        frame.hasLoad = true;
        vkCmdPushConstants(frame.commands, m_layout,
                           VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0,
                           sizeof push, &push);
        vkCmdBindDescriptorSets(frame.commands, VK_PIPELINE_BIND_POINT_GRAPHICS, m_layout, 0, 1,
                                &frame.set, 0, nullptr);
    }
    const uint32_t letters = writeLetters(lines);
    if (letters != 0) {
        vkCmdBindPipeline(frame.commands, VK_PIPELINE_BIND_POINT_GRAPHICS, m_overlayPipeline);
        vkCmdDraw(frame.commands, 6, letters, 0, 0);
    }
    vkCmdEndRenderPass(frame.commands);
    copyFeedback();
}

void Renderer::submit(const Sync& sync)
{
    Frame& frame = current();
    mark(3);
    require(vkEndCommandBuffer(frame.commands), "vkEndCommandBuffer");
    const VkSemaphore signals[] = {m_semaphore, sync.drawn};
    const uint64_t values[] = {m_frame, 0};
    VkSemaphore waits[2] = {};
    uint64_t waitValues[2] = {};
    VkPipelineStageFlags stages[2] = {};
    uint32_t waitCount = 0;
    const auto wait = [&](VkSemaphore semaphore, uint64_t value, VkPipelineStageFlags stage) {
        if (semaphore == VK_NULL_HANDLE) return;
        waits[waitCount] = semaphore;
        waitValues[waitCount] = value;
        stages[waitCount++] = stage;
    };
    wait(sync.acquired, 0, VK_PIPELINE_STAGE_TRANSFER_BIT);
    wait(sync.streamed, sync.streamedValue, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    VkTimelineSemaphoreSubmitInfo timeline = {};
    timeline.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
    timeline.waitSemaphoreValueCount = waitCount;
    timeline.pWaitSemaphoreValues = waitValues;
    timeline.signalSemaphoreValueCount = sync.drawn != VK_NULL_HANDLE ? 2 : 1;
    timeline.pSignalSemaphoreValues = values;
    VkSubmitInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.pNext = &timeline;
    info.waitSemaphoreCount = waitCount;
    info.pWaitSemaphores = waits;
    info.pWaitDstStageMask = stages;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &frame.commands;
    info.signalSemaphoreCount = timeline.signalSemaphoreValueCount;
    info.pSignalSemaphores = signals;
    require(vkQueueSubmit(m_device.queue(), 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
}

std::vector<uint8_t> Renderer::readPixels()
{
    const size_t size = size_t{m_size.width} * m_size.height * 4;
    FrameResult result;
    const VkCommandBuffer commands = begin(result);
    streamingBegins();
    streamingEnds();
    VkBufferImageCopy region = {};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    region.imageExtent = {m_size.width, m_size.height, 1};
    vkCmdCopyImageToBuffer(commands, m_colour.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                           m_pixels.handle, 1, &region);
    memoryBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                  VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    submit({});
    waitIdle();
    const uint8_t* pixels = static_cast<const uint8_t*>(m_pixels.host);
    return std::vector<uint8_t>(pixels, pixels + size);
}

} // namespace viewer
