# SPDX-License-Identifier: MIT OR Apache-2.0
# The components that a build may leave out. `core` (the contract, contexts, checksums) is always
# built.
#   codecs      gdeflate, gstd, filter, fse, tile streams, tiles of archives, image files
#   primitives  scan, reduce, compact, interval
#   weights     float_decode, df11
#   zstd        Zstandard frames
#   uastc       the transcoder of UASTC
set(components codecs primitives weights zstd uastc)
foreach(component ${components})
    string(TOUPPER ${component} upper)
    option(SLUICE_${upper} "Build the component ${component} into the library" ON)
endforeach()
option(SLUICE_STREAM "Build sluice_stream, which needs the component codecs" ON)
if(SLUICE_STREAM AND (NOT SLUICE_CODECS OR NOT (UNIX OR WIN32)))
    set(SLUICE_STREAM OFF)
endif()
if((NOT SLUICE_CODECS OR NOT SLUICE_PRIMITIVES OR NOT SLUICE_WEIGHTS OR NOT SLUICE_ZSTD
        OR NOT SLUICE_UASTC) AND SLUICE_ENCODE)
    message(FATAL_ERROR "sluice_encode, the tool, the tests and sluice_dev need every component: set SLUICE_ENCODE, "
        "SLUICE_BUILD_TOOL, SLUICE_BUILD_TESTS and SLUICE_HOT_RELOAD to OFF to leave one out")
endif()

# The files of each component: public headers, sources and shaders. Every new file must be named
# here.
set(files_core
    include/sluice/sluice.h include/sluice/sluice_cuda.h include/sluice/sluice_device.h
    include/sluice/sluice_vulkan.h
    src/api/checksum.cpp src/api/commands.cpp src/api/cuda_absent.cpp src/api/status.cpp
    src/cpu/checksum.cpp src/cpu/context.cpp
    src/vulkan/context.cpp src/vulkan/machine.cpp src/vulkan/pipelines.cpp src/vulkan/record.cpp src/vulkan/record_checksum.cpp
    src/vulkan/registry.cpp src/vulkan/shader_packing.cpp src/vulkan/tuning.cpp
    src/cuda/context.cpp src/cuda/enqueue_checksum.cpp
    src/cuda/checksum.cu src/cuda/status.cu
    shaders/checksum.comp shaders/status.comp)
set(files_codecs
    include/sluice/sluice_archive.h include/sluice/sluice_filter.h include/sluice/sluice_fse.h
    include/sluice/sluice_gdeflate.h include/sluice/sluice_gstd.h include/sluice/sluice_image.h
    include/sluice/sluice_self_test.h include/sluice/sluice_tile_streams.h include/sluice/sluice_tiles.h
    src/api/filter.cpp src/api/fse_tables.cpp src/api/gdeflate.cpp src/api/gstd.cpp src/api/self_test.cpp
    src/api/tile_streams.cpp src/api/tiles.cpp src/api/tiles_count.cpp
    src/formats/archive.cpp src/formats/archive_name.cpp src/formats/dds.cpp
    src/formats/filter.cpp src/formats/gacl.cpp src/formats/image.cpp src/formats/image_format.cpp
    src/formats/image_item.cpp src/formats/ktx2.cpp src/formats/tile_stream.cpp
    src/cpu/archive_index.cpp src/cpu/filter.cpp src/cpu/fse_tables.cpp src/cpu/gdeflate.cpp src/cpu/gstd.cpp src/cpu/tile_streams.cpp
    src/cpu/fast/filter.cpp src/cpu/fast/gdeflate.cpp src/cpu/fast/gdeflate_avx2.cpp src/cpu/fast/gstd.cpp
    src/cpu/fast/gstd_avx2.cpp src/cpu/fast/gstd_tables.cpp
    src/vulkan/record_filter.cpp src/vulkan/record_fse_tables.cpp src/vulkan/record_gdeflate.cpp
    src/vulkan/record_gstd.cpp src/vulkan/record_tile_streams.cpp
    src/cuda/enqueue_filter.cpp src/cuda/enqueue_fse_tables.cpp src/cuda/enqueue_gdeflate.cpp
    src/cuda/enqueue_gstd.cpp src/cuda/enqueue_tile_streams.cpp
    src/cuda/filter.cu src/cuda/filter_few.cu src/cuda/fse_tables.cu src/cuda/gdeflate.cu src/cuda/gstd_expand.cu
    src/cuda/gstd_symbols.cu src/cuda/tile_streams.cu
    shaders/driver_regions.comp shaders/filter.comp shaders/fse_tables.comp shaders/gdeflate.comp
    shaders/gstd_expand.comp shaders/gstd_symbols.comp shaders/tile_streams.comp)
