# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Functions that install packages and build.
build_packages="g++ cmake ninja-build pkg-config glslang-tools spirv-tools libvulkan-dev libvulkan-volk-dev doctest-dev
    libdeflate-dev libzstd-dev zlib1g-dev libxxhash-dev libcli11-dev nlohmann-json3-dev libre2-dev libtomlplusplus-dev
    libpng-dev libjpeg-dev libsquish-dev"
test_packages="mesa-vulkan-drivers vulkan-validationlayers glslang-dev clang-format-14 libplacebo-dev
    dpkg-dev lintian ccache python3"
check_packages="clang llvm clang-tidy-14"

note() { printf '\n== %s\n' "$*"; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# Sets `missing` to the packages that are not installed; to nothing if this is no Debian system.
find_missing() { # PACKAGE...
    local package
    missing=()
    command -v dpkg-query >/dev/null || return 0
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
    done
}

# Installs packages that are missing. Needs no network if none is.
need() {
    local missing
    if ! command -v dpkg-query >/dev/null; then
        echo "not a Debian system: make sure that these are installed, under whatever names: $*" >&2
        return 0
    fi
    find_missing "$@"
    [ ${#missing[@]} -gt 0 ] || return 0
    note "installing ${missing[*]}"
    as_root apt-get update -q
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
}

configure() { # PRESET CMAKE_OPTION...
    local preset=$1
    shift
    if ! cmake --preset "$preset" "$@" >"build/$preset.log" 2>&1; then
        cat "build/$preset.log" >&2
        return 1
    fi
}

build_release() {
    need $build_packages
    note "building"
    configure release -DSLUICE_CUDA=AUTO # AUTO, since build_tool may have left CUDA out
    cmake --build build/release -j "$jobs"
}

# Succeeds if NVIDIA's driver is installed. The last path is that of Windows' subsystem for Linux.
nvidia_driver() {
    [ -e /proc/driver/nvidia ] || command -v nvidia-smi >/dev/null || [ -e /usr/lib/wsl/lib/nvidia-smi ]
}

# Succeeds if the release build is configured with CUDA.
configured_with_cuda() {
    grep -q '^SLUICE_NVCC:FILEPATH=/' build/release/CMakeCache.txt 2>/dev/null &&
        ! grep -q '^SLUICE_CUDA:STRING=OFF' build/release/CMakeCache.txt
}

# Sets `cuda` to the value of SLUICE_CUDA for build_tool. Without NVIDIA's driver, compiling CUDA
# kernels would waste time, so they are left out unless the build folder has them already.
choose_cuda() {
    cuda=AUTO
    nvidia_driver || configured_with_cuda || cuda=OFF
}

# Builds only the library and the tool, in the folder of the release build.
build_tool() {
    local cuda
    need $build_packages
    note "building the library and the tool"
    choose_cuda
    configure release -DSLUICE_CUDA=$cuda
    cmake --build build/release -j "$jobs" --target sluice_tool
}

# download PACKAGE...: downloads Debian packages into the cache, without installing them.
download() {
    mkdir -p "$cache/downloads"
    (cd "$cache/downloads" && apt-get download -q "$@") || {
        as_root apt-get update -q
        (cd "$cache/downloads" && apt-get download -q "$@")
    }
}

# Downloads sources of the distribution into FOLDER/sources. Uses package lists of its own, so that
# the system's stay as they are.
debian_sources() { # FOLDER [--download-only] PACKAGE...
    local options folder=$1
    shift
    mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial" "$folder/sources"
    (
        . /etc/os-release
        case $ID in
        debian) echo "deb-src http://deb.debian.org/debian $VERSION_CODENAME main" ;;
        ubuntu) echo "deb-src http://archive.ubuntu.com/ubuntu $VERSION_CODENAME main universe" ;;
        *)
            echo "the sources of $ID's packages: not known where they are" >&2
            exit 1
            ;;
        esac
    ) >"$folder/apt/sources.list" || return 1
    options=(-o "Dir::Etc::sourcelist=$folder/apt/sources.list" -o Dir::Etc::sourceparts=-
        -o "Dir::State::lists=$folder/apt/lists" -o "Dir::Cache=$folder/apt/cache")
    apt-get "${options[@]}" update -q && (cd "$folder/sources" && apt-get "${options[@]}" source -q "$@")
}

# Links headers of this system's packages into the prefix of a system for which we cross-compile.
# These headers are the same for all systems.
header_links() { # PREFIX
    local name
    mkdir -p "$1/include" "$1/lib/cmake"
    for name in CLI nlohmann toml++ doctest vulkan vk_video volk.h volk.c; do
        [ ! -e "/usr/include/$name" ] || ln -sfn "/usr/include/$name" "$1/include/$name"
    done
    ln -sfn /usr/share/cmake/nlohmann_json "$1/lib/cmake/nlohmann_json"
}

# cross_library musl|windows NAME SOURCE_FOLDER ARCHIVE CMAKE_OPTION...: builds a static library
# into that system's prefix, unless it is there.
cross_library() {
    local system=$1 name=$2 source=$3 prefix=$root/build/$1/prefix toolchain=musl
    local archive=$prefix/lib/$4
    shift 4
    [ ! -f "$archive" ] || return 0
    [ "$system" = musl ] || toolchain=mingw-w64
    note "building $name for $system"
    cmake -G Ninja -S "$source" -B "$root/build/$system/libraries/$name" \
        -DCMAKE_TOOLCHAIN_FILE="$root/cmake/$toolchain.cmake" "-DSLUICE_${system^^}_PREFIX=$prefix" \
        -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
        -DBUILD_TESTING=OFF "$@" && cmake --build "$root/build/$system/libraries/$name" -j "$jobs" &&
        cmake --install "$root/build/$system/libraries/$name" && [ -f "$archive" ]
}

# Prints the path of SwiftShader's driver manifest, from the system or from the cache; nothing if
# there is none.
swiftshader() {
    local manifest deb
    for manifest in /usr/lib/chromium/vk_swiftshader_icd.json "$cache/swiftshader/vk_swiftshader_icd.json"; do
        if [ -f "$manifest" ]; then
            echo "$manifest"
            return 0
        fi
    done
    [ "$(. /etc/os-release 2>/dev/null && echo "$ID")" = debian ] || return 0
    download chromium-common >&2 || return 0
    mkdir -p "$cache/swiftshader.part"
    for deb in "$cache"/downloads/chromium-common_*.deb; do
        dpkg-deb --fsys-tarfile "$deb" |
            tar -x -C "$cache/swiftshader.part" --strip-components=4 --wildcards '*swiftshader*'
    done
    mv "$cache/swiftshader.part" "$cache/swiftshader"
    rm -f "$cache"/downloads/chromium-common_*.deb
    echo "$manifest"
}

# Succeeds if there is a hardware device of this backend. `sluice devices --json` prints one member
# in a line.
hardware() { # vulkan | cuda
    "$bin/sluice" devices --json | awk -v kind="\"device\": \"$1:" '
        /"device": / { ours = index($0, kind) != 0 }
        ours && /"software": false/ { found = 1 }
        END { exit !found }'
}
