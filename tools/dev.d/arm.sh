# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Builds for 64-bit Arm, and runs the tests in qemu's user mode. Programs see no Vulkan device
# there, so only the code of the host, the packer, the tool and the CPU's decoders are tested.
arm_packages="g++-aarch64-linux-gnu qemu-user libzstd-dev:arm64 libdeflate-dev:arm64 libxxhash-dev:arm64 zlib1g-dev:arm64
    libre2-dev:arm64 libpng-dev:arm64 libjpeg-dev:arm64 libsquish-dev:arm64"

# Succeeds if this machine can install arm64 packages beside its own.
allow_arm_packages() {
    command -v dpkg >/dev/null && [ "$(dpkg --print-architecture)" != arm64 ] || return 1
    dpkg --print-foreign-architectures | grep -qx arm64 && return 0
    note "allowing packages for arm64"
    as_root dpkg --add-architecture arm64 && as_root apt-get update -q
}

arm_build() {
    cmake -S . -B build/arm -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_TOOLCHAIN_FILE="$root/cmake/aarch64.cmake" \
        -DSLUICE_CUDA=OFF -DSLUICE_WERROR=ON -DSLUICE_SHADERS_FROM="$root/build/release/shaders" &&
        cmake --build build/arm -j "$jobs" --target sluice_tests
}

# Called by run_arm and run_check, after start.
arm_tests() {
    if ! allow_arm_packages; then
        not_run aarch64 all "this machine takes no packages for arm64"
        return
    fi
    # shellcheck disable=SC2086 # names are words
    need $arm_packages
    step arm-build arm_build
    where=qemu/ emulator=qemu-aarch64 limit=5400 tests aarch64 build/arm host,cpu
}

run_arm() {
    start
    arm_tests
    closing_table
}