set(files_primitives
    include/sluice/sluice_compact.h include/sluice/sluice_interval.h include/sluice/sluice_scan.h
    src/api/compact.cpp src/api/interval.cpp src/api/scan.cpp
    src/cpu/compact.cpp src/cpu/interval_expand.cpp src/cpu/interval_move.cpp src/cpu/interval_search.cpp
    src/vulkan/record_compact.cpp src/vulkan/record_interval.cpp
    src/cuda/enqueue_compact.cpp src/cuda/enqueue_interval.cpp
    src/cuda/compact.cu src/cuda/interval_expand.cu src/cuda/interval_move.cu src/cuda/interval_plan.cu
    src/cuda/interval_search.cu
    shaders/compact.comp shaders/compact_call.comp shaders/compact_ring.comp shaders/interval_expand.comp
    shaders/interval_move.comp shaders/interval_plan.comp shaders/interval_search.comp shaders/reduce.comp
    shaders/reduce64.comp shaders/scan64.comp shaders/scan_ring.comp)
# Sums are part of the primitives, and decoding whole tile streams needs them too.
set(files_sums
    src/cpu/reduce.cpp src/cpu/scan.cpp
    src/vulkan/record_scan.cpp
    src/cuda/enqueue_scan.cpp
    src/cuda/reduce.cu src/cuda/scan.cu
    shaders/scan.comp)
# Commands for FSE tables and the blocks of Zstandard both have FSE tables.
set(files_fse
    src/formats/fse.cpp)
set(files_weights
    include/sluice/sluice_df11.h include/sluice/sluice_float.h
    src/api/df11.cpp src/api/float_decode.cpp
    src/formats/df11.cpp src/formats/float_format.cpp src/formats/float_tile.cpp
    src/cpu/df11.cpp src/cpu/float_decode.cpp
    src/vulkan/record_df11.cpp src/vulkan/record_float_decode.cpp
    src/cuda/enqueue_df11.cpp src/cuda/enqueue_float_decode.cpp
    src/cuda/df11.cu src/cuda/float_decode.cu
    shaders/df11.comp shaders/float_decode.comp)
set(files_zstd
    include/sluice/sluice_zstd.h
    src/api/zstd.cpp
    src/formats/zstd.cpp src/formats/zstd_tables.cpp
    src/cpu/zstd.cpp src/cpu/zstd_regions.cpp
    src/cpu/fast/zstd.cpp src/cpu/fast/zstd_stream.cpp
    src/vulkan/record_zstd.cpp
    src/cuda/enqueue_zstd.cpp
    src/cuda/zstd_bytes.cu src/cuda/zstd_expand.cu src/cuda/zstd_hash.cu src/cuda/zstd_literals.cu
    src/cuda/zstd_place.cu src/cuda/zstd_sequences.cu src/cuda/zstd_walk.cu
    shaders/zstd_bytes.comp shaders/zstd_expand.comp shaders/zstd_hash.comp
    shaders/zstd_literals.comp shaders/zstd_place.comp shaders/zstd_sequences.comp shaders/zstd_walk.comp)
