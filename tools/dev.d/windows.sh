# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Builds and tests for Windows, by mingw-w64 and Wine. The libraries that are linked are built from
# the distribution's sources.
windows_packages="mingw-w64 wine wine64 xvfb zip unzip dpkg-dev make bsdutils
    perl python3 unicode-data"
windows=$root/build/windows
windows_prefix=$windows/prefix

# Each of the next three functions builds a library that cross_library cannot build: it has no CMake
# files, its CMake files also make a DLL, or its source lacks tables that must be made first.
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

windows_libraries() {
    local sources=$windows/sources
    header_links "$windows_prefix"
    if ! compgen -G "$sources/re2-*" >/dev/null; then
        note "sources of libraries"
        debian_sources "$windows" libzstd libdeflate xxhash zlib libpng1.6 libjpeg-turbo libsquish glslang re2 || return 1
    fi
    windows_libdeflate "$(echo "$sources"/libdeflate-*/)" && windows_zlib "$(echo "$sources"/zlib-*/)" &&
        cross_library windows zstd "$(echo "$sources"/libzstd-*/build/cmake)" libzstd.a -DZSTD_BUILD_PROGRAMS=OFF \
            -DZSTD_BUILD_SHARED=OFF -DZSTD_BUILD_STATIC=ON -DZSTD_MULTITHREAD_SUPPORT=OFF &&
        cross_library windows xxhash "$(echo "$sources"/xxhash-*/cmake_unofficial)" libxxhash.a -DXXHASH_BUILD_XXHSUM=OFF &&
        windows_re2 "$(echo "$sources"/re2-*/)" &&
        cross_library windows png "$(echo "$sources"/libpng1.6-*/)" libpng.a -DPNG_SHARED=OFF -DPNG_TESTS=OFF \
            -DPNG_EXECUTABLES=OFF &&
        cross_library windows jpeg "$(echo "$sources"/libjpeg-turbo-*/)" libjpeg.a -DENABLE_SHARED=OFF -DWITH_SIMD=OFF \
            -DWITH_TURBOJPEG=OFF -DCMAKE_INSTALL_LIBDIR="$windows_prefix/lib" &&
        cross_library windows squish "$(echo "$sources"/libsquish-*/)" libsquish.a -DBUILD_SQUISH_WITH_OPENMP=OFF \
            -DBUILD_SQUISH_EXTRA=OFF
}

# --- Building ---

# windows_build NAME CMAKE_OPTION...: into build/windows/NAME, with the shaders of the release build.
# $windows_targets: what to build, if not everything.
windows_build() {
    local name=$1
    shift
    note "building for Windows: $name"
    cmake -G Ninja -S . -B "$windows/$name" -DCMAKE_TOOLCHAIN_FILE="$root/cmake/mingw-w64.cmake" \
        -DSLUICE_WINDOWS_PREFIX="$windows_prefix" -DCMAKE_BUILD_TYPE=Release -DSLUICE_WERROR=ON -DSLUICE_CUDA=OFF \
        -DSLUICE_INSTALL=ON -DSLUICE_SHADERS_FROM="$root/build/release/shaders" \
        -DCMAKE_INSTALL_PREFIX="$windows/package/$name" "$@" | grep 'sluice: ' &&
        cmake --build "$windows/$name" -j "$jobs" ${windows_targets:+--target $windows_targets}
}

# Checks that the libraries build without warnings for 32-bit processors. Does not run them.
windows_32() {
    cmake -G Ninja -S . -B "$windows/32" -DCMAKE_TOOLCHAIN_FILE="$root/cmake/mingw-w64.cmake" \
        -DSLUICE_WINDOWS_PROCESSOR=i686 -DSLUICE_WINDOWS_PREFIX="$windows_prefix" -DCMAKE_BUILD_TYPE=Release \
        -DSLUICE_WERROR=ON -DSLUICE_CUDA=OFF -DSLUICE_SHADERS_FROM="$root/build/release/shaders" \
        -DSLUICE_BUILD_TOOL=OFF -DSLUICE_BUILD_TESTS=OFF && cmake --build "$windows/32" -j "$jobs"
}

