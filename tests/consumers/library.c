// SPDX-License-Identifier: MIT OR Apache-2.0
// A program that uses one of the libraries beside sluice, or one backend, which CONSUMER_X names.
// Built as C11 and C++11.
#include <string.h>

#if defined(CONSUMER_DEVICE)
#include <sluice/sluice_device.h>

int main(void)
{
    SluiceDeviceInfo info;
    SluiceDevice device;
    memset(&info, 0, sizeof(info));
    info.selector = "cpu";
    if (sluiceOpenDevice(&info, &device, NULL) != SLUICE_OK) return 1;
    sluiceCloseDevice(device);
    return 0;
}
#elif defined(CONSUMER_ENCODE)
#include <sluice/sluice_archive.h>
#include <sluice/sluice_encode.h>
#include <sluice/sluice_image_encode.h>

int main(void)
{
    unsigned char bytes[1000], out[2000];
    SluiceGstdEncoderInfo info = {9, 0};
    SluiceGdeflateEncoderInfo gdeflateInfo;
    SluiceGstdEncoder encoder;
    SluiceGdeflateEncoder gdeflate;
    size_t size = 0;
    memset(bytes, 7, sizeof(bytes));
    memset(&gdeflateInfo, 0, sizeof(gdeflateInfo));
    gdeflateInfo.level = 9;
    /* libzstd finds the matches of one, libdeflate those of the other. */
    if (sluiceCreateGstdEncoder(&info, &encoder) != SLUICE_OK) return 1;
    if (sluiceEncodeGstdTile(encoder, bytes, sizeof(bytes), out, sizeof(out), &size) != SLUICE_OK ||
        size == 0 || size > 200)
        return 2;
    sluiceDestroyGstdEncoder(encoder);
    if (sluiceCreateGdeflateEncoder(&gdeflateInfo, &gdeflate) != SLUICE_OK) return 3;
    if (sluiceEncodeGdeflateTile(gdeflate, bytes, sizeof(bytes), out, sizeof(out), &size) !=
        SLUICE_OK)
        return 4;
    sluiceDestroyGdeflateEncoder(gdeflate);
    /* Writers and readers of files link the rest. */
    return sluiceWriteTileStream(NULL, NULL) == SLUICE_ERROR_ARGUMENT ? 0 : 5;
}
#elif defined(CONSUMER_STREAM)
#include <sluice/sluice_stream.h>

int main(void)
{
    SluiceContext context;
    SluiceStreamerInfo info;
    SluiceStatus status;
    if (sluiceCreateCpuContext(&context) != SLUICE_OK) return 1;
    status = sluiceGetStreamerDefaults(context, 64u << 20, &info, NULL);
    sluiceDestroyContext(context);
    if (status != SLUICE_OK) return 2;
    return sluiceCreateStreamer(NULL, NULL) == SLUICE_ERROR_ARGUMENT ? 0 : 3;
}
#elif defined(CONSUMER_CUDA) /* A machine without such a device is fine: it has linked. */
#include <sluice/sluice_cuda.h>

int main(void)
{
    SluiceContext context;
    if (sluiceCreateCudaContext(0, &context) == SLUICE_OK) sluiceDestroyContext(context);
    return 0;
}
#endif
