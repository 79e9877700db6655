// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes what a renderer needs once: targets, frames, descriptors, pipelines.
#include <cstddef>

#include "tools/samples/viewer/renderer.h"

#include "depth_vert.h"
#include "load_frag.h"
#include "load_vert.h"
#include "overlay_frag.h"
#include "overlay_vert.h"
#include "world_bindless.h"
#include "world_bindless_masked.h"
#include "world_one.h"
#include "world_one_masked.h"
#include "world_vert.h"

namespace viewer {

void Renderer::createTargets()
{
    const VkDevice device = m_device.get();
    VkImageCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
    info.imageType = VK_IMAGE_TYPE_2D;
    info.format = VK_FORMAT_R8G8B8A8_UNORM;
    info.extent = {m_size.width, m_size.height, 1};
    info.mipLevels = info.arrayLayers = 1;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    m_colour = m_device.makeImage(info, VK_IMAGE_ASPECT_COLOR_BIT);
    info.format = m_depthFormat;
    info.usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
    m_depth = m_device.makeImage(info, VK_IMAGE_ASPECT_DEPTH_BIT);
    m_pixels = m_device.engine().allocate(uint64_t{m_size.width} * m_size.height * 4, Memory::host);

    VkAttachmentDescription attachments[2] = {};
    attachments[0].format = VK_FORMAT_R8G8B8A8_UNORM;
    attachments[0].samples = attachments[1].samples = VK_SAMPLE_COUNT_1_BIT;
    attachments[0].loadOp = attachments[1].loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
    attachments[0].storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    attachments[0].finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    attachments[1].format = m_depthFormat;
    attachments[1].storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
    attachments[1].stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
    attachments[1].stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
    attachments[1].finalLayout = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
    const VkAttachmentReference colour = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    const VkAttachmentReference depth = {1, VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL};
    VkSubpassDescription subpass = {};
    subpass.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS;
    subpass.colorAttachmentCount = 1;
    subpass.pColorAttachments = &colour;
    subpass.pDepthStencilAttachment = &depth;
    // The barrier at the beginning of the frame has made all earlier writes available; the first
    // dependency continues it. The second one makes the colours visible to copies after the pass.
    VkSubpassDependency dependencies[2] = {};
    dependencies[0].srcSubpass = VK_SUBPASS_EXTERNAL;
    dependencies[0].srcStageMask = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    dependencies[0].dstStageMask =
        VK_PIPELINE_STAGE_EARLY_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
    dependencies[0].dstAccessMask =
        VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT | VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_READ_BIT |
        VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT | VK_ACCESS_COLOR_ATTACHMENT_READ_BIT;
    dependencies[1].dstSubpass = VK_SUBPASS_EXTERNAL;
    dependencies[1].srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
    dependencies[1].srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
    dependencies[1].dstStageMask = VK_PIPELINE_STAGE_TRANSFER_BIT;
    dependencies[1].dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT;
    VkRenderPassCreateInfo pass = {};
    pass.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO;
    pass.attachmentCount = 2;
    pass.pAttachments = attachments;
    pass.subpassCount = 1;
    pass.pSubpasses = &subpass;
    pass.dependencyCount = 2;
    pass.pDependencies = dependencies;
    require(vkCreateRenderPass(device, &pass, nullptr, &m_pass), "vkCreateRenderPass");
    const VkImageView views[] = {m_colour.view, m_depth.view};
    VkFramebufferCreateInfo framebuffer = {};
    framebuffer.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO;
    framebuffer.renderPass = m_pass;
    framebuffer.attachmentCount = 2;
    framebuffer.pAttachments = views;
    framebuffer.width = m_size.width;
    framebuffer.height = m_size.height;
    framebuffer.layers = 1;
    require(vkCreateFramebuffer(device, &framebuffer, nullptr, &m_framebuffer),
            "vkCreateFramebuffer");
}

void Renderer::createFrames()
{
    const VkDevice device = m_device.get();
    m_semaphore = m_device.engine().makeTimeline();
    m_pool = m_device.makeCommandPool(m_device.family());
    const VkDeviceSize feedbackSize = VkDeviceSize{kMaxTextures} * 2 * sizeof(uint32_t);
    sluice::VulkanEngine& engine = m_device.engine();
    m_feedback = engine.allocate(feedbackSize, Memory::local);
    for (Frame& frame : m_frames) {
        VkCommandBufferAllocateInfo commands = {};
        commands.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
        commands.commandPool = m_pool;
        commands.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
        commands.commandBufferCount = 1;
        require(vkAllocateCommandBuffers(device, &commands, &frame.commands),
                "vkAllocateCommandBuffers");
        VkQueryPoolCreateInfo times = {};
        times.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
        times.queryType = VK_QUERY_TYPE_TIMESTAMP;
        times.queryCount = kTimesWithLoad;
        require(vkCreateQueryPool(device, &times, nullptr, &frame.times), "vkCreateQueryPool");
        frame.entries = engine.allocate(kMaxTextures * sizeof(TextureEntry), Memory::upload);
        frame.letters = engine.allocate(kMaxLetters * sizeof(uint32_t), Memory::upload);
        frame.feedback = engine.allocate(feedbackSize, Memory::host);
    }
}

void Renderer::createSets()
{
    const VkDevice device = m_device.get();
    VkDescriptorSetLayoutBinding bindings[3] = {};
    for (uint32_t i = 0; i < 3; ++i) {
        bindings[i].binding = i;
        bindings[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        bindings[i].descriptorCount = 1;
        bindings[i].stageFlags = i < 2 ? VK_SHADER_STAGE_FRAGMENT_BIT : VK_SHADER_STAGE_VERTEX_BIT;
    }
    VkDescriptorSetLayoutCreateInfo layout = {};
    layout.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
    layout.bindingCount = 3;
    layout.pBindings = bindings;
    require(vkCreateDescriptorSetLayout(device, &layout, nullptr, &m_frameLayout),
            "vkCreateDescriptorSetLayout");
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 3 * kFramesInFlight};
    VkDescriptorPoolCreateInfo pool = {};
    pool.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    pool.maxSets = kFramesInFlight;
    pool.poolSizeCount = 1;
    pool.pPoolSizes = &size;
    require(vkCreateDescriptorPool(device, &pool, nullptr, &m_descriptors),
            "vkCreateDescriptorPool");
    for (Frame& frame : m_frames) {
        VkDescriptorSetAllocateInfo allocate = {};
        allocate.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
        allocate.descriptorPool = m_descriptors;
        allocate.descriptorSetCount = 1;
        allocate.pSetLayouts = &m_frameLayout;
        require(vkAllocateDescriptorSets(device, &allocate, &frame.set),
                "vkAllocateDescriptorSets");
        const VkDescriptorBufferInfo buffers[] = {{frame.entries.handle, 0, VK_WHOLE_SIZE},
                                                  {m_feedback.handle, 0, VK_WHOLE_SIZE},
                                                  {frame.letters.handle, 0, VK_WHOLE_SIZE}};
        VkWriteDescriptorSet writes[3] = {};
        for (uint32_t i = 0; i < 3; ++i) {
            writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
            writes[i].dstSet = frame.set;
            writes[i].dstBinding = i;
            writes[i].descriptorCount = 1;
            writes[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
            writes[i].pBufferInfo = &buffers[i];
        }
        vkUpdateDescriptorSets(device, 3, writes, 0, nullptr);
    }
}

void Renderer::createPipelines(LightmapSets& lightmaps)
{
    const VkDevice device = m_device.get();
    const VkDescriptorSetLayout sets[] = {m_frameLayout, m_textures.setLayout(),
                                          lightmaps.layout()};
    const VkPushConstantRange range = {VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0,
                                       sizeof(Push)};
    VkPipelineLayoutCreateInfo layout = {};
    layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    layout.setLayoutCount = 3;
    layout.pSetLayouts = sets;
    layout.pushConstantRangeCount = 1;
    layout.pPushConstantRanges = &range;
    require(vkCreatePipelineLayout(device, &layout, nullptr, &m_layout), "vkCreatePipelineLayout");

    const VkShaderModule depth = m_device.makeShader(depth_vert, sizeof depth_vert);
    const VkShaderModule vertex = m_device.makeShader(world_vert, sizeof world_vert);
    const bool isBindless = m_device.isBindless();
    const VkShaderModule plain = isBindless
                                     ? m_device.makeShader(world_bindless, sizeof world_bindless)
                                     : m_device.makeShader(world_one, sizeof world_one);
    const VkShaderModule masked =
        isBindless ? m_device.makeShader(world_bindless_masked, sizeof world_bindless_masked)
                   : m_device.makeShader(world_one_masked, sizeof world_one_masked);
    const VkShaderModule letter = m_device.makeShader(overlay_vert, sizeof overlay_vert);
    const VkShaderModule dots = m_device.makeShader(overlay_frag, sizeof overlay_frag);
    m_depthPipeline = makePipeline(depth, VK_NULL_HANDLE, m_layout, Cover::opaque, true, false);
    for (uint32_t i = 0; i < uint32_t(Cover::count); ++i) {
        const Cover cover = Cover(i);
        m_pipelines[i] = makePipeline(vertex, cover == Cover::masked ? masked : plain, m_layout,
                                      cover, false, false);
    }
    m_overlayPipeline = makePipeline(letter, dots, m_layout, Cover::blended, false, true);
    for (const VkShaderModule module : {depth, vertex, plain, masked, letter, dots})
        vkDestroyShaderModule(device, module, nullptr);
}

void Renderer::addLoad(double milliseconds)
{
    m_load = std::make_unique<Load>(m_device, milliseconds);
    const VkShaderModule vertex = m_device.makeShader(load_vert, sizeof load_vert);
    const VkShaderModule fragment = m_device.makeShader(load_frag, sizeof load_frag);
    m_loadPipeline = makePipeline(vertex, fragment, m_load->layout(), Cover::blended, false, true);
    for (const VkShaderModule module : {vertex, fragment})
        vkDestroyShaderModule(m_device.get(), module, nullptr);
}

namespace {

VkPipelineColorBlendAttachmentState blendOf(Cover cover)
{
    VkPipelineColorBlendAttachmentState blend = {};
    blend.colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT |
                           VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT;
    blend.blendEnable =
        cover == Cover::added || cover == Cover::blended || cover == Cover::filtered;
    blend.srcColorBlendFactor = cover == Cover::added     ? VK_BLEND_FACTOR_ONE
                                : cover == Cover::blended ? VK_BLEND_FACTOR_SRC_ALPHA
                                                          : VK_BLEND_FACTOR_DST_COLOR;
    blend.dstColorBlendFactor = cover == Cover::added     ? VK_BLEND_FACTOR_ONE
                                : cover == Cover::blended ? VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA
                                                          : VK_BLEND_FACTOR_ZERO;
    blend.srcAlphaBlendFactor = VK_BLEND_FACTOR_ZERO;
    blend.dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE;
    return blend;
}

VkPipelineDepthStencilStateCreateInfo depthOf(bool isTested, bool isWritten)
{
    VkPipelineDepthStencilStateCreateInfo depth = {};
    depth.sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO;
    depth.depthTestEnable = isTested ? VK_TRUE : VK_FALSE;
    depth.depthWriteEnable = isWritten ? VK_TRUE : VK_FALSE;
    depth.depthCompareOp = VK_COMPARE_OP_GREATER_OR_EQUAL; // depth is 1 at the near plane
    return depth;
}

// A vertex of a map. The depth pass reads only its position.
constexpr VkVertexInputBindingDescription kBinding = {0, sizeof(SceneVertex),
                                                      VK_VERTEX_INPUT_RATE_VERTEX};
constexpr VkVertexInputAttributeDescription kAttributes[] = {
    {0, 0, VK_FORMAT_R32G32B32_SFLOAT, offsetof(SceneVertex, position)},
    {1, 0, VK_FORMAT_R32G32_SFLOAT, offsetof(SceneVertex, texture)},
    {2, 0, VK_FORMAT_R32G32B32_SFLOAT, offsetof(SceneVertex, lightmap)},
    {3, 0, VK_FORMAT_R8G8B8A8_UNORM, offsetof(SceneVertex, colour)}};

} // namespace

VkPipeline Renderer::makePipeline(VkShaderModule vertex, VkShaderModule fragment,
                                  VkPipelineLayout layout, Cover cover, bool isDepthOnly,
                                  bool isOverlay)
{
    // Surfaces that add to or multiply the colour behind them are light themselves, so lightmaps do
    // not light them.
    const VkBool32 isLit = cover != Cover::added && cover != Cover::filtered;
    const VkSpecializationMapEntry entry = {0, 0, sizeof isLit};
    const VkSpecializationInfo constants = {1, &entry, sizeof isLit, &isLit};
    VkPipelineShaderStageCreateInfo stages[2] = {};
    stages[0].sType = stages[1].sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    stages[0].stage = VK_SHADER_STAGE_VERTEX_BIT;
    stages[0].module = vertex;
    stages[1].stage = VK_SHADER_STAGE_FRAGMENT_BIT;
    stages[1].module = fragment;
    stages[1].pSpecializationInfo = &constants;
    stages[0].pName = stages[1].pName = "main";
    VkPipelineVertexInputStateCreateInfo input = {};
    input.sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO;
    input.vertexBindingDescriptionCount = isOverlay ? 0 : 1;
    input.pVertexBindingDescriptions = &kBinding;
    input.vertexAttributeDescriptionCount = isOverlay ? 0 : isDepthOnly ? 1 : 4;
    input.pVertexAttributeDescriptions = kAttributes;
    VkPipelineInputAssemblyStateCreateInfo assembly = {};
    assembly.sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO;
    assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    const VkViewport area = {0, 0, float(m_size.width), float(m_size.height), 0, 1};
    const VkRect2D scissor = {{0, 0}, m_size};
    VkPipelineViewportStateCreateInfo viewport = {};
    viewport.sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO;
    viewport.viewportCount = viewport.scissorCount = 1;
    viewport.pViewports = &area;
    viewport.pScissors = &scissor;
    VkPipelineRasterizationStateCreateInfo raster = {};
    raster.sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO;
    raster.lineWidth = 1;
    VkPipelineMultisampleStateCreateInfo samples = {};
    samples.sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO;
    samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    const VkPipelineDepthStencilStateCreateInfo depth =
        depthOf(!isOverlay, isDepthOnly || cover == Cover::masked);
    VkPipelineColorBlendAttachmentState blend = blendOf(cover);
    if (isDepthOnly) blend.colorWriteMask = 0;
    VkPipelineColorBlendStateCreateInfo blending = {};
    blending.sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO;
    blending.attachmentCount = 1;
    blending.pAttachments = &blend;
    VkGraphicsPipelineCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO;
    info.stageCount = fragment == VK_NULL_HANDLE ? 1 : 2;
    info.pStages = stages;
    info.pVertexInputState = &input;
    info.pInputAssemblyState = &assembly;
    info.pViewportState = &viewport;
    info.pRasterizationState = &raster;
    info.pMultisampleState = &samples;
    info.pDepthStencilState = &depth;
    info.pColorBlendState = &blending;
    info.layout = layout;
    info.renderPass = m_pass;
    VkPipeline pipeline = VK_NULL_HANDLE;
    require(vkCreateGraphicsPipelines(m_device.get(), VK_NULL_HANDLE, 1, &info, nullptr, &pipeline),
            "vkCreateGraphicsPipelines");
    return pipeline;
}

} // namespace viewer
