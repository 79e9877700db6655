# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Builds against musl (cmake/musl.cmake), so that code which relies on glibc does not compile or
# link. Debian has musl but no C++ library for it, so libc++ and all other libraries are built from
# the distribution's sources.
musl_packages="clang-14 musl-tools linux-libc-dev dpkg-dev make perl python3 unicode-data"
musl=$root/build/musl
musl_prefix=$musl/prefix

# Builds libc++. Its source is part of LLVM's, some of whose scripts it needs.
musl_cxx() {
    local archive option options=()
    [ ! -f "$musl_prefix/lib/libc++.a" ] || return 0
    if [ ! -d "$musl/llvm" ]; then
        debian_sources "$musl" --download-only llvm-toolchain-14 || return 1
        archive=$(echo "$musl"/sources/llvm-toolchain-14_*.orig.tar.xz)
        rm -rf "$musl/llvm.part" && mkdir "$musl/llvm.part" && tar -xJf "$archive" -C "$musl/llvm.part" --strip-components=1 \
            --wildcards '*/libcxx/*' '*/libcxxabi/*' '*/libunwind/*' '*/runtimes/*' '*/cmake/*' &&
            mv "$musl/llvm.part" "$musl/llvm" && rm "$archive" || return 1
    fi
    for option in LIBCXX LIBCXXABI LIBUNWIND; do
        options+=(-D${option}_ENABLE_SHARED=OFF -D${option}_INCLUDE_TESTS=OFF -D${option}_USE_COMPILER_RT=ON)
    done
    # WORKS: CMake must not try the compiler, which would need the libc++ that is only being built.
    cross_library musl libc++ "$musl/llvm/runtimes" libc++.a -DCMAKE_CXX_COMPILER_WORKS=ON -DLLVM_INCLUDE_TESTS=OFF \
        -DLLVM_ENABLE_RUNTIMES="libcxx;libcxxabi;libunwind" -DLIBCXX_HAS_MUSL_LIBC=ON \
        -DLIBCXX_INCLUDE_BENCHMARKS=OFF -DLIBCXXABI_USE_LLVM_UNWINDER=ON "${options[@]}"
}

# Builds the libraries that have no CMake files, or whose CMake files do too much.
musl_made() {
    local sources=$musl/sources clang flags
    clang=$(clang-14 -print-resource-dir)
    flags="--target=x86_64-linux-musl -O2 -nostdinc -isystem $clang/include -isystem /usr/include/x86_64-linux-musl"
    if [ ! -f "$musl_prefix/lib/libdeflate.a" ]; then
        note "building libdeflate for musl"
        make -C "$(echo "$sources"/libdeflate-*/)" -j "$jobs" CC=clang-14 CFLAGS="$flags" libdeflate.a &&
            cp "$sources"/libdeflate-*/libdeflate.h "$musl_prefix/include/" &&
            cp "$sources"/libdeflate-*/libdeflate.a "$musl_prefix/lib/" || return 1
    fi
    if [ ! -f "$musl_prefix/lib/libz.a" ]; then
        note "building zlib for musl"
        (cd "$sources"/zlib-*/ && CHOST=x86_64 CC=clang-14 CFLAGS="$flags -D_LARGEFILE64_SOURCE=1" ./configure --static &&
            make -j "$jobs" libz.a && cp zlib.h zconf.h "$musl_prefix/include/" && cp libz.a "$musl_prefix/lib/") || return 1
    fi
    if [ ! -f "$musl_prefix/lib/libre2.a" ]; then
        note "building RE2 for musl"
        make -C "$(echo "$sources"/re2-*/)" -j "$jobs" REBUILD_TABLES=1 CXX=clang++-14 \
            CXXFLAGS="-nostdinc++ -isystem $musl_prefix/include/c++/v1 $flags -DNDEBUG -std=c++11" obj/libre2.a &&
            mkdir -p "$musl_prefix/include/re2" &&
            cp "$sources"/re2-*/re2/re2.h "$sources"/re2-*/re2/stringpiece.h "$musl_prefix/include/re2/" &&
            cp "$sources"/re2-*/obj/libre2.a "$musl_prefix/lib/"
    fi
}

musl_libraries() {
    local sources=$musl/sources name
    mkdir -p "$sources" "$musl_prefix/lib"
    header_links "$musl_prefix"
    # The kernel's headers, which do not belong to a C library.
    for name in linux asm-generic "$(uname -m)-linux-gnu/asm"; do
        ln -sfn "/usr/include/$name" "$musl_prefix/include/$(basename "$name")"
    done
    musl_cxx || return 1
    if ! compgen -G "$sources/re2-*" >/dev/null; then
        note "sources of libraries"
        debian_sources "$musl" libzstd libdeflate xxhash zlib re2 || return 1
    fi
    musl_made && cross_library musl zstd "$(echo "$sources"/libzstd-*/build/cmake)" libzstd.a -DZSTD_BUILD_PROGRAMS=OFF \
        -DZSTD_BUILD_SHARED=OFF -DZSTD_BUILD_STATIC=ON -DZSTD_MULTITHREAD_SUPPORT=OFF &&
        cross_library musl xxhash "$(echo "$sources"/xxhash-*/cmake_unofficial)" libxxhash.a -DXXHASH_BUILD_XXHSUM=OFF
}

musl_build() {
    cmake -S . -B build/musl/sluice -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_TOOLCHAIN_FILE="$root/cmake/musl.cmake" \
        -DSLUICE_MUSL_PREFIX="$musl_prefix" -DSLUICE_CUDA=OFF -DSLUICE_WERROR=ON -DSLUICE_STATIC_TOOL=ON \
        -DSLUICE_SHADERS_FROM="$root/build/release/shaders" &&
        cmake --build build/musl/sluice -j "$jobs"
}

# Called by run_musl and run_check, after start.
musl_tests() {
    need $musl_packages
    step musl-libraries musl_libraries
    step musl-build musl_build
    where=musl/ tests musl build/musl/sluice host,cpu
}

run_musl() {
    start
    musl_tests
    closing_table
}
