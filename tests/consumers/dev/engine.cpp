// SPDX-License-Identifier: MIT OR Apache-2.0
// A small engine with one compute shader, which includes sluice's parts, on a Vulkan device of its
// own. It gives the shader to hot reload, edits a copy, and checks that wrong shaders are refused
// and good ones are swapped in. Without a Vulkan device it only shows that it compiles and links.
#include <vulkan/vulkan.h>

#include <sluice/sluice_dev.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <vector>

#include "engine_shader.h"
#include "lib/layout/constants.h" // of sluice's parts

namespace {

namespace fs = std::filesystem;

constexpr uint32_t kCount = 128; // numbers, and invocations of the workgroup

void require(bool condition, const char* what)
{
    if (condition) return;
    std::fprintf(stderr, "engine: %s\n", what);
    std::_Exit(1);
}

class Engine {
public:
    bool create();
    ~Engine();

    VkPipeline makePipeline(const uint32_t* spirv, size_t size);
    void destroyPipeline(VkPipeline old) { vkDestroyPipeline(m_device, old, nullptr); }
    // Sums the numbers 1, 2, 3 ...; returns the last exclusive sum, which is the sum of all but the
    // last.
    uint32_t run(VkPipeline pipeline);

    VkPipeline pipeline = VK_NULL_HANDLE; // the pipeline in use
    // The reload thread tests and swaps while the main thread runs.
    std::mutex mutex;

private:
    void createBuffer();

