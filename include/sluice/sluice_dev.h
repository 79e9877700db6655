// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Shader hot reload, for development: a running program picks up edited kernels. Library:
// sluice_dev, built with -DSLUICE_HOT_RELOAD=ON; it uses a thread, glslang and a Vulkan device of
// its own (through sluice_device).
#ifndef SLUICE_DEV_H
#define SLUICE_DEV_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SluiceHotReload_T* SluiceHotReload;

typedef enum SluiceReloadResult {
    SLUICE_RELOAD_SWAPPED = 0,           // commands recorded from now on use the new pipeline
    SLUICE_RELOAD_COMPILE_ERROR = 1,     // text: "file:line: message", one a line
    SLUICE_RELOAD_INTERFACE_CHANGED = 2, // text: what differs from the kernel that the host code
                                         // was built for
    SLUICE_RELOAD_PIPELINE_ERROR = 3,    // the driver refused it
    SLUICE_RELOAD_WRONG_RESULT = 4,      // the self-test's output differs from the CPU reference's
    SLUICE_RELOAD_RESULT_MAX_ENUM = 0x7fffffff
} SluiceReloadResult;

// One changed kernel. Whatever the result other than SWAPPED, the last good pipeline goes on.
typedef struct SluiceReloadEvent {
    const char* kernel; // "scan", "gdeflate" ...
    SluiceReloadResult result;
    const char* text;            // valid during the callback; "" if there is nothing to say
    double compileMilliseconds;  // GLSL to SPIR-V
    double selfTestMilliseconds; // pipeline and self-test; 0 if it did not come to that
} SluiceReloadEvent;

// context       a Vulkan context
// shaderFolder  the folder with the .comp files and lib/
// device        where new pipelines are tested before they are swapped in: a selector as for
//               sluiceOpenDevice that names the context's physical device. A device of its own
//               keeps a lost device away from the program.
// callback      called in the reload thread, once per kernel and change; may be NULL
typedef struct SluiceHotReloadInfo {
    SluiceContext context;
    const char* shaderFolder;
    const char* device;
    void (*callback)(void* user, const SluiceReloadEvent* event);
    void* user;
} SluiceHotReloadInfo;

// Starts watching. Files that are saved after this call has returned are reloaded, shared parts
// too: a changed file in lib/ reloads every kernel that includes it.
//   error  may be NULL; else receives static text on failure
// Errors: ARGUMENT, IO (the folder cannot be watched), UNSUPPORTED (the device does not run the
// context's tier at the context's subgroup size), DEVICE, OUT_OF_MEMORY.
SLUICE_API SluiceStatus sluiceStartHotReload(const SluiceHotReloadInfo* info,
                                             SluiceHotReload* reload, const char** error);

// Destroys the pipelines that were replaced so far. The caller promises that no command buffer
// recorded with them is pending or will be submitted again. Thread-safe.
SLUICE_API void sluiceReleaseOldPipelines(SluiceHotReload reload);

// Stops watching and destroys the replaced pipelines; NULL is allowed. Call it just before
// sluiceDestroyContext, under the same rule: nothing recorded with the context may be pending. The
// context keeps the newest pipelines. A new kernel that never ends its self-test holds this call up
// for as long as the driver lets it run.
SLUICE_API void sluiceStopHotReload(SluiceHotReload reload);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_DEV_H
