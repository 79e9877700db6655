// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/samples/viewer/window.h"

#ifdef SLUICE_VIEWER_SDL

#include <SDL.h>
#include <SDL_vulkan.h>

namespace viewer {

namespace {

// The number of semaphores for acquired images, which are used in turn. This is more than frames in
// flight, so that the wait of the frame that used a semaphore last is over.
constexpr uint32_t kPlaces = 3;

class SdlWindow : public Window {
public:
    explicit SdlWindow(VkExtent2D size) : m_size(size)
    {
        if (SDL_Init(SDL_INIT_VIDEO) != 0)
            throw std::runtime_error(std::string("no window: ") + SDL_GetError());
        m_window = SDL_CreateWindow("sluice viewer", SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED,
                                    int(size.width), int(size.height), SDL_WINDOW_VULKAN);
        if (m_window == nullptr)
            throw std::runtime_error(std::string("no window: ") + SDL_GetError());
    }

    ~SdlWindow() override
    {
        if (m_device != nullptr) {
            vkDeviceWaitIdle(m_device->get());
            for (const VkSemaphore semaphore : m_acquired)
                vkDestroySemaphore(m_device->get(), semaphore, nullptr);
            destroySwapchain();
        }
        SDL_DestroyWindow(m_window);
        SDL_Quit();
    }

    std::vector<const char*> instanceExtensions() const override
    {
        uint32_t count = 0;
        SDL_Vulkan_GetInstanceExtensions(m_window, &count, nullptr);
        std::vector<const char*> names(count);
        SDL_Vulkan_GetInstanceExtensions(m_window, &count, names.data());
        return names;
    }

    VkSurfaceKHR makeSurface(VkInstance instance) override
    {
        VkSurfaceKHR surface = VK_NULL_HANDLE;
        if (SDL_Vulkan_CreateSurface(m_window, instance, &surface) != SDL_TRUE)
            throw std::runtime_error(std::string("no surface: ") + SDL_GetError());
        return surface;
    }

    void setDevice(Device& device) override
    {
        m_device = &device;
        m_acquired.resize(kPlaces);
        for (VkSemaphore& semaphore : m_acquired)
            semaphore = makeSemaphore();
        createSwapchain();
    }

    bool handleEvents() override
    {
        bool isOpen = true;
        for (SDL_Event event; SDL_PollEvent(&event) != 0;)
            isOpen = isOpen && event.type != SDL_QUIT &&
                     !(event.type == SDL_KEYDOWN && event.key.keysym.sym == SDLK_ESCAPE);
        return isOpen;
    }

    void blit(VkCommandBuffer commands, VkImage image, VkExtent2D size, VkSemaphore& wait,
              VkSemaphore& signal) override
    {
        wait = signal = VK_NULL_HANDLE;
        m_hasImage = false;
        if (m_isOld) {
            vkDeviceWaitIdle(m_device->get());
            destroySwapchain();
            createSwapchain();
        }
        if (m_swapchain == VK_NULL_HANDLE) return; // the window is minimised
        const VkSemaphore acquired = m_acquired[m_place++ % kPlaces];
        const VkResult result = vkAcquireNextImageKHR(m_device->get(), m_swapchain, UINT64_MAX,
                                                      acquired, VK_NULL_HANDLE, &m_image);
        m_isOld = result == VK_ERROR_OUT_OF_DATE_KHR || result == VK_SUBOPTIMAL_KHR;
        if (result == VK_ERROR_OUT_OF_DATE_KHR) return;
        require(result, "vkAcquireNextImageKHR");
        m_hasImage = true;
        wait = acquired;
        signal = m_rendered[m_image];
        transition(commands, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 0,
                   VK_ACCESS_TRANSFER_WRITE_BIT);
        VkImageBlit region = {};
        region.srcSubresource = region.dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
        region.srcOffsets[1] = {int32_t(size.width), int32_t(size.height), 1};
        region.dstOffsets[1] = {int32_t(m_extent.width), int32_t(m_extent.height), 1};
        vkCmdBlitImage(commands, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, m_images[m_image],
                       VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region, VK_FILTER_LINEAR);
        transition(commands, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR,
                   VK_ACCESS_TRANSFER_WRITE_BIT, 0);
    }

