// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Shader hot reload, for development: a running program uses edited shaders, both sluice's kernels
// and its own. Library: sluice_dev (find_package(sluice COMPONENTS dev), built with
// -DSLUICE_HOT_RELOAD=ON, static only). It uses a thread, glslang and, for sluice's kernels, a
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
    SLUICE_RELOAD_COMPILE_ERROR = 1,     // text: "file:line: message", one per line
    SLUICE_RELOAD_INTERFACE_CHANGED = 2, // text: how it differs from the kernel that the host code
                                         // was built for
    SLUICE_RELOAD_PIPELINE_ERROR = 3,    // the driver refused the new pipeline
    SLUICE_RELOAD_WRONG_RESULT = 4,      // the self-test's output differs from the CPU reference's
    SLUICE_RELOAD_NOT_USED = 5,          // the shader compiles, but nothing on this device runs it,
                                         // so it was neither tested nor swapped in
    SLUICE_RELOAD_RESULT_MAX_ENUM = 0x7fffffff
} SluiceReloadResult;

// Reports one changed shader. Unless the result is SWAPPED, the last good pipelines stay in use.
typedef struct SluiceReloadEvent {
    const char* kernel;          // "scan", "gdeflate" ...; for a watched shader its file, as given
    SluiceReloadResult result;   // the result
    const char* text;            // valid during the callback; "" if there is nothing to say
    double compileMilliseconds;  // GLSL to SPIR-V
    double selfTestMilliseconds; // pipelines and self-tests; 0 if none ran
} SluiceReloadEvent;

// Names what is watched. context, shaderFolder and device may all be NULL: then only shaders passed
// to sluiceWatchShader are reloaded, and no device is opened.
typedef struct SluiceHotReloadInfo {
    SluiceContext context;    // a Vulkan context whose kernels are reloaded
    const char* shaderFolder; // the folder with the .comp files and lib/
    // The device that tests new pipelines before they are swapped in: a selector, as for
    // sluiceOpenDevice, that names the context's physical device. If a test loses this separate
    // device, the program's own device is not affected.
    const char* device;
    // Called in the reload thread, once per shader and change; may be NULL.
    void (*callback)(void* user, const SluiceReloadEvent* event);
    void* user; // the `user` of `callback`
} SluiceHotReloadInfo;

// Starts watching. Files that are saved after this call has returned are reloaded. If a shared file
// in lib/ changes, every kernel that includes it is reloaded. Each pipeline of a shader that the
// device can run is tested against the CPU reference, even if the context has not created that
// pipeline. Either all pipelines of a shader are swapped or none is.
//   error  may be NULL; otherwise receives static text after a failure
// Errors: ARGUMENT, IO (the folder cannot be watched), UNSUPPORTED (the device does not run the
// context's tier at the context's subgroup size), DEVICE, OUT_OF_MEMORY.
SLUICE_API SluiceStatus sluiceStartHotReload(const SluiceHotReloadInfo* info,
                                             SluiceHotReload* reload, const char** error);

// A shader of the program's own. selfTest and swap are called in the reload thread, one at a time.
// *text is "" before the call. They may set it to a text for the event, which must stay valid until
// the callback for that event has returned. They may call sluiceWatchShader, but not
// sluiceStopHotReload.
typedef struct SluiceWatchedShaderInfo {
    // The shader's path. Its ending .comp, .vert, .frag, .geom, .tesc or .tese selects the stage.
    const char* file;
    // Folders to search for includes that are not beside the including file. sluice's shader
    // libraries are in the folder that CMake's sluice_SHADER_DIR names (docs/embedding.md says
    // which lines a shader needs to use them).
    const char* const* includeFolders;
    uint32_t includeFolderCount; // number of folders
    // Macros, as "NAME" or "NAME=VALUE". sluice's shader libraries need SLUICE_EXT, SLUICE_NARROW
    // or SLUICE_EMU, according to the tier and subgroup size of SluiceContextInfo.
    const char* const* defines;
    uint32_t defineCount; // number of macros
    // May be NULL; then every shader that compiles is accepted. Otherwise it is called with new
    // SPIR-V (1.5, for Vulkan 1.2; size in bytes) before anything is swapped. It should create a
    // pipeline on a device of its choice and run it. It returns SWAPPED if the result is right.
    // Otherwise it returns the result for the event: WRONG_RESULT, PIPELINE_ERROR,
    // INTERFACE_CHANGED or NOT_USED.
    SluiceReloadResult (*selfTest)(void* user, const uint32_t* spirv, size_t size,
                                   const char** text);
    // Called after selfTest with the same SPIR-V. It creates the program's pipeline and puts it to
    // use. If it does not return OK, the result is PIPELINE_ERROR.
    SluiceStatus (*swap)(void* user, const uint32_t* spirv, size_t size, const char** text);
    void* user; // the `user` of selfTest and swap
} SluiceWatchedShaderInfo;

// Watches a shader until sluiceStopHotReload. When its file, or a file that it includes directly or
// indirectly, is saved, the shader is compiled, tested and swapped, and the callback gets an event.
// The program is assumed to use the files' current contents, so nothing is compiled at first. If an
// #include names a missing file, the shader is reloaded when that file appears. Texts and lists are
// copied; user must live until sluiceStopHotReload. Thread-safe.
//   error  as for sluiceStartHotReload
// Errors: ARGUMENT, IO (the file cannot be read, or its folders cannot be watched), OUT_OF_MEMORY.
SLUICE_API SluiceStatus sluiceWatchShader(SluiceHotReload reload,
                                          const SluiceWatchedShaderInfo* info, const char** error);

// Destroys the pipelines of sluice's kernels that have been replaced. The caller promises that no
// command buffer recorded with them is pending or will be submitted again. Thread-safe.
SLUICE_API void sluiceReleaseOldPipelines(SluiceHotReload reload);

// Stops watching and destroys the replaced pipelines; NULL is allowed. Call it just before
// sluiceDestroyContext, under the same rule: nothing recorded with the context may be pending. The
// context keeps the newest pipelines. If the self-test of a new kernel never ends, this call waits
// for as long as the driver lets the kernel run.
SLUICE_API void sluiceStopHotReload(SluiceHotReload reload);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_DEV_H
