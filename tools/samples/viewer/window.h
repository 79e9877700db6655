// SPDX-License-Identifier: MIT OR Apache-2.0
// A window, made with SDL2 if the viewer was built with it.
#pragma once

#include <memory>
#include <vector>

#include "tools/samples/viewer/device.h"

namespace viewer {

class Window {
public:
    // Throws if the viewer was built without SDL2 or there is no display.
    static std::unique_ptr<Window> open(VkExtent2D size);
    virtual ~Window() = default;

    virtual std::vector<const char*> instanceExtensions() const = 0;
    virtual VkSurfaceKHR makeSurface(VkInstance instance) = 0;
    virtual void setDevice(Device& device) = 0; // the device must have been made with that surface
    // Returns false if the user closed the window.
    virtual bool handleEvents() = 0;
    // Records commands that copy `image`, in layout TRANSFER_SRC, to the window. Sets `wait` and
    // `signal` to the semaphores that the submit must wait for and signal, or to VK_NULL_HANDLE if
    // nothing can be shown in this frame.
    virtual void blit(VkCommandBuffer commands, VkImage image, VkExtent2D size, VkSemaphore& wait,
                      VkSemaphore& signal) = 0;
    virtual void present() = 0; // call it after the submit
};

} // namespace viewer
