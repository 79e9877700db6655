# SPDX-License-Identifier: MIT OR Apache-2.0
# Toolchain for 64-bit Arm on another Debian or Ubuntu machine: the distribution's cross compiler,
# and its arm64 libraries beside those of the machine (dpkg --add-architecture arm64). Programs run
# in qemu's user mode.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
# Headers are the same for every processor, and libraries for both lie side by side.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
