# SPDX-License-Identifier: MIT OR Apache-2.0
# The options of a build, and what all of our targets have in common.
option(BUILD_SHARED_LIBS "Build all libraries as shared ones" OFF)
option(SLUICE_BUILD_TOOL "Build the sluice command" ${PROJECT_IS_TOP_LEVEL})
option(SLUICE_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(SLUICE_ENCODE "Build sluice_encode, which tool and tests need: with libdeflate, libzstd, zlib, xxHash, nlohmann-json" OFF)
if(SLUICE_BUILD_TOOL OR SLUICE_BUILD_TESTS OR SLUICE_HOT_RELOAD)
    set(SLUICE_ENCODE ON)
endif()
option(SLUICE_INSTALL "Make install rules" ${PROJECT_IS_TOP_LEVEL})
option(SLUICE_HOT_RELOAD "Build sluice_dev: reload edited shaders in a running program" OFF)
option(SLUICE_STATIC_TOOL "Link the tool's and the tests' libraries statically, to run on a bare machine" OFF)
option(SLUICE_FUZZ "Build the libFuzzer targets (needs clang)" OFF)
option(SLUICE_WERROR "Treat warnings as errors" OFF)
set(SLUICE_CUDA AUTO CACHE STRING "CUDA backend: AUTO (if nvcc is found), ON or OFF")
set_property(CACHE SLUICE_CUDA PROPERTY STRINGS AUTO ON OFF)
set(SLUICE_SHADERS_FROM "" CACHE PATH
    "A folder shaders/ that another build of these sources with the same options made: shaders are not compiled again")
set(SLUICE_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize=: \"address,undefined\" or \"thread\"")

if(PROJECT_IS_TOP_LEVEL)
    if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
        set(CMAKE_BUILD_TYPE Release)
    endif()
    set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
    set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()

if(SLUICE_SANITIZE)
    add_compile_options($<$<NOT:$<COMPILE_LANGUAGE:CUDA>>:-fsanitize=${SLUICE_SANITIZE}>
        $<$<NOT:$<COMPILE_LANGUAGE:CUDA>>:-fno-omit-frame-pointer>)
    add_link_options(-fsanitize=${SLUICE_SANITIZE})
    # GCC's manual says that sanitizers cause false positives of this warning. GCC 12 has one in
    # <regex>.
    add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
    if(SLUICE_SANITIZE MATCHES undefined)
        add_compile_options($<$<NOT:$<COMPILE_LANGUAGE:CUDA>>:-fno-sanitize-recover=undefined>)
    endif()
endif()
if(SLUICE_FUZZ)
    if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
        message(FATAL_ERROR "SLUICE_FUZZ needs clang: configure with -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++")
    endif()
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()

set(gnu_like $<C_COMPILER_ID:GNU,Clang,AppleClang>)
add_library(sluice_warnings INTERFACE)
target_compile_options(sluice_warnings INTERFACE
    $<$<AND:${gnu_like},$<NOT:$<COMPILE_LANGUAGE:CUDA>>>:-Wall;-Wextra;-Wconversion;-Wshadow>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
if(SLUICE_WERROR)
    target_compile_options(sluice_warnings INTERFACE
        $<$<AND:${gnu_like},$<NOT:$<COMPILE_LANGUAGE:CUDA>>>:-Werror>
        $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
endif()

# Sets what all of our libraries and programs have in common. Static archives are position
# independent, so that an engine can link them into a shared library.
function(sluice_common target)
    target_compile_features(${target} PUBLIC cxx_std_17)
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden
        CUDA_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON
        CUDA_STANDARD 17 CUDA_RUNTIME_LIBRARY Static)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src
        ${PROJECT_SOURCE_DIR}/shaders/lib ${PROJECT_SOURCE_DIR} ${SLUICE_TEXTS_DIR})
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:sluice_warnings>)
    foreach(component codecs primitives weights zstd uastc)
        string(TOUPPER ${component} upper)
        target_compile_definitions(${target} PRIVATE SLUICE_HAVE_${upper}=$<BOOL:${SLUICE_${upper}}>)
    endforeach()
    if(SLUICE_HAVE_CUDA)
        target_compile_definitions(${target} PRIVATE SLUICE_HAVE_CUDA=1)
        target_include_directories(${target} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
    endif()
endfunction()

# Sets up a program that uses all of our libraries: the tool, the tests.
function(sluice_program target)
    sluice_common(${target})
    target_include_directories(${target} SYSTEM PRIVATE ${SLUICE_VULKAN_INCLUDE_DIR} ${SLUICE_VOLK_INCLUDE_DIR})
    if(SLUICE_HOT_RELOAD)
        target_link_libraries(${target} PRIVATE sluice_dev)
    endif()
    foreach(library sluice_device${internal} sluice_stream${internal} sluice_encode${internal} sluice${internal}
            sluice_libdeflate sluice_zstd sluice_xxhash sluice_zlib sluice_re2 nlohmann_json::nlohmann_json)
        if(TARGET ${library})
            target_link_libraries(${target} PRIVATE ${library})
        endif()
    endforeach()
    target_link_libraries(${target} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
    if(SLUICE_HAVE_CUDA)
        target_link_libraries(${target} PRIVATE CUDA::cudart_static)
    endif()
    if(SLUICE_STATIC_TOOL)
        target_link_options(${target} PRIVATE -static-libgcc -static-libstdc++)
    endif()
    if(WIN32)
        target_link_libraries(${target} PRIVATE ntdll)
        if(SLUICE_STATIC_TOOL) # without the library of threads as a DLL
            target_link_options(${target} PRIVATE -static)
        endif()
    endif()
endfunction()
