# SPDX-License-Identifier: MIT OR Apache-2.0
# Toolchain for Windows by mingw-w64 (`./tools/dev windows`). SLUICE_WINDOWS_PROCESSOR is x86_64
# (the default) or i686. Of mingw-w64's two thread models, std::thread needs "posix".
# SLUICE_WINDOWS_PREFIX is a folder with the libraries and headers that are linked; nothing else of
# this machine is used.
set(CMAKE_SYSTEM_NAME Windows)
if(NOT SLUICE_WINDOWS_PROCESSOR)
    set(SLUICE_WINDOWS_PROCESSOR x86_64)
endif()
set(CMAKE_SYSTEM_PROCESSOR ${SLUICE_WINDOWS_PROCESSOR})
set(CMAKE_C_COMPILER ${SLUICE_WINDOWS_PROCESSOR}-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER ${SLUICE_WINDOWS_PROCESSOR}-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER ${SLUICE_WINDOWS_PROCESSOR}-w64-mingw32-windres)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SLUICE_WINDOWS_PREFIX SLUICE_WINDOWS_PROCESSOR)
set(CMAKE_FIND_ROOT_PATH /usr/${SLUICE_WINDOWS_PROCESSOR}-w64-mingw32 ${SLUICE_WINDOWS_PREFIX})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Windows 10, which the tool's file functions need; and the printf of C99.
add_compile_definitions(_WIN32_WINNT=0x0A00 WINVER=0x0A00 __USE_MINGW_ANSI_STDIO=1)
