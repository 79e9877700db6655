# SPDX-License-Identifier: MIT OR Apache-2.0
# Toolchain for musl instead of glibc, by Debian's clang 14 and musl (`./tools/dev musl`). It stands
# in for Android and other systems with another C library. Programs are static and run on this
# machine. SLUICE_MUSL_PREFIX is a folder with the libraries and headers that are linked, libc++
# among them.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER clang-14)
set(CMAKE_CXX_COMPILER clang++-14)
set(CMAKE_C_COMPILER_TARGET x86_64-linux-musl)
set(CMAKE_CXX_COMPILER_TARGET x86_64-linux-musl)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SLUICE_MUSL_PREFIX)
set(CMAKE_FIND_ROOT_PATH /usr/lib/x86_64-linux-musl ${SLUICE_MUSL_PREFIX})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

set(musl /usr/lib/x86_64-linux-musl)
execute_process(COMMAND ${CMAKE_C_COMPILER} -print-resource-dir OUTPUT_VARIABLE clang OUTPUT_STRIP_TRAILING_WHITESPACE)
# Headers of glibc must not be found: if they were used by mistake, nothing would show it.
set(headers "-isystem ${clang}/include -isystem /usr/include/x86_64-linux-musl -isystem ${SLUICE_MUSL_PREFIX}/include")
set(CMAKE_C_FLAGS_INIT "-nostdinc ${headers}")
set(CMAKE_CXX_FLAGS_INIT "-nostdinc -nostdinc++ -isystem ${SLUICE_MUSL_PREFIX}/include/c++/v1 ${headers}")
set(CMAKE_EXE_LINKER_FLAGS_INIT
    "-nostdlib -static ${musl}/crt1.o ${musl}/crti.o ${clang}/lib/linux/clang_rt.crtbegin-x86_64.o")
set(libraries "-Wl,--start-group")
foreach(library c++ c++abi unwind) # they do not exist yet while they are built themselves
    if(EXISTS ${SLUICE_MUSL_PREFIX}/lib/lib${library}.a)
        string(APPEND libraries " ${SLUICE_MUSL_PREFIX}/lib/lib${library}.a")
    endif()
endforeach()
string(APPEND libraries " ${musl}/libc.a ${clang}/lib/linux/libclang_rt.builtins-x86_64.a -Wl,--end-group")
string(APPEND libraries " ${clang}/lib/linux/clang_rt.crtend-x86_64.o ${musl}/crtn.o")
set(CMAKE_C_STANDARD_LIBRARIES "${libraries}")
set(CMAKE_CXX_STANDARD_LIBRARIES "${libraries}")