set(files_uastc
    include/sluice/sluice_uastc.h
    src/api/uastc.cpp
    src/cpu/uastc.cpp src/cpu/uastc_block.cpp src/cpu/fast/uastc.cpp
    src/vulkan/record_uastc.cpp
    src/cuda/enqueue_uastc.cpp
    src/cuda/uastc.cu
    shaders/uastc.comp)
# Headers of the other libraries, and files that several components need.
set(files_stream
    include/sluice/sluice_stream.h include/sluice/sluice_stream_cuda.h include/sluice/sluice_stream_vulkan.h)
set(files_dev
    include/sluice/sluice_dev.h)
set(files_encode
    src/formats/safetensors.cpp)
# Files of the library that a shared sluice_encode contains as well. They have no function that the
# library exports.
set(files_both
    src/formats/filter.cpp src/formats/fse.cpp src/formats/zstd.cpp src/formats/zstd_tables.cpp src/cpu/fast/zstd.cpp
    src/cpu/fast/zstd_stream.cpp)
set(files_all
    include/sluice/sluice_all.h)
set(files_whole
    include/sluice/sluice_encode.h include/sluice/sluice_filter_encode.h
    include/sluice/sluice_formats.h include/sluice/sluice_image_encode.h)

set(SLUICE_COMPONENTS core)
set(sluice_files ${files_core})
foreach(component ${components})
    string(TOUPPER ${component} upper)
    if(SLUICE_${upper})
        list(APPEND SLUICE_COMPONENTS ${component})
        list(APPEND sluice_files ${files_${component}})
    endif()
endforeach()
if(SLUICE_CODECS OR SLUICE_PRIMITIVES)
    list(APPEND sluice_files ${files_sums})
endif()
if(SLUICE_CODECS OR SLUICE_ZSTD)
    list(APPEND sluice_files ${files_fse})
endif()
if(SLUICE_CODECS AND SLUICE_PRIMITIVES AND SLUICE_WEIGHTS)
    list(APPEND sluice_files ${files_whole})
    if(SLUICE_ZSTD AND SLUICE_UASTC)
        list(APPEND sluice_files ${files_all})
    endif()
endif()
if(SLUICE_STREAM)
    list(APPEND sluice_files ${files_stream})
endif()

# The lists must name every file in these folders, and only files that exist.
file(GLOB sluice_found CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
    include/sluice/*.h src/api/*.cpp src/formats/*.cpp src/cpu/*.cpp src/cpu/fast/*.cpp src/vulkan/*.cpp
    src/cuda/*.cpp src/cuda/*.cu shaders/*.comp)
set(sluice_named ${files_core} ${files_codecs} ${files_primitives} ${files_sums} ${files_fse} ${files_weights}
    ${files_zstd} ${files_uastc} ${files_stream} ${files_dev} ${files_encode} ${files_whole} ${files_all})
foreach(file ${sluice_found} ${sluice_named})
    if(NOT file IN_LIST sluice_named)
        message(FATAL_ERROR "cmake/Components.cmake: no list names ${file}")
    elseif(NOT file IN_LIST sluice_found)
        message(FATAL_ERROR "cmake/Components.cmake: there is no ${file}")
    endif()
endforeach()

# sluice_present(list regex): sets `list` to the files of this build whose paths match.
function(sluice_present files regex)
    set(result ${sluice_files})
    list(FILTER result INCLUDE REGEX ${regex})
    set(${files} ${result} PARENT_SCOPE)
endfunction()

# sluice_of_system(list): removes the files for other systems (*_windows, *_posix) from a list.
function(sluice_of_system files)
    set(result ${${files}})
    if(WIN32)
        list(FILTER result EXCLUDE REGEX "_posix\\.(cpp|h)$")
    else()
        list(FILTER result EXCLUDE REGEX "_windows\\.(cpp|h)$")
    endif()
    set(${files} ${result} PARENT_SCOPE)
endfunction()