    VkInstance m_instance = VK_NULL_HANDLE;
    VkPhysicalDevice m_physical = VK_NULL_HANDLE;
    VkDevice m_device = VK_NULL_HANDLE;
    VkQueue m_queue = VK_NULL_HANDLE;
    VkCommandPool m_pool = VK_NULL_HANDLE;
    VkPipelineLayout m_layout = VK_NULL_HANDLE;
    VkBuffer m_buffer = VK_NULL_HANDLE;
    VkDeviceMemory m_memory = VK_NULL_HANDLE;
    uint32_t* m_numbers = nullptr;
};

bool Engine::create()
{
    VkApplicationInfo application = {};
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.apiVersion = VK_API_VERSION_1_2;
    VkInstanceCreateInfo instance = {};
    instance.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    instance.pApplicationInfo = &application;
    uint32_t one = 1;
    if (vkCreateInstance(&instance, nullptr, &m_instance) != VK_SUCCESS) return false;
    vkEnumeratePhysicalDevices(m_instance, &one, &m_physical);
    if (m_physical == VK_NULL_HANDLE) return false;
    VkPhysicalDeviceVulkan12Features features = {};
    features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    VkPhysicalDeviceFeatures2 has = {};
    has.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    has.pNext = &features;
    vkGetPhysicalDeviceFeatures2(m_physical, &has);
    if (features.bufferDeviceAddress == VK_FALSE) return false;
    features = {};
    features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    features.bufferDeviceAddress = VK_TRUE;

    std::vector<VkQueueFamilyProperties> families(16);
    uint32_t count = static_cast<uint32_t>(families.size()), family = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(m_physical, &count, families.data());
    while (family < count && (families[family].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0)
        ++family;
    if (family == count) return false;
    const float priority = 1;
    VkDeviceQueueCreateInfo queue = {};
    queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue.queueFamilyIndex = family;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkDeviceCreateInfo device = {};
    device.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    device.pNext = &features;
    device.queueCreateInfoCount = 1;
    device.pQueueCreateInfos = &queue;
    require(vkCreateDevice(m_physical, &device, nullptr, &m_device) == VK_SUCCESS, "no device");
    vkGetDeviceQueue(m_device, family, 0, &m_queue);
    VkCommandPoolCreateInfo pool = {};
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.queueFamilyIndex = family;
    require(vkCreateCommandPool(m_device, &pool, nullptr, &m_pool) == VK_SUCCESS, "no pool");
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 8};
    VkPipelineLayoutCreateInfo layout = {};
    layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    layout.pushConstantRangeCount = 1;
    layout.pPushConstantRanges = &range;
    require(vkCreatePipelineLayout(m_device, &layout, nullptr, &m_layout) == VK_SUCCESS,
            "no layout");
    createBuffer();
    pipeline = makePipeline(engine_shader, sizeof(engine_shader));
    require(pipeline != VK_NULL_HANDLE, "no pipeline");
    return true;
}

void Engine::createBuffer()
{
    VkBufferCreateInfo buffer = {};
    buffer.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    buffer.size = kCount * 4;
    buffer.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    require(vkCreateBuffer(m_device, &buffer, nullptr, &m_buffer) == VK_SUCCESS, "no buffer");
    VkMemoryRequirements need = {};
    vkGetBufferMemoryRequirements(m_device, m_buffer, &need);
    VkPhysicalDeviceMemoryProperties types = {};
    vkGetPhysicalDeviceMemoryProperties(m_physical, &types);
    constexpr VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = 0;
    while (type < types.memoryTypeCount &&
           ((need.memoryTypeBits >> type & 1) == 0 ||
            (types.memoryTypes[type].propertyFlags & wanted) != wanted))
        ++type;
    VkMemoryAllocateFlagsInfo flags = {};
    flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    VkMemoryAllocateInfo memory = {};
    memory.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    memory.pNext = &flags;
    memory.allocationSize = need.size;
    memory.memoryTypeIndex = type;
    require(vkAllocateMemory(m_device, &memory, nullptr, &m_memory) == VK_SUCCESS, "no memory");
    require(vkBindBufferMemory(m_device, m_buffer, m_memory, 0) == VK_SUCCESS, "no memory");
    void* mapped = nullptr;
    require(vkMapMemory(m_device, m_memory, 0, VK_WHOLE_SIZE, 0, &mapped) == VK_SUCCESS, "no map");
    m_numbers = static_cast<uint32_t*>(mapped);
}

Engine::~Engine()
{
    if (m_device != VK_NULL_HANDLE) {
        vkDestroyPipeline(m_device, pipeline, nullptr);
        vkDestroyPipelineLayout(m_device, m_layout, nullptr);
        vkDestroyBuffer(m_device, m_buffer, nullptr);
        vkFreeMemory(m_device, m_memory, nullptr);
        vkDestroyCommandPool(m_device, m_pool, nullptr);
        vkDestroyDevice(m_device, nullptr);
    }
    if (m_instance != VK_NULL_HANDLE) vkDestroyInstance(m_instance, nullptr);
}

VkPipeline Engine::makePipeline(const uint32_t* spirv, size_t size)
{
    VkShaderModuleCreateInfo code = {};
    code.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    code.codeSize = size;
    code.pCode = spirv;
    VkShaderModule module = VK_NULL_HANDLE;
    if (vkCreateShaderModule(m_device, &code, nullptr, &module) != VK_SUCCESS)
        return VK_NULL_HANDLE;
    // Constants that sluice's parts need: the workgroup's size, and the lanes of the emulated
    // subgroup.
    const uint32_t values[2] = {kCount, 32};
    const VkSpecializationMapEntry entries[2] = {{SLUICE_CONSTANT_WORKGROUP_SIZE, 0, 4},
                                                 {SLUICE_CONSTANT_SUBGROUP_SIZE, 4, 4}};
    const VkSpecializationInfo constants = {2, entries, sizeof(values), values};
    VkComputePipelineCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = "main";
    info.stage.pSpecializationInfo = &constants;
    info.layout = m_layout;
    VkPipeline made = VK_NULL_HANDLE;
    if (vkCreateComputePipelines(m_device, VK_NULL_HANDLE, 1, &info, nullptr, &made) != VK_SUCCESS)
        made = VK_NULL_HANDLE;
    vkDestroyShaderModule(m_device, module, nullptr);
    return made;
}

uint32_t Engine::run(VkPipeline with)
{
    for (uint32_t i = 0; i < kCount; ++i)
        m_numbers[i] = i + 1;
    VkCommandBufferAllocateInfo allocate = {};
    allocate.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    allocate.commandPool = m_pool;
    allocate.commandBufferCount = 1;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    require(vkAllocateCommandBuffers(m_device, &allocate, &commands) == VK_SUCCESS, "no commands");
    VkCommandBufferBeginInfo begin = {};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    vkBeginCommandBuffer(commands, &begin);
    VkBufferDeviceAddressInfo of = {};
    of.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
    of.buffer = m_buffer;
    const VkDeviceAddress address = vkGetBufferDeviceAddress(m_device, &of);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, with);
    vkCmdPushConstants(commands, m_layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 8, &address);
    vkCmdDispatch(commands, 1, 1, 1);
    VkMemoryBarrier barrier = {};
    barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT,
                         0, 1, &barrier, 0, nullptr, 0, nullptr);
    vkEndCommandBuffer(commands);
    VkSubmitInfo submit = {};
    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands;
    require(vkQueueSubmit(m_queue, 1, &submit, VK_NULL_HANDLE) == VK_SUCCESS, "no submission");
    require(vkQueueWaitIdle(m_queue) == VK_SUCCESS, "a lost device");
    vkFreeCommandBuffers(m_device, m_pool, 1, &commands);
    return m_numbers[kCount - 1];
}

// -----------------------------------------------------------------------------------------------
// Callbacks of hot reload

constexpr uint32_t kRight = kCount * (kCount - 1) / 2;

