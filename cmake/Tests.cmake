# SPDX-License-Identifier: MIT OR Apache-2.0
# The program sluice_tests contains every test. It takes the devices to test from the environment
# (./tools/dev test).
# SLUICE_TOOL_PATH is how tests run the tool. In a build for another processor it is a script that
# runs the tool in the emulator.
set(SLUICE_TOOL_PATH $<TARGET_FILE:sluice_tool>)
if(CMAKE_CROSSCOMPILING_EMULATOR AND UNIX)
    set(SLUICE_TOOL_PATH ${PROJECT_BINARY_DIR}/emulated/sluice)
    file(CONFIGURE OUTPUT ${SLUICE_TOOL_PATH} @ONLY CONTENT
        "#!/bin/sh\nexec @CMAKE_CROSSCOMPILING_EMULATOR@ '@PROJECT_BINARY_DIR@/bin/sluice' \"$@\"\n")
    set(SLUICE_TEST_EMULATED ON)
    file(CHMOD ${SLUICE_TOOL_PATH} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endif()

# Paths come from a header that few tests include, so that a compiler's cache serves the other
# tests of every checkout.
set(test_paths "// Paths of this build.\n#pragma once
#define SLUICE_TEST_DATA_DIR \"${PROJECT_SOURCE_DIR}/tests/data\"
#define SLUICE_SHADER_DIR \"${PROJECT_SOURCE_DIR}/shaders\"
#define SLUICE_GLSLANG \"${SLUICE_GLSLANG}\"\n")
if(TARGET sluice_tool)
    string(APPEND test_paths "#define SLUICE_TOOL_PATH \"${SLUICE_TOOL_PATH}\"\n")
endif()

# Clang's -Wconversion warns in C++ about more than GCC's. Libraries and tool are free of these
# warnings too; tests are not.
add_library(sluice_test_warnings INTERFACE)
target_compile_options(sluice_test_warnings INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-sign-conversion>)

function(sluice_test name)
    add_executable(${name} ${ARGN})
    sluice_program(${name})
    # Comes after the libraries with warnings of their own.
    target_link_libraries(${name} PRIVATE sluice_test_warnings)
    target_include_directories(${name} SYSTEM PRIVATE ${SLUICE_DOCTEST_INCLUDE_DIR})
    # The libraries are optimized; the code of the tests is compiled in half the time with -O1.
    target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU,Clang>:$<$<CONFIG:Release>:-O1>>)
    target_compile_definitions(${name} PRIVATE DOCTEST_CONFIG_SUPER_FAST_ASSERTS)
    target_include_directories(${name} PRIVATE ${PROJECT_BINARY_DIR}/tests)
    if(TARGET sluice_tool)
        target_compile_definitions(${name} PRIVATE $<$<BOOL:${SLUICE_TEST_EMULATED}>:SLUICE_TEST_EMULATED>)
        add_dependencies(${name} sluice_tool)
    endif()
    add_test(NAME ${name} COMMAND ${name})
endfunction()

file(GLOB test_sources CONFIGURE_DEPENDS tests/api/*.cpp tests/encode/*.cpp tests/formats/*.cpp tests/kernels/*.cpp
    tests/memory/*.cpp tests/reload/*.cpp tests/stream/*.cpp tests/support/*.cpp tests/tool/*.cpp tests/viewer/*.cpp
    tests/vulkan/*.cpp)
list(FILTER test_sources EXCLUDE REGEX "/(hot_reload_[a-z_]*|viewer_run_test|broken_driver|guard_pages)\\.cpp$")
sluice_of_system(test_sources)
# Tests run the tool through a POSIX shell. A shell of Linux runs a tool for Windows too, which
# SLUICE_TOOL names.
if(WIN32)
    message(STATUS "sluice: tests of the tool, of documents and pages are run by a build for Linux")
    list(FILTER test_sources EXCLUDE REGEX "/(documents_test|devices_page_test|tool_([a-z0-9_]+_)?test|tune_test)\\.cpp$")
endif()
if(NOT TARGET sluice_tool)
    list(FILTER test_sources EXCLUDE REGEX "/(tool_[a-z0-9_]+|tune_test)\\.cpp$")
endif()
# The tests compare our FSE tables with those of libzstd, through functions that only libzstd's
# archive exports.
find_library(SLUICE_ZSTD_ARCHIVE libzstd.a)
if(NOT SLUICE_ZSTD_ARCHIVE)
    message(STATUS "sluice: no libzstd.a: the tests of FSE tables are left out")
    list(FILTER test_sources EXCLUDE REGEX "/fse_tables_test\\.cpp$")
endif()
# Tests of odd tuning rows run the work that `sluice tune` measures.
file(GLOB tune_work_sources CONFIGURE_DEPENDS tools/sluice/tune/tune_work*.cpp)
# Tests read shards, entries of caches and Zstandard files in their own process.
set(kept_sources "")
foreach(name common/anonymous common/archive_writer common/container common/engine common/files common/progress common/tool
        sluice/pack/cache_entries sluice/pack/cache_folder common/shard common/zstd/zstd_decoder common/zstd/zstd_file)
    list(APPEND kept_sources tools/${name}.cpp)
endforeach()
file(GLOB platform_sources CONFIGURE_DEPENDS tools/common/platform_*.cpp tools/common/machine_*.cpp)
sluice_of_system(platform_sources)
list(APPEND kept_sources ${platform_sources})
sluice_of_system(kept_sources)
# The watcher of hot reload, which is tested without glslang.
if(WIN32 OR CMAKE_SYSTEM_NAME STREQUAL Linux)
    list(APPEND kept_sources src/reload/watcher_posix.cpp src/reload/watcher_windows.cpp)
    sluice_of_system(kept_sources)
else()
    list(FILTER test_sources EXCLUDE REGEX "/watcher_test\\.cpp$")
endif()
# With this file, a test can make a page with more rows than it could measure.
list(APPEND kept_sources tools/bench/bench_page.cpp)
# The parts of the viewer that need no device.
set(viewer_parts bsp.cpp patch.cpp script.cpp scene.cpp camera.cpp residency.cpp)
list(TRANSFORM viewer_parts PREPEND ${PROJECT_SOURCE_DIR}/tools/samples/viewer/)
sluice_test(sluice_tests ${test_sources} ${tune_work_sources} ${viewer_parts} ${kept_sources}
    tools/samples/viewer/report.cpp)
# A Vulkan driver that fails on demand, in front of one that works. A static program cannot load it.
if(UNIX AND NOT CMAKE_EXE_LINKER_FLAGS MATCHES "-static")
    add_library(sluice_broken_driver MODULE tests/vulkan/broken_driver.cpp)
    sluice_common(sluice_broken_driver)
    target_include_directories(sluice_broken_driver SYSTEM PRIVATE ${SLUICE_VULKAN_INCLUDE_DIR})
    target_link_libraries(sluice_broken_driver PRIVATE ${CMAKE_DL_LIBS})
    string(APPEND test_paths "#define SLUICE_BROKEN_DRIVER_PATH \"$<TARGET_FILE:sluice_broken_driver>\"\n")
    add_dependencies(sluice_tests sluice_broken_driver)
elseif(UNIX)
    target_compile_definitions(sluice_tests PRIVATE SLUICE_TEST_LOADS_NO_DRIVERS)
endif()
# A malloc that stops a program where a kernel stores behind a buffer (tools/dev.d/tests.sh). It
# stands on functions of glibc, and sanitizers have a malloc of their own.
include(CheckCXXSymbolExists)
check_cxx_symbol_exists(__GLIBC__ features.h SLUICE_HAS_GLIBC)
if(SLUICE_HAS_GLIBC AND NOT SLUICE_SANITIZE AND NOT CMAKE_EXE_LINKER_FLAGS MATCHES "-static")
    add_library(sluice_guard_pages MODULE tests/memory/guard_pages.cpp)
    sluice_common(sluice_guard_pages)
    # GCC must not make a call of calloc out of the malloc and memset that calloc consists of.
    target_compile_options(sluice_guard_pages PRIVATE -fno-builtin)
    set_target_properties(sluice_guard_pages PROPERTIES CXX_VISIBILITY_PRESET default
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
    string(APPEND test_paths "#define SLUICE_GUARD_PAGES_PATH \"$<TARGET_FILE:sluice_guard_pages>\"\n")
    add_dependencies(sluice_tests sluice_guard_pages)
endif()
foreach(library png jpeg squish) # tests must know what the tool was built with
    if(TARGET sluice_${library})
        string(TOUPPER ${library} upper)
        target_compile_definitions(sluice_tests PRIVATE SLUICE_HAVE_${upper}=1)
    endif()
endforeach()
if(SLUICE_ZSTD_ARCHIVE)
    target_link_libraries(sluice_tests PRIVATE ${SLUICE_ZSTD_ARCHIVE})
endif()
# libplacebo is another project's renderer; a test draws streamed images with it. Without it, the
# test says so.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
    pkg_check_modules(SLUICE_LIBPLACEBO QUIET IMPORTED_TARGET libplacebo>=4.192 libplacebo<5)
endif()
# There is no static libplacebo.
if(SLUICE_LIBPLACEBO_FOUND AND TARGET sluice_stream AND NOT SLUICE_STATIC_TOOL)
    target_compile_definitions(sluice_tests PRIVATE SLUICE_HAVE_LIBPLACEBO)
    target_link_libraries(sluice_tests PRIVATE PkgConfig::SLUICE_LIBPLACEBO)
else()
    message(STATUS "sluice: no libplacebo: its test says that it was not run")
endif()
foreach(form base narrow emu) # a shader that only the tests use
    string(TOUPPER ${form} flag)
    sluice_add_program_shader(sluice_tests tests/kernels/scan_bits.comp scan_bits_${form} -DSLUICE_${flag})
endforeach()
sluice_add_program_shader(sluice_tests tests/vulkan/nothing.comp)
if(TARGET sluice_dev)
    file(GLOB reload_sources CONFIGURE_DEPENDS tests/reload/hot_reload_*.cpp)
    if(WIN32) # this one runs glslangValidator of Linux
        list(FILTER reload_sources EXCLUDE REGEX "/hot_reload_edits_test\\.cpp$")
    endif()
    sluice_test(hot_reload_test ${reload_sources})
    # The page streams as well.
    target_link_libraries(hot_reload_test PRIVATE sluice_dev $<TARGET_NAME_IF_EXISTS:sluice_stream>)
endif()

# A test makes a map and runs the viewer on it.
if(TARGET sluice_viewer)
    sluice_test(viewer_test tests/viewer/viewer_run_test.cpp tests/viewer/viewer_maps.cpp tests/support/images.cpp)
    string(APPEND test_paths "#define SLUICE_VIEWER_PATH \"$<TARGET_FILE:sluice_viewer>\"\n")
    add_dependencies(viewer_test sluice_viewer)
endif()
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/tests/test_paths.h CONTENT ${test_paths})

# The samples check their own results. Exit code 77 means that there is no device.
if(SLUICE_BUILD_TOOL)
    add_test(NAME visibility COMMAND sluice_visibility)
    add_test(NAME gemv COMMAND sluice_gemv 64 8192)
    # This size has tiles that begin and end inside rows, and a short last tile.
    add_test(NAME gemv-split-rows COMMAND sluice_gemv 301 1096)
    set_tests_properties(visibility gemv gemv-split-rows PROPERTIES SKIP_RETURN_CODE 77)
endif()

# Each file of tests/fuzz becomes a program with an LLVMFuzzerTestOneInput.
if(SLUICE_FUZZ)
    add_custom_target(fuzzers)
    file(GLOB fuzz_sources CONFIGURE_DEPENDS tests/fuzz/*.cpp)
    if(NOT SLUICE_ZSTD_ARCHIVE)
        list(FILTER fuzz_sources EXCLUDE REGEX "/fuzz_fse\\.cpp$")
    endif()
    # Fuzzers call the tool's readers too. What a fuzzer does not call is not linked into it.
    file(GLOB_RECURSE fuzz_tool_sources CONFIGURE_DEPENDS tools/sluice/*.cpp tools/common/*.cpp)
    sluice_of_system(fuzz_tool_sources)
    list(FILTER fuzz_tool_sources EXCLUDE REGEX "/(main|selftest|command_table|completion|man_page|shared_options|usage_error|tune[a-z_]*)\\.cpp$")
    add_library(sluice_fuzz_tool STATIC EXCLUDE_FROM_ALL ${fuzz_tool_sources})
    sluice_program(sluice_fuzz_tool)
    if(SLUICE_TOML_INCLUDE_DIR)
        target_include_directories(sluice_fuzz_tool SYSTEM PRIVATE ${SLUICE_TOML_INCLUDE_DIR})
    endif()
    foreach(source ${fuzz_sources})
        get_filename_component(name ${source} NAME_WE)
        add_executable(${name} ${source})
        if(name STREQUAL fuzz_bsp)
            target_sources(${name} PRIVATE ${viewer_parts})
        # The writer of Gstd words, which this fuzzer uses, has assertions of doctest.
        elseif(name STREQUAL fuzz_gstd_parts)
            target_sources(${name} PRIVATE tests/support/gstd_word_writer.cpp tests/support/gdeflate_bit_writer.cpp)
            target_compile_definitions(${name} PRIVATE DOCTEST_CONFIG_DISABLE)
            target_include_directories(${name} SYSTEM PRIVATE ${SLUICE_DOCTEST_INCLUDE_DIR})
        elseif(name STREQUAL fuzz_fse) # needs a function that only libzstd's archive exports
            target_link_libraries(${name} PRIVATE ${SLUICE_ZSTD_ARCHIVE})
        endif()
        add_dependencies(fuzzers ${name})
        target_link_libraries(${name} PRIVATE sluice_fuzz_tool)
        sluice_program(${name})
        target_link_options(${name} PRIVATE -fsanitize=fuzzer)
        set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin/fuzz)
    endforeach()
endif()

# The code that README.md shows is compiled, too.
file(GLOB readme_code CONFIGURE_DEPENDS tests/consumers/readme/*.cpp)
if(readme_code)
    add_library(sluice_readme OBJECT ${readme_code})
    sluice_common(sluice_readme)
    target_include_directories(sluice_readme SYSTEM PRIVATE ${SLUICE_VULKAN_INCLUDE_DIR})
endif()

# A shared library must export sluice*, and nothing else.
if(BUILD_SHARED_LIBS)
    add_test(NAME exports COMMAND sh -c
        "test -n \"$($1 -D --defined-only $2 | grep ' sluice')\" && ! $1 -D --defined-only $2 | grep -v ' sluice'"
        sh ${CMAKE_NM} $<TARGET_FILE:sluice>)
endif()
