// SPDX-License-Identifier: MIT OR Apache-2.0
// `./tools/dev watch`: decodes in a loop while shaders are edited, and prints what each reload did.
//   sluice_watch SHADER_FOLDER [DEVICE [TIER]]
#include <sluice/sluice_dev.h>
#include <sluice/sluice_device.h>
#include <sluice/sluice_encode.h>
#include <sluice/sluice_gdeflate.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

volatile std::sig_atomic_t stopping = 0;

void printEvent(void*, const SluiceReloadEvent* event)
{
    std::printf("\n%-9s compiled in %.0f ms: ", event->kernel, event->compileMilliseconds);
    switch (event->result) {
    case SLUICE_RELOAD_SWAPPED:
        std::printf("self-test passed in %.0f ms, swapped\n", event->selfTestMilliseconds);
        break;
    case SLUICE_RELOAD_COMPILE_ERROR:
        std::printf("errors, the last good pipeline goes on\n%s\n", event->text);
        break;
    case SLUICE_RELOAD_NOT_USED: std::printf("%s\n", event->text); break;
    default: std::printf("refused, the last good pipeline goes on: %s\n", event->text); break;
    }
    std::fflush(stdout);
}

struct Device {
    SluiceDevice handle = nullptr;
    ~Device()
    {
        if (handle) sluiceCloseDevice(handle);
    }
};

int fail(const char* what, SluiceStatus status)
{
    std::fprintf(stderr, "sluice_watch: %s: %s\n", what, sluiceGetStatusText(status));
    return 4;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 2) {
        std::fprintf(stderr, "sluice_watch SHADER_FOLDER [DEVICE [TIER]]\n");
        return 1;
    }
    const char* selector = argc > 2 ? argv[2] : "vulkan";
    std::signal(SIGINT, [](int) { stopping = 1; });

    Device device;
    SluiceDeviceInfo open = {};
    open.selector = selector;
    open.kernels = SLUICE_KERNELS_GDEFLATE;
    open.tier = argc > 3 ? argv[3] : nullptr;
    const char* error = nullptr;
    if (const SluiceStatus status = sluiceOpenDevice(&open, &device.handle, &error)) {
        return fail(error ? error : selector, status);
    }

    // 32 tiles, which all hold the same 64 KiB.
    constexpr uint32_t tileCount = 32, tileBytes = 65536;
    std::vector<uint8_t> bytes(tileBytes), stream(sluiceGdeflateTileBound(tileBytes));
    for (uint32_t i = 0; i < tileBytes; ++i)
        bytes[i] = uint8_t((i * i >> 7) ^ (i >> 3));
    SluiceGdeflateEncoder encoder = nullptr;
    SluiceGdeflateEncoderInfo encoderInfo = {9, 0};
    size_t used = 0;
    SluiceStatus status = sluiceCreateGdeflateEncoder(&encoderInfo, &encoder);
    if (status == SLUICE_OK) {
        status = sluiceEncodeGdeflateTile(encoder, bytes.data(), tileBytes, stream.data(),
                                          stream.size(), &used);
    }
    sluiceDestroyGdeflateEncoder(encoder);
    if (status != SLUICE_OK) return fail("encoding", status);

    SluiceBuffer source, destination, regionBuffer, statusBuffer;
    SluiceRegion regions[tileCount];
    if ((status = sluiceAllocate(device.handle, used, &source)) ||
        (status = sluiceAllocate(device.handle, tileCount * uint64_t(tileBytes), &destination)) ||
        (status = sluiceAllocate(device.handle, sizeof(regions), &regionBuffer)) ||
        (status = sluiceAllocate(device.handle, (tileCount + 2) * 4, &statusBuffer)) ||
        (status = sluiceUpload(device.handle, source, stream.data(), used))) {
        return fail("allocating", status);
    }
    for (uint32_t i = 0; i < tileCount; ++i) {
        regions[i] = {sluiceGetAddress(device.handle, source),
                      sluiceGetAddress(device.handle, destination) + uint64_t(i) * tileBytes, used,
                      tileBytes};
    }
    if ((status = sluiceUpload(device.handle, regionBuffer, regions, sizeof(regions))))
        return fail("uploading", status);

    SluiceHotReloadInfo info = {};
    info.context = sluiceGetDeviceContext(device.handle);
    info.shaderFolder = argv[1];
    info.device = selector;
    info.callback = printEvent;
    SluiceHotReload reload = nullptr;
    if ((status = sluiceStartHotReload(&info, &reload, &error))) return fail(error, status);

    SluiceDeviceProperties properties = {};
    SluiceContextInfo context = {};
    sluiceGetDeviceProperties(device.handle, &properties);
    sluiceGetContextInfo(info.context, &context);
    std::printf("%s, tier %s; edit and save files in %s, Ctrl-C ends\n", properties.name,
                context.tier, argv[1]);

    SluiceGdeflateInfo decode = {};
    decode.maxRegionCount = tileCount;
    decode.regionStride = sizeof(SluiceRegion);
    decode.regions = regionBuffer;
    decode.source = source;
    decode.destination = destination;
    decode.status = statusBuffer;
    std::vector<uint8_t> result(tileCount * size_t(tileBytes));
    while (!stopping && status == SLUICE_OK) {
        SluiceCommands commands = nullptr;
        double milliseconds = 0;
        uint32_t words[tileCount + 2] = {};
        if ((status = sluiceBegin(device.handle, &commands)) ||
            (status = sluiceCmdGdeflate(info.context, commands, &decode)) ||
            (status = sluiceSubmit(device.handle, commands, &milliseconds)) ||
            (status = sluiceDownload(device.handle, statusBuffer, words, sizeof(words))) ||
            (status = sluiceDownload(device.handle, destination, result.data(), result.size()))) {
            break;
        }
        bool same = words[tileCount] == 0;
        for (uint32_t i = 0; i < tileCount; ++i)
            same = same && !std::memcmp(&result[i * size_t(tileBytes)], bytes.data(), tileBytes);
        std::printf("\r%u tiles in %.3f ms, %s   ", tileCount, milliseconds,
                    same ? "identical" : "DIFFERENT");
        std::fflush(stdout);
    }
    std::printf("\n");
    sluiceStopHotReload(reload);
    return status == SLUICE_OK ? 0 : fail("decoding", status);
}
