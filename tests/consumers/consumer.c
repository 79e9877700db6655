// SPDX-License-Identifier: MIT OR Apache-2.0
// The least that an embedding program needs: every public header compiles, and the CPU backend
// scans three numbers. Built as C11, C++11 and C++20.
#include <sluice/sluice.h>
#include <string.h>

#ifdef CONSUMER_VULKAN
#include <vulkan/vulkan.h>
#include <sluice/sluice_vulkan.h>
#endif
#include <sluice/sluice_cuda.h>
#include <sluice/sluice_device.h>
#include <sluice/sluice_scan.h>

static SluiceBuffer hostRange(void* bytes, uint64_t size)
{
    SluiceBuffer range;
    range.handle = (uint64_t)(uintptr_t)bytes;
    range.offset = 0;
    range.size = size;
    return range;
}

int main(void)
{
    uint32_t input[3] = {5, 7, 11};
    uint32_t output[3] = {0, 0, 0};
    SluiceContext context;
    SluiceScanInfo info;
    SluiceStatus status;

    if (sluiceGetVersion() !=
        SLUICE_MAKE_VERSION(SLUICE_VERSION_MAJOR, SLUICE_VERSION_MINOR, SLUICE_VERSION_PATCH)) {
        return 1;
    }
#ifdef CONSUMER_VULKAN /* the Vulkan backend links, too */
    if (sluiceCreateVulkanContext(NULL, &context, NULL) != SLUICE_ERROR_ARGUMENT) return 5;
#endif
    if (sluiceCreateCpuContext(&context) != SLUICE_OK) return 2;
    memset(&info, 0, sizeof(info)); /* an exclusive sum of u32 */
    info.maxCount = 3;
    info.input = hostRange(input, sizeof(input));
    info.output = hostRange(output, sizeof(output));
    status = sluiceCmdScan(context, NULL, &info);
    sluiceDestroyContext(context);
    if (status != SLUICE_OK) return 3;
    return output[0] == 0 && output[1] == 5 && output[2] == 12 ? 0 : 4;
}
