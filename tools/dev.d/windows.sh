# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Windows by mingw-w64: the libraries that are linked, cross-built from the distribution's sources.
windows_packages="mingw-w64 wine wine64 xvfb xauth zip unzip dpkg-dev make
    perl python3 unicode-data"
windows=$root/build/windows
windows_prefix=$windows/prefix

# The distribution's own sources, by lists of our own: the system's stay as they are.
windows_sources() { # PACKAGE...
    local options
    mkdir -p "$windows/apt/lists/partial" "$windows/apt/cache/archives/partial" "$windows/sources"
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
    ) >"$windows/apt/sources.list" || return 1
    options=(-o "Dir::Etc::sourcelist=$windows/apt/sources.list" -o Dir::Etc::sourceparts=-
        -o "Dir::State::lists=$windows/apt/lists" -o "Dir::Cache=$windows/apt/cache")
    apt-get "${options[@]}" update -q && (cd "$windows/sources" && apt-get "${options[@]}" source -q "$@")
}

# windows_library NAME SOURCE_FOLDER ARCHIVE CMAKE_OPTION...: a static library into the prefix, unless it is there.
windows_library() {
    local name=$1 source=$2 archive=$windows_prefix/lib/$3
    shift 3
    [ ! -f "$archive" ] || return 0
    note "cross-building $name"
    cmake -G Ninja -S "$source" -B "$windows/libraries/$name" -DCMAKE_TOOLCHAIN_FILE="$root/cmake/mingw-w64.cmake" \
        -DSLUICE_WINDOWS_PREFIX="$windows_prefix" -DCMAKE_INSTALL_PREFIX="$windows_prefix" -DCMAKE_BUILD_TYPE=Release \
        -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF "$@" &&
        cmake --build "$windows/libraries/$name" -j "$jobs" && cmake --install "$windows/libraries/$name" &&
        [ -f "$archive" ]
}

# These three have no CMake files, or such as make a DLL as well, or lack tables that Debian makes anew.
windows_libdeflate() {
    local source=$1
    [ ! -f "$windows_prefix/lib/libdeflate.a" ] || return 0
    note "cross-building libdeflate"
    make -C "$source" -j "$jobs" CC=x86_64-w64-mingw32-gcc-posix AR=x86_64-w64-mingw32-ar libdeflatestatic.lib &&
        cp "$source/libdeflate.h" "$windows_prefix/include/" &&
        cp "$source/libdeflatestatic.lib" "$windows_prefix/lib/libdeflate.a"
}
windows_zlib() {
    local source=$1
    [ ! -f "$windows_prefix/lib/libz.a" ] || return 0
    note "cross-building zlib"
    (cd "$source" && CHOST=x86_64-w64-mingw32 CC=x86_64-w64-mingw32-gcc-posix ./configure --static &&
        make -j "$jobs" libz.a && cp zlib.h zconf.h "$windows_prefix/include/" && cp libz.a "$windows_prefix/lib/")
}
windows_re2() {
    local source=$1
    [ ! -f "$windows_prefix/lib/libre2.a" ] || return 0
    note "cross-building RE2"
    make -C "$source" -j "$jobs" REBUILD_TABLES=1 CXX=x86_64-w64-mingw32-g++-posix AR=x86_64-w64-mingw32-ar \
        CXXFLAGS="-O2 -DNDEBUG" obj/libre2.a && mkdir -p "$windows_prefix/include/re2" &&
        cp "$source/re2/re2.h" "$source/re2/stringpiece.h" "$windows_prefix/include/re2/" &&
        cp "$source/obj/libre2.a" "$windows_prefix/lib/"
}

# Headers alone, of packages of this system: they are the same everywhere.
windows_headers() {
    local name
    mkdir -p "$windows_prefix/include" "$windows_prefix/lib/cmake"
    for name in CLI nlohmann toml++ doctest vulkan vk_video volk.h volk.c; do
        [ ! -e "/usr/include/$name" ] || ln -sfn "/usr/include/$name" "$windows_prefix/include/$name"
    done
    ln -sfn /usr/share/cmake/nlohmann_json "$windows_prefix/lib/cmake/nlohmann_json"
}

windows_libraries() {
    local sources=$windows/sources
    windows_headers
    if ! compgen -G "$sources/re2-*" >/dev/null; then
        note "sources of libraries"
        windows_sources libzstd libdeflate xxhash zlib libpng1.6 libjpeg-turbo libsquish re2 || return 1
    fi
    windows_libdeflate "$(echo "$sources"/libdeflate-*/)" && windows_zlib "$(echo "$sources"/zlib-*/)" &&
        windows_library zstd "$(echo "$sources"/libzstd-*/build/cmake)" libzstd.a -DZSTD_BUILD_PROGRAMS=OFF \
            -DZSTD_BUILD_SHARED=OFF -DZSTD_BUILD_STATIC=ON -DZSTD_MULTITHREAD_SUPPORT=OFF &&
        windows_library xxhash "$(echo "$sources"/xxhash-*/cmake_unofficial)" libxxhash.a -DXXHASH_BUILD_XXHSUM=OFF &&
        windows_re2 "$(echo "$sources"/re2-*/)" &&
        windows_library png "$(echo "$sources"/libpng1.6-*/)" libpng.a -DPNG_SHARED=OFF -DPNG_TESTS=OFF \
            -DPNG_EXECUTABLES=OFF &&
        windows_library jpeg "$(echo "$sources"/libjpeg-turbo-*/)" libjpeg.a -DENABLE_SHARED=OFF -DWITH_SIMD=OFF \
            -DWITH_TURBOJPEG=OFF -DCMAKE_INSTALL_LIBDIR="$windows_prefix/lib" &&
        windows_library squish "$(echo "$sources"/libsquish-*/)" libsquish.a -DBUILD_SQUISH_WITH_OPENMP=OFF \
            -DBUILD_SQUISH_EXTRA=OFF
}
