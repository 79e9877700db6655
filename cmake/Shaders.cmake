# SPDX-License-Identifier: MIT OR Apache-2.0
# sluice_add_shaders(target): compiles each shaders/*.comp in its variants, and adds the SPIR-V to
# the target in packed form (src/vulkan/shader_packing.h).
find_program(SLUICE_GLSLANG glslangValidator HINTS $ENV{VULKAN_SDK}/bin REQUIRED)

# Drivers make pipelines in half the time if functions in the SPIR-V are inlined and variables have
# become values (docs/notes/pipelines.md). glslangValidator does that if it was built with the
# optimizer of SPIRV-Tools, as distributions build it.
if(NOT DEFINED SLUICE_GLSLANG_OPTIMIZES)
    set(empty_shader ${PROJECT_BINARY_DIR}/empty.comp)
    file(WRITE ${empty_shader} "#version 450\nvoid main() {}\n")
    execute_process(COMMAND ${SLUICE_GLSLANG} --quiet -Os -V -o ${empty_shader}.spv ${empty_shader}
        RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(failed)
        set(SLUICE_GLSLANG_OPTIMIZES OFF CACHE INTERNAL "")
        message(STATUS "sluice: glslangValidator has no optimizer, so drivers will take longer to make pipelines")
    else()
        set(SLUICE_GLSLANG_OPTIMIZES ON CACHE INTERNAL "")
    endif()
endif()

# If spirv-opt is there too, some shaders are built once more with the specialization constants that
# a class of devices gives them, and optimized: then drivers do not see the code that the constants
# remove. With NVIDIA's compiler (580), GDeflate's pipelines take 0.4 of the time and those of
# filters 0.8; other shaders gain less, or become slower (docs/notes/pipelines.md). A row has a
# variant, a shader, and its constants (shaders/lib/layout/constants.h) as src/vulkan/registry.cpp
# sets them; tests/vulkan/shader_packing_test.cpp says if a row is missing.
find_program(SLUICE_SPIRV_OPT spirv-opt HINTS $ENV{VULKAN_SDK}/bin)
if(NOT SLUICE_SPIRV_OPT)
    message(STATUS "sluice: there is no spirv-opt, so NVIDIA's driver will take longer to make pipelines")
endif()
set(sluice_fixed_shaders
    "ext gdeflate 0:64 1:32 2:true 3:true 4:1 5:1"
    "ext gdeflate 0:64 1:32 2:true 3:true 4:2 5:1"
    "ext gdeflate 0:64 1:32 2:true 3:true 4:1 5:2"
    "ext gdeflate 0:32 1:32 2:true 3:false 4:1 5:0"
    "ext gdeflate 0:64 1:32 2:true 3:true 4:1 5:0"
    "ext gdeflate 0:64 1:32 2:true 3:true 4:2 5:0"
    "ext filter 0:256 1:32 2:true"
    "ext filter 0:512 1:32 2:true")

# The program that packs modules must run while the library is built. When cross-compiling without
# CMAKE_CROSSCOMPILING_EMULATOR, it is built by SLUICE_HOST_CXX, a compiler for this machine.
set(pack_sources ${PROJECT_SOURCE_DIR}/cmake/pack_shaders.cpp ${PROJECT_SOURCE_DIR}/src/vulkan/shader_packing.cpp)
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    find_program(SLUICE_HOST_CXX NAMES c++ g++ clang++ REQUIRED)
    set(SLUICE_PACK_SHADERS ${PROJECT_BINARY_DIR}/sluice_pack_shaders)
    add_custom_command(OUTPUT ${SLUICE_PACK_SHADERS}
        COMMAND ${SLUICE_HOST_CXX} -std=c++17 -O2 -I${PROJECT_SOURCE_DIR}/src ${pack_sources} -o ${SLUICE_PACK_SHADERS}
        DEPENDS ${pack_sources} ${PROJECT_SOURCE_DIR}/src/vulkan/shader_packing.h
        VERBATIM)
else()
    add_executable(sluice_pack_shaders EXCLUDE_FROM_ALL ${pack_sources})
    sluice_common(sluice_pack_shaders)
    set_target_properties(sluice_pack_shaders PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/shaders)
    set(SLUICE_PACK_SHADERS sluice_pack_shaders)
endif()

function(sluice_add_shaders target)
    set(shader_dir ${PROJECT_SOURCE_DIR}/shaders)
    set(out_dir ${PROJECT_BINARY_DIR}/shaders)
    set(flags_base "")
    set(flags_ext -DSLUICE_EXT)
    set(flags_baseNarrow -DSLUICE_NARROW)
    set(flags_extNarrow -DSLUICE_EXT -DSLUICE_NARROW)
    set(flags_emu -DSLUICE_EMU)
    set(flags_extInt64 -DSLUICE_EXT -DSLUICE_INT64)
    set(int64_kernels float_decode zstd_sequences)
    # These are not optimized. GDeflate is a twelfth slower on an H100 if it is: the driver's
    # compiler then takes 92 registers. Compaction is not faster if optimized.
    set(kernels_as_written gdeflate compact compact_ring compact_call)
    # The scans' variants for narrow subgroups and for emulation are not optimized, since
    # SwiftShader uses these: optimized, they take its compiler more than 24 GB of memory, otherwise
    # 0.2 GB.
    set(kernels_as_written_narrow scan scan64 scan_ring)
    sluice_present(shaders "^shaders/")
    list(TRANSFORM shaders PREPEND ${PROJECT_SOURCE_DIR}/)
    file(GLOB_RECURSE parts CONFIGURE_DEPENDS ${shader_dir}/lib/*)
    file(MAKE_DIRECTORY ${out_dir})
    set(includes "")
    set(tables "")
    set(headers "")
    foreach(shader ${shaders})
        get_filename_component(kernel ${shader} NAME_WE)
        if(SLUICE_SHADERS_FROM)
            set(header ${SLUICE_SHADERS_FROM}/${kernel}.h)
            if(NOT EXISTS ${header})
                message(FATAL_ERROR "sluice: SLUICE_SHADERS_FROM: ${header} is not there")
            endif()
            list(APPEND headers ${header})
            string(APPEND includes "#include \"${header}\"\n")
            string(APPEND tables "    {${kernel}_rows, sizeof(${kernel}_rows) / sizeof(ShaderRow)},\n")
            continue()
        endif()
        # For hot reload, shaders keep their names and are not optimized, so that a debugger shows
        # them as written.
        set(names -g0)
        if(SLUICE_HOT_RELOAD)
            set(names "")
        endif()
        # The variant that most GPUs use comes first, since it is unpacked fastest.
        set(variants ext base extNarrow baseNarrow emu)
        if(kernel IN_LIST int64_kernels)
            list(PREPEND variants extInt64)
        endif()
        set(modules "")
        set(files "")
        foreach(variant ${variants})
            set(module ${out_dir}/${kernel}_${variant}.spv)
            set(optimize "")
            if(SLUICE_GLSLANG_OPTIMIZES AND NOT SLUICE_HOT_RELOAD AND NOT kernel IN_LIST kernels_as_written
                    AND NOT (kernel IN_LIST kernels_as_written_narrow AND variant MATCHES "Narrow|emu"))
                set(optimize -Os)
            endif()
            # Every shader depends on every shared part. There are few, and this works with every
            # generator.
            add_custom_command(OUTPUT ${module}
                COMMAND ${SLUICE_GLSLANG} --quiet -V ${names} ${optimize} --target-env vulkan1.2 ${flags_${variant}}
                    -I${shader_dir} -o ${module} ${shader}
                DEPENDS ${shader} ${parts}
                COMMENT "Shader ${kernel} (${variant})"
                VERBATIM)
            list(APPEND modules ${variant}=${module})
            list(APPEND files ${module})
            if(SLUICE_SPIRV_OPT AND NOT SLUICE_HOT_RELOAD)
                foreach(row ${sluice_fixed_shaders})
                    string(REPLACE " " ";" row "${row}")
                    list(POP_FRONT row row_variant row_kernel)
                    if(NOT row_kernel STREQUAL kernel OR NOT row_variant STREQUAL variant)
                        continue()
                    endif()
                    string(REPLACE ";" "_" name "${row}")
                    string(REPLACE ":" "_" name "${kernel}_${variant}_${name}")
                    set(module ${out_dir}/${name}.spv)
                    string(REPLACE ";" " " values "${row}")
                    add_custom_command(OUTPUT ${module}
                        COMMAND ${SLUICE_GLSLANG} --quiet -V ${names} --target-env vulkan1.2 ${flags_${variant}}
                            -I${shader_dir} -o ${module} ${shader}
                        COMMAND ${SLUICE_SPIRV_OPT} "--set-spec-const-default-value=${values}" --freeze-spec-const
                            --fold-spec-const-op-composite -Os ${module} -o ${module}
                        DEPENDS ${shader} ${parts}
                        COMMENT "Shader ${name}"
                        VERBATIM)
                    string(REPLACE ";" "," values "${row}")
                    list(APPEND modules ${variant}@${values}=${module})
                    list(APPEND files ${module})
                endforeach()
            endif()
        endforeach()
        set(header ${out_dir}/${kernel}.h)
        add_custom_command(OUTPUT ${header}
            COMMAND ${SLUICE_PACK_SHADERS} ${kernel} ${header} ${modules}
            DEPENDS ${SLUICE_PACK_SHADERS} ${files}
            COMMENT "Packing shader ${kernel}"
            VERBATIM)
        list(APPEND headers ${header})
        string(APPEND includes "#include \"${header}\"\n")
        string(APPEND tables "    {${kernel}_rows, sizeof(${kernel}_rows) / sizeof(ShaderRow)},\n")
    endforeach()
    set(has_fixed false)
    if(SLUICE_SPIRV_OPT AND NOT SLUICE_HOT_RELOAD)
        set(has_fixed true)
    endif()
    file(CONFIGURE OUTPUT ${out_dir}/shader_code.cpp @ONLY CONTENT
"// Generated by cmake/Shaders.cmake.
#include \"vulkan/shader_code.h\"
#include <cstdint>
#include <cstring>

namespace sluice {
namespace {
struct ShaderRow {
    const char* kernel;
    ShaderVariant variant;
    PackedShader shader;
    PipelineConstants constants; // none: it leaves them to the driver
};
@includes@
struct Table {
    const ShaderRow* rows;
    size_t count;
};
const Table tables[] = {
@tables@};
} // namespace

PackedShader findShader(const char* kernel, ShaderVariant variant,
                        const PipelineConstants& constants)
{
    for (const Table& table : tables) {
        if (std::strcmp(table.rows[0].kernel, kernel) != 0) continue;
        for (size_t i = 0; i < table.count; ++i) {
            if (table.rows[i].variant == variant && table.rows[i].constants == constants)
                return table.rows[i].shader;
        }
    }
    if (variant == ShaderVariant::extInt64)
        return findShader(kernel, ShaderVariant::ext, constants);
    return {nullptr, 0, 0, 0};
}

PackedShader findShader(const char* kernel, ShaderVariant variant)
{
    return findShader(kernel, variant, PipelineConstants());
}

bool hasFixedShaders() { return @has_fixed@; }

} // namespace sluice
")
    set_source_files_properties(${out_dir}/shader_code.cpp PROPERTIES OBJECT_DEPENDS "${headers}")
    target_sources(${target} PRIVATE ${out_dir}/shader_code.cpp ${headers})
endfunction()

# sluice_add_program_shader(target shader [name [flags...]]): compiles a shader that only this
# program uses. X.comp becomes an array in a header X.h, or with the given name, on the target's
# include path. The shader may include shaders/lib.
function(sluice_add_program_shader target shader)
    get_filename_component(name ${shader} NAME_WE)
    if(ARGC GREATER 2)
        set(name ${ARGV2})
    endif()
    set(flags ${ARGN})
    if(flags)
        list(POP_FRONT flags)
    endif()
    get_filename_component(source ${shader} ABSOLUTE)
    get_filename_component(folder ${source} DIRECTORY)
    file(GLOB_RECURSE parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/shaders/lib/* ${folder}/*.glsl)
    set(header_dir ${PROJECT_BINARY_DIR}/shaders/${target})
    file(MAKE_DIRECTORY ${header_dir})
    add_custom_command(OUTPUT ${header_dir}/${name}.h
        COMMAND ${SLUICE_GLSLANG} --quiet -V --target-env vulkan1.2 ${flags} -I${PROJECT_SOURCE_DIR}/shaders
            --vn ${name} -o ${header_dir}/${name}.h ${source}
        DEPENDS ${source} ${parts}
        COMMENT "Shader ${name}"
        VERBATIM)
    target_sources(${target} PRIVATE ${header_dir}/${name}.h)
    target_include_directories(${target} PRIVATE ${header_dir})
endfunction()