# Builds the test of hot reload, with the shader compiler that it links.
windows_reload_build() {
    cross_library windows glslang "$(echo "$windows"/sources/glslang-*/)" libglslang.a -DENABLE_OPT=OFF -DENABLE_HLSL=OFF \
        -DENABLE_CTEST=OFF -DCMAKE_INSTALL_LIBDIR=lib &&
        cmake -G Ninja -S . -B "$windows/reload" -DCMAKE_TOOLCHAIN_FILE="$root/cmake/mingw-w64.cmake" \
            -DSLUICE_WINDOWS_PREFIX="$windows_prefix" -DCMAKE_BUILD_TYPE=Release -DSLUICE_WERROR=ON -DSLUICE_CUDA=OFF \
            -DSLUICE_HOT_RELOAD=ON -DSLUICE_STATIC_TOOL=ON &&
        cmake --build "$windows/reload" -j "$jobs" --target hot_reload_test
}
windows_reload() {
    # shellcheck disable=SC2046 # variables are words
    env $(on_driver "$lavapipe_manifest") WINEPREFIX="$windows/wine" WINEDEBUG=-all \
        wine "$windows/reload/bin/hot_reload_test.exe" </dev/null
}

# Makes the zip: the tool, and the library twice with its headers and CMake files, as a DLL with its
# import library in shared/ and as static libraries in static/.
windows_zip() {
    local version archive
    version=$(sed -n 's/.*PROJECT_VERSION:STATIC=//p' "$windows/static/CMakeCache.txt")
    rm -rf "$windows/package"
    cmake --install "$windows/static" --component library --strip >"$windows/install.log" &&
        cmake --install "$windows/shared" --component library --strip >>"$windows/install.log" &&
        mkdir -p "$windows/package/bin" "$windows/package/docs" &&
        x86_64-w64-mingw32-strip -o "$windows/package/bin/sluice.exe" "$windows/static/bin/sluice.exe" &&
        cp LICENSE-MIT LICENSE-APACHE "$windows/package/" && cp docs/tool.md docs/format.md "$windows/package/docs/" &&
        archive=$windows/sluice-${version:-0}-windows-x86_64.zip && rm -f "$windows"/sluice-*.zip &&
        (cd "$windows/package" && zip -q -r "$archive" .) && du -h "$archive"
}

# --- Running ---

# Wine shows Vulkan to programs only if there is a display, which Xvfb provides.
windows_display_process=
windows_display() {
    rm -f "$windows/display" # what an earlier run left would be read before Xvfb empties it
    Xvfb -displayfd 1 -screen 0 640x480x24 -nolisten tcp >"$windows/display" 2>"$windows/display.log" &
    windows_display_process=$!
    local i
    for ((i = 0; i < 100; ++i)); do
        sleep 0.1
        [ ! -s "$windows/display" ] || break
    done
    DISPLAY=:$(cat "$windows/display") && [ "$DISPLAY" != : ] && export DISPLAY
}

# Makes scripts that run the .exe of the same name under Wine, in a Wine folder of ours. Wine leaves
# processes running. If they inherited a pipe, it would stay open, so Wine is started here once,
# before anything reads from a pipe. Wine takes arguments in the encoding of LC_ALL.
windows_wrappers() {
    local name
    mkdir -p "$windows/wrapped/bin"
    for name in sluice sluice_tests; do
        cat >"$windows/wrapped/bin/$name" <<END
#!/bin/sh
export WINEPREFIX='$windows/wine' WINEDEBUG=-all LC_ALL=C.UTF-8
exec wine '$windows/static/bin/$name.exe' "\$@"
END
        chmod +x "$windows/wrapped/bin/$name"
    done
    note "starting Wine"
    WINEPREFIX=$windows/wine WINEDEBUG=-all wine wineboot >/dev/null 2>&1 </dev/null
    "$windows/wrapped/bin/sluice" --version >"$windows/version.txt" </dev/null && cat "$windows/version.txt"
}
windows_end() {
    WINEPREFIX=$windows/wine WINEDEBUG=-all wine wineboot -k >/dev/null 2>&1 </dev/null || true
    [ -z "$windows_display_process" ] || kill "$windows_display_process" || true
    unset DISPLAY
}