    void present() override
    {
        if (!m_hasImage) return;
        VkPresentInfoKHR info = {};
        info.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR;
        info.waitSemaphoreCount = 1;
        info.pWaitSemaphores = &m_rendered[m_image];
        info.swapchainCount = 1;
        info.pSwapchains = &m_swapchain;
        info.pImageIndices = &m_image;
        const VkResult result = vkQueuePresentKHR(m_device->queue(), &info);
        m_isOld = m_isOld || result == VK_ERROR_OUT_OF_DATE_KHR || result == VK_SUBOPTIMAL_KHR;
        if (!m_isOld) require(result, "vkQueuePresentKHR");
    }

private:
    VkSemaphore makeSemaphore() const
    {
        VkSemaphoreCreateInfo info = {};
        info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
        VkSemaphore semaphore = VK_NULL_HANDLE;
        require(vkCreateSemaphore(m_device->get(), &info, nullptr, &semaphore),
                "vkCreateSemaphore");
        return semaphore;
    }

    void transition(VkCommandBuffer commands, VkImageLayout from, VkImageLayout to,
                    VkAccessFlags written, VkAccessFlags used) const
    {
        VkImageMemoryBarrier barrier = {};
        barrier.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER;
        barrier.srcAccessMask = written;
        barrier.dstAccessMask = used;
        barrier.oldLayout = from;
        barrier.newLayout = to;
        barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
        barrier.image = m_images[m_image];
        barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
        vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                             VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, nullptr, 0, nullptr, 1,
                             &barrier);
    }

    void createSwapchain()
    {
        const VkPhysicalDevice physical = m_device->physical();
        const VkSurfaceKHR surface = m_device->surface();
        VkSurfaceCapabilitiesKHR can = {};
        require(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(physical, surface, &can),
                "vkGetPhysicalDeviceSurfaceCapabilitiesKHR");
        m_extent = can.currentExtent.width == UINT32_MAX ? m_size : can.currentExtent;
        if (m_extent.width == 0 || m_extent.height == 0) return;
        VkSurfaceFormatKHR formats[64];
        uint32_t count = 64;
        require(vkGetPhysicalDeviceSurfaceFormatsKHR(physical, surface, &count, formats),
                "vkGetPhysicalDeviceSurfaceFormatsKHR");
        if (count == 0) throw std::runtime_error("the window has no format");
        VkSurfaceFormatKHR format = formats[0];
        // UNORM, and not sRGB, since the viewer's colours are sRGB values already.
        for (uint32_t i = 0; i < count; ++i)
            if (formats[i].format == VK_FORMAT_B8G8R8A8_UNORM) format = formats[i];
        VkSwapchainCreateInfoKHR info = {};
        info.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR;
        info.surface = surface;
        info.minImageCount = can.minImageCount + 1;
        if (can.maxImageCount != 0 && info.minImageCount > can.maxImageCount)
            info.minImageCount = can.maxImageCount;
        info.imageFormat = format.format;
        info.imageColorSpace = format.colorSpace;
        info.imageExtent = m_extent;
        info.imageArrayLayers = 1;
        info.imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT;
        info.preTransform = can.currentTransform;
        info.compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR;
        info.presentMode = VK_PRESENT_MODE_FIFO_KHR; // every device has this mode
        info.clipped = VK_TRUE;
        require(vkCreateSwapchainKHR(m_device->get(), &info, nullptr, &m_swapchain),
                "vkCreateSwapchainKHR");
        require(vkGetSwapchainImagesKHR(m_device->get(), m_swapchain, &count, nullptr),
                "vkGetSwapchainImagesKHR");
        m_images.resize(count);
        require(vkGetSwapchainImagesKHR(m_device->get(), m_swapchain, &count, m_images.data()),
                "vkGetSwapchainImagesKHR");
        for (uint32_t i = 0; i < count; ++i)
            m_rendered.push_back(makeSemaphore());
        m_isOld = false;
    }

    void destroySwapchain()
    {
        for (const VkSemaphore semaphore : m_rendered)
            vkDestroySemaphore(m_device->get(), semaphore, nullptr);
        m_rendered.clear();
        vkDestroySwapchainKHR(m_device->get(), m_swapchain, nullptr);
        m_swapchain = VK_NULL_HANDLE;
    }

    VkExtent2D m_size, m_extent = {};
    SDL_Window* m_window = nullptr;
    Device* m_device = nullptr;
    VkSwapchainKHR m_swapchain = VK_NULL_HANDLE;
    std::vector<VkImage> m_images;
    // m_acquired has kPlaces semaphores, which are used in turn, m_rendered one for each image.
    std::vector<VkSemaphore> m_acquired, m_rendered;
    uint32_t m_place = 0, m_image = 0;
    bool m_isOld = false, m_hasImage = false;
};

} // namespace

std::unique_ptr<Window> Window::open(VkExtent2D size) { return std::make_unique<SdlWindow>(size); }

} // namespace viewer

#else

namespace viewer {

std::unique_ptr<Window> Window::open(VkExtent2D)
{
    throw std::runtime_error("--window: the viewer was built without SDL2");
}

} // namespace viewer

#endif
