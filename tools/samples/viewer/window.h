// SPDX-License-Identifier: MIT OR Apache-2.0
// A window of SDL2, if the viewer was built with it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/samples/viewer/device.h"

namespace viewer {

class Window {
public:
    // Throws if the viewer was built without SDL2, or if there is no display.
    static std::unique_ptr<Window> open(VkExtent2D size);
    virtual ~Window() = default;

    virtual std::vector<const char*> instanceExtensions() const = 0;
    virtual VkSurfaceKHR makeSurface(VkInstance instance) = 0;
    virtual void setDevice(Device& device) = 0; // a device made with that surface
    // Returns false if the window was closed.
    virtual bool handleEvents() = 0;
    // Records commands that copy an image, in layout TRANSFER_SRC, to the window. The submit must
    // wait for and signal the two semaphores. Both are VK_NULL_HANDLE if nothing is to be shown in
    // this frame.
    virtual void blit(VkCommandBuffer commands, VkImage image, VkExtent2D size, VkSemaphore& wait,
                      VkSemaphore& signal) = 0;
    virtual void present() = 0; // after the submit
};

} // namespace viewer