# Makes a tree of 1,200 files: folders, names with umlauts and other letters, paths of 300
# characters, empty files.
windows_tree() { # FOLDER
    local i folder long
    long=$(printf 'folder-%.0s' {1..13})/$(printf 'ordner-äöü-%.0s' {1..9})
    for ((i = 0; i < 1200; ++i)); do
        case $((i % 6)) in
        0) folder=$1/plain ;;
        1) folder=$1/größe/straße ;;
        2) folder=$1/"with blanks and (signs) & more" ;;
        3) folder=$1/日本語/Ελλάδα ;;
        *) folder=$1/$long/$((i % 7)) ;;
        esac
        mkdir -p "$folder"
        case $((i % 5)) in
        0) seq "$i" $((i * 9)) >"$folder/numbers-$i.txt" ;;
        1) head -c $((i * 37)) /dev/zero >"$folder/zeros-ü-$i.bin" ;;
        2) head -c $((i * 53)) build/release/bin/sluice | tail -c $((i * 29)) >"$folder/code-$i.bin" ;;
        3) : >"$folder/empty-$i" ;;
        4) cat docs/design.md >"$folder/$(printf 'long-%.0s' {1..22})$i.md" ;;
        esac
    done
}

# Checks that Linux and Windows pack the same bytes, and that each unpacks them.
windows_same() {
    local work=$windows/same longest
    rm -rf "$work"
    mkdir -p "$work"
    windows_tree "$work/tree"
    longest=$(cd "$work" && find tree -type f | awk '{ if (length($0) > n) n = length($0) } END { print n }')
    echo "$(find "$work/tree" -type f | wc -l) files, the longest path has $longest characters"
    [ "$longest" -ge 300 ] || return 1
    (
        cd "$work" || exit 1
        "$root/build/release/bin/sluice" pack tree -q -o linux.sluice && "$windows/wrapped/bin/sluice" pack tree -q -o windows.sluice &&
            cmp linux.sluice windows.sluice &&
            "$windows/wrapped/bin/sluice" unpack linux.sluice -q -C windows --device cpu &&
            "$root/build/release/bin/sluice" unpack windows.sluice -q -C linux --device cpu &&
            diff -r tree windows/tree && diff -r tree linux/tree &&
            "$windows/wrapped/bin/sluice" verify windows.sluice -q --compare . --device cpu || exit 1
        # Names with umlauts and other letters must work on the command line, too.
        for tool in "$root/build/release/bin/sluice" "$windows/wrapped/bin/sluice"; do
            rm -rf wörter.sluice ein
            "$tool" pack -q tree/größe tree/日本語/Ελλάδα/numbers-15.txt -o wörter.sluice && mkdir ein &&
                "$tool" unpack -q wörter.sluice numbers-15.txt -o ein/größe.txt --device cpu &&
                cmp ein/größe.txt tree/日本語/Ελλάδα/numbers-15.txt && mv wörter.sluice "$(basename "$(dirname "$tool")").$RANDOM.archive" || exit 1
        done
        cmp ./*.archive
    )
}

# Checks what the Windows program does to names that only Linux allows.
windows_names() {
    local work=$windows/names name
    rm -rf "$work"
    mkdir -p "$work/tree/folder"
    for name in CON nul.txt aux.tar.gz COM1 lpt9.log 'CONIN$' 'dot.' 'blank ' 'a<b' 'a:b' 'a"b' 'a|b' 'a?b' 'a*b' folder/PRN; do
        (
            cd "$work" || exit 1
            rm -rf tree archive.sluice out good
            mkdir -p tree/folder
            echo content >"tree/$name" && echo content >tree/good.txt &&
                "$root/build/release/bin/sluice" pack tree -q -o archive.sluice || exit 1
            if "$windows/wrapped/bin/sluice" unpack archive.sluice -C out --device cpu >said.txt 2>&1; then
                echo "$name: was unpacked"
                exit 1
            fi
            grep -q "^sluice: out/tree/.*: cannot be a file here: " said.txt && [ ! -e out ] || {
                echo "$name: $(cat said.txt)"
                exit 1
            }
            # Under another name the file can be unpacked.
            "$windows/wrapped/bin/sluice" unpack archive.sluice "tree/$name" -q -o good --device cpu && cmp good "tree/$name"
        ) || return 1
    done
    (
        cd "$work" || exit 1
        rm -rf tree archive.sluice out good
        mkdir tree
        echo one >tree/Name.txt && echo two >tree/nÄME.txt && echo three >tree/Näme.txt &&
            "$root/build/release/bin/sluice" pack tree -q -o archive.sluice || exit 1
        ! "$windows/wrapped/bin/sluice" unpack archive.sluice -C out --device cpu >said.txt 2>&1 &&
            grep -q 'would be the same file here' said.txt && [ ! -e out ]
    )
}

# Types Ctrl+C on a terminal that Wine turns into a console: the tool must end and leave no
# unfinished files.
windows_interrupt() {
    local work=$windows/interrupt i
    rm -rf "$work"
    mkdir -p "$work"
    (
        cd "$work" || exit 1
        (
            for ((i = 0; i < 600; ++i)); do
                [ "$(find . -name '.sluice-*' | wc -l)" != 2 ] || break
                sleep 0.1
            done
            find . -name '.sluice-*' | wc -l >there
            printf '\003'
            sleep 5
        ) | timeout 120 script -qc "'$windows/wrapped/bin/sluice' bench -q --device cpu --seconds 100 --json x --html y" /dev/null >/dev/null
        [ "$(cat there)" = 2 ] && [ -z "$(find . -name '.sluice-*')" ] && [ ! -e x ] && [ ! -e y ]
    )
}

# Builds the consumers' programs against the zip's contents, and runs them with its DLL. The
# programs check their own results.
windows_consumer() { # KIND
    local work=$windows/consumer-$1 program
    rm -rf "$work"
    mkdir -p "$work/zip"
    (cd "$work/zip" && unzip -q "$windows"/sluice-*-windows-x86_64.zip) &&
        cmake -G Ninja -S tests/consumers/package -B "$work/build" -DCMAKE_TOOLCHAIN_FILE="$root/cmake/mingw-w64.cmake" \
            -DSLUICE_WINDOWS_PREFIX="$work/zip/$1" -DCMAKE_PREFIX_PATH="$work/zip/$1" \
            -DCMAKE_BUILD_TYPE=Release -DCMAKE_EXE_LINKER_FLAGS=-static &&
        cmake --build "$work/build" || return 1
    if [ "$1" = shared ]; then
        cp "$work/zip/shared/bin/sluice.dll" "$work/build/" || return 1
        x86_64-w64-mingw32-objdump -p "$work/build/c11.exe" >"$work/c11.txt" &&
            grep -q 'DLL Name: sluice.dll' "$work/c11.txt" || return 1
    fi
    for program in c11 cpp11 cpp20; do
        WINEPREFIX=$windows/wine WINEDEBUG=-all wine "$work/build/$program.exe" </dev/null || return 1
    done
}

# Checks that the DLL exports exactly what the headers declare, and needs only what every Windows
# has.
windows_exports() {
    local dump=$windows/dll.txt
    x86_64-w64-mingw32-objdump -p "$windows/shared/bin/sluice.dll" >"$dump" || return 1
    awk '/Ordinal\/Name Pointer/ { on = 1; next } on && !NF { exit } on { print $NF }' "$dump" >"$windows/exports.txt"
    grep -q '^sluiceGetVersion$' "$windows/exports.txt" && ! grep -v '^sluice' "$windows/exports.txt" &&
        ! grep 'DLL Name' "$dump" | grep -viE 'KERNEL32.dll|msvcrt.dll'
}

# windows_once NAME COMMAND...: runs a part unless it has passed with these very programs, so that
# an interrupted command goes on where it was.
windows_once() { # NAME COMMAND...
    local name=$1 passed=$windows/passed/$1 programs lines
    shift
    programs=$({
        find "$windows"/{static,reload}/bin build/release/bin/sluice{,_tests} "$windows/package" tests/consumers/package \
            tests/data tools/dev.d/{windows,tests}.sh -type f -print0 | sort -z | xargs -0 sha256sum
        dpkg-query -W wine mesa-vulkan-drivers
    } | sha256sum)
    if [ -f "$passed" ] && [ "$(head -n 1 "$passed")" = "$programs" ]; then
        note "$name: passed before with the same programs"
        tail -n +2 "$passed" >>"$summary"
        return
    fi
    lines=$(wc -l <"$summary")
    "$@"
    mkdir -p "$windows/passed"
    {
        echo "$programs"
        tail -n +$((lines + 1)) "$summary"
    } >"$passed.part"
    if grep -qE ' fail$| failed [1-9]' "$passed.part"; then rm "$passed.part"; else mv "$passed.part" "$passed"; fi
}
windows_step() { # NAME COMMAND...
    windows_once "$1" step "windows-$1" "${@:2}"
}

windows_steps() {
    local tier
    windows_libraries || return 1
    windows_build static -DSLUICE_STATIC_TOOL=ON && windows_build shared -DBUILD_SHARED_LIBS=ON -DSLUICE_BUILD_TOOL=OFF \
        -DSLUICE_BUILD_TESTS=OFF && windows_zip && windows_display && windows_wrappers || return 1
    step windows-hot-reload-build windows_reload_build
    step windows-32 windows_32
    windows_step exports windows_exports
    windows_step consumer-shared windows_consumer shared
    windows_step consumer-static windows_consumer static
    windows_step same-bytes windows_same
    windows_step names windows_names
    windows_step interrupt windows_interrupt
    where=wine/ windows_once tests tests windows build/windows/wrapped host,cpu
    # Tests of the tool run on Linux, whose shell starts the tool for Windows.
    where=wine/tool/ test_arguments='-sf=*tests/tool/*' \
        windows_once tool tests windows-tool build/release host SLUICE_TOOL="$windows/wrapped/bin/sluice" SLUICE_TOOL_SYSTEM=windows
    if [ -z "$lavapipe_manifest" ]; then
        not_run wine/lavapipe all "lavapipe is not installed"
    else
        # Validation is off, since the layers of Linux do not see Wine's calls.
        for tier in ext base; do
            # shellcheck disable=SC2046 # variables are words
            where=wine/ validation=0 windows_once lavapipe-$tier tests windows-lavapipe build/windows/wrapped vulkan/$tier \
                $(on_driver "$lavapipe_manifest") LP_NATIVE_VECTOR_WIDTH=256
        done
        windows_step hot-reload windows_reload
    fi
    not_run wine/viewer all "not built for Windows"
    not_run wine/cuda all "not built for Windows"
}

windows_parts() {
    local code=0
    windows_steps || code=1
    windows_end
    return $code
}

run_windows() {
    start $windows_packages
    windows_parts || echo "step windows-build fail" >>"$summary"
    closing_table
}
