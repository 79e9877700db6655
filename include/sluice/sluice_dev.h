// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Shader hot reload, for development: a running program picks up edited shaders, sluice's kernels
// as well as its own. Library: sluice_dev (find_package(sluice COMPONENTS dev), built with
// -DSLUICE_HOT_RELOAD=ON, static only); it uses a thread, glslang and, for sluice's kernels, a
// Vulkan device of its own through sluice_device.
#ifndef SLUICE_DEV_H
#define SLUICE_DEV_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SluiceHotReload_T* SluiceHotReload;

typedef enum SluiceReloadResult {
    SLUICE_RELOAD_SWAPPED = 0,           // commands recorded from now on use the new pipelines
    SLUICE_RELOAD_COMPILE_ERROR = 1,     // text: "file:line: message", one a line
    SLUICE_RELOAD_INTERFACE_CHANGED = 2, // text: what differs from the kernel that the host code
                                         // was built for
    SLUICE_RELOAD_PIPELINE_ERROR = 3,    // the driver refused it
    SLUICE_RELOAD_WRONG_RESULT = 4,      // the self-test's output differs from the CPU reference's
    SLUICE_RELOAD_NOT_USED = 5,          // it compiles, but nothing on this device runs it: it was
                                         // not tested, and nothing was swapped
    SLUICE_RELOAD_RESULT_MAX_ENUM = 0x7fffffff
} SluiceReloadResult;

// Reports one changed shader. Unless the result is SWAPPED, the last good pipelines stay in use.
typedef struct SluiceReloadEvent {
    const char* kernel;          // "scan", "gdeflate" ...; for a watched shader its file, as given
    SluiceReloadResult result;   // the result
    const char* text;            // valid during the callback; "" if there is nothing to say
    double compileMilliseconds;  // GLSL to SPIR-V
    double selfTestMilliseconds; // pipelines and self-tests; 0 if it did not come to that
} SluiceReloadEvent;

// Says what is watched. context, shaderFolder and device may all be NULL: then only the shaders
// given to sluiceWatchShader are reloaded, and no device is opened.
typedef struct SluiceHotReloadInfo {
    SluiceContext context;    // a Vulkan context whose kernels are reloaded
    const char* shaderFolder; // the folder with the .comp files and lib/
    // New pipelines are tested here before they are swapped in: a selector as for sluiceOpenDevice
    // that names the context's physical device. A device of its own keeps a lost device away from
    // the program.
    const char* device;
    // Is called in the reload thread, once per shader and change; may be NULL.
    void (*callback)(void* user, const SluiceReloadEvent* event);
    void* user; // the `user` of `callback`
} SluiceHotReloadInfo;

// Starts watching. Files that are saved after this call has returned are reloaded, shared parts
// too: a changed file in lib/ reloads every kernel that includes it. Each pipeline of a shader runs
// its own self-test against the CPU reference, also those that the device could run and the context
// does not have; either all pipelines of a shader are swapped or none is.
//   error  may be NULL; else receives static text on failure
// Errors: ARGUMENT, IO (the folder cannot be watched), UNSUPPORTED (the device does not run the
// context's tier at the context's subgroup size), DEVICE, OUT_OF_MEMORY.
SLUICE_API SluiceStatus sluiceStartHotReload(const SluiceHotReloadInfo* info,
                                             SluiceHotReload* reload, const char** error);

// A shader of the program's own. selfTest and swap are called in the reload thread, one at a time.
// They may set *text, which is "" before the call, to a text for the event, which stays valid until
// the callback for that event has returned. They may call sluiceWatchShader, but not
// sluiceStopHotReload.
typedef struct SluiceWatchedShaderInfo {
    // Its path, ending in .comp, .vert, .frag, .geom, .tesc or .tese, which says the stage.
    const char* file;
    // Folders in which includes are searched that do not stand beside the including file. sluice's
    // parts are in the folder that CMake's sluice_SHADER_DIR names (docs/embedding.md says which
    // lines such a shader needs).
    const char* const* includeFolders;
    uint32_t includeFolderCount; // number of the folders
    // Texts, "NAME" or "NAME=VALUE". sluice's parts need SLUICE_EXT, SLUICE_NARROW or SLUICE_EMU,
    // according to the tier and subgroup size of SluiceContextInfo.
    const char* const* defines;
    uint32_t defineCount; // number of the texts
    // May be NULL; then everything that compiles is taken. Otherwise it is called with new SPIR-V
    // (1.5, for Vulkan 1.2; size in bytes) before anything is swapped. It makes a pipeline on
    // whatever device it likes, runs it, and returns SWAPPED if it is right; otherwise the result
    // for the event: WRONG_RESULT, PIPELINE_ERROR, INTERFACE_CHANGED or NOT_USED.
    SluiceReloadResult (*selfTest)(void* user, const uint32_t* spirv, size_t size,
                                   const char** text);
    // Is called after that with the same SPIR-V. It makes the program's pipeline and puts it to
    // use. Anything but OK is a PIPELINE_ERROR.
    SluiceStatus (*swap)(void* user, const uint32_t* spirv, size_t size, const char** text);
    void* user; // the `user` of both
} SluiceWatchedShaderInfo;

// Watches a shader until sluiceStopHotReload: when its file, or one that it includes directly or
// not, is saved, it is compiled, tested and swapped, and the callback gets an event. The files'
// current contents count as what the program already uses, so nothing is compiled at first. If an
// #include names a missing file, its appearance is waited for. Texts and lists are copied; user
// must live until sluiceStopHotReload. Thread-safe.
//   error  as for sluiceStartHotReload
// Errors: ARGUMENT, IO (the file cannot be read, or its folders cannot be watched), OUT_OF_MEMORY.
SLUICE_API SluiceStatus sluiceWatchShader(SluiceHotReload reload,
                                          const SluiceWatchedShaderInfo* info, const char** error);

// Destroys the pipelines of sluice's kernels that were replaced so far. The caller promises that no
// command buffer recorded with them is pending or will be submitted again. Thread-safe.
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