SluiceReloadResult selfTest(void* user, const uint32_t* spirv, size_t size, const char** text)
{
    Engine& engine = *static_cast<Engine*>(user);
    const std::lock_guard<std::mutex> lock(engine.mutex);
    const VkPipeline made = engine.makePipeline(spirv, size);
    if (made == VK_NULL_HANDLE) return SLUICE_RELOAD_PIPELINE_ERROR;
    const uint32_t sum = engine.run(made);
    engine.destroyPipeline(made);
    *text = sum == kRight ? "" : "the last sum is wrong";
    return sum == kRight ? SLUICE_RELOAD_SWAPPED : SLUICE_RELOAD_WRONG_RESULT;
}

SluiceStatus swapIn(void* user, const uint32_t* spirv, size_t size, const char**)
{
    Engine& engine = *static_cast<Engine*>(user);
    const std::lock_guard<std::mutex> lock(engine.mutex);
    const VkPipeline made = engine.makePipeline(spirv, size);
    if (made == VK_NULL_HANDLE) return SLUICE_ERROR_DEVICE;
    engine.destroyPipeline(engine.pipeline); // run() has waited for the device
    engine.pipeline = made;
    return SLUICE_OK;
}

struct Events {
    std::mutex mutex;
    std::condition_variable arrived;
    std::vector<SluiceReloadResult> results;

    static void receive(void* user, const SluiceReloadEvent* event)
    {
        Events& events = *static_cast<Events*>(user);
        std::printf("%s: %d %s\n", event->kernel, static_cast<int>(event->result), event->text);
        const std::lock_guard<std::mutex> lock(events.mutex);
        events.results.push_back(event->result);
        events.arrived.notify_all();
    }
    SluiceReloadResult next()
    {
        std::unique_lock<std::mutex> lock(mutex);
        require(arrived.wait_for(lock, std::chrono::seconds(60), [&] { return !results.empty(); }),
                "no event came");
        const SluiceReloadResult result = results.front();
        results.erase(results.begin());
        return result;
    }
};

void write(const fs::path& path, const std::string& text)
{
    std::ofstream(path, std::ios::binary) << text;
}

void edit(const fs::path& path, std::string text, const std::string& what, const std::string& with)
{
    const size_t at = text.find(what);
    require(at != std::string::npos, "the shader has another text");
    write(path, text.replace(at, what.size(), with));
}

} // namespace

int main()
{
    SluiceHotReload reload = nullptr;
    Events events;
    SluiceHotReloadInfo info = {};
    info.callback = Events::receive;
    info.user = &events;
    require(sluiceStartHotReload(&info, &reload, nullptr) == SLUICE_OK,
            "hot reload does not start");

    Engine engine;
    if (!engine.create()) {
        std::printf("no Vulkan device: compiled and linked\n");
        sluiceStopHotReload(reload);
        return 0;
    }
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    const fs::path folder = fs::temp_directory_path() / ("sluice_engine_" + std::to_string(now));
    fs::create_directories(folder);
    const fs::path copy = folder / "engine.comp";
    std::ifstream stream(ENGINE_SHADER, std::ios::binary);
    const std::string good(std::istreambuf_iterator<char>(stream), {});
    write(copy, good);

    const std::string file = copy.string();
    const char* const folders[] = {SLUICE_SHADERS};
    const char* const defines[] = {"SLUICE_EMU"};
    SluiceWatchedShaderInfo shader = {};
    shader.file = file.c_str();
    shader.includeFolders = folders;
    shader.includeFolderCount = 1;
    shader.defines = defines;
    shader.defineCount = 1;
    shader.selfTest = selfTest;
    shader.swap = swapIn;
    shader.user = &engine;
    require(sluiceWatchShader(reload, &shader, nullptr) == SLUICE_OK, "the shader is not watched");

    const auto runsRight = [&] {
        const std::lock_guard<std::mutex> lock(engine.mutex);
        return engine.run(engine.pipeline) == kRight;
    };
    require(runsRight(), "the first pipeline is wrong");
    edit(copy, good, "= wgExclusiveAdd(", "= 1u + wgExclusiveAdd(");
    require(events.next() == SLUICE_RELOAD_WRONG_RESULT && runsRight(), "a wrong sum is taken");
    edit(copy, good, "uint total", "uint nonsense");
    require(events.next() == SLUICE_RELOAD_COMPILE_ERROR && runsRight(), "nonsense is taken");
    edit(copy, good, "void main()\n{", "#include \"more.glsl\"\nvoid main() {");
    require(events.next() == SLUICE_RELOAD_COMPILE_ERROR, "a missing include is taken");
    write(folder / "more.glsl", "// an include that comes later\n");
    require(events.next() == SLUICE_RELOAD_SWAPPED && runsRight(), "a good shader is refused");
    write(folder / "more.glsl", "#error on purpose\n");
    require(events.next() == SLUICE_RELOAD_COMPILE_ERROR, "a changed include is not seen");

    sluiceStopHotReload(reload);
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    std::printf("reloaded\n");
    return 0;
}
