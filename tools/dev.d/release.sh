# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Makes what a release consists of, from what is committed: into build/release-VERSION.
release_failed=()

# release_part NAME "PACKAGES" "COMMANDS" FUNCTION: makes one part, unless it is left out. A part whose
# tools are not there, and cannot be installed, fails.
release_part() {
    local name=$1 tool code
    case " $release_without " in
    *" $name "*)
        note "$name: left out"
        return
        ;;
    esac
    note "$name"
    # shellcheck disable=SC2086 # packages are words
    [ -z "$2" ] || need $2 || true
    for tool in $3; do
        command -v "$tool" >/dev/null || {
            echo "release: $name: there is no $tool; --without $name leaves this part out" >&2
            release_failed+=("$name")
            return
        }
    done
    # In a shell of its own, so that a failure ends the part and not the others. In a condition, the
    # shell would ignore failures inside.
    set +e
    (
        set -e
        "$4"
    )
    code=$?
    set -e
    [ $code = 0 ] || release_failed+=("$name")
}

release_source() {
    git archive --prefix="sluice-$release_version/" HEAD | xz -9 >"$release/sluice-$release_version.tar.xz"
}

# The tool for any Linux with this or a newer glibc: all libraries but glibc are inside, since a
# program without a dynamic linker could not load Vulkan's drivers.
release_tool() {
    local stage=$root/build/static/package name needs
    name=sluice-$release_version-linux-$(uname -m)
    cmake -S . -B build/static -G Ninja -DCMAKE_BUILD_TYPE=Release -DSLUICE_STATIC_TOOL=ON -DSLUICE_BUILD_TESTS=OFF \
        -DSLUICE_CUDA=OFF -DSLUICE_SHADERS_FROM="$root/build/release/shaders" | grep 'sluice: '
    cmake --build build/static -j "$jobs" --target sluice_tool
    needs=$(readelf -d build/static/bin/sluice | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
        grep -vE '^(libc|libm|libdl|libpthread|librt|ld-linux[^.]*)\.so' || true)
    [ -z "$needs" ] || {
        echo "release: tool: needs $needs" >&2
        return 1
    }
    rm -rf "$stage"
    cmake --install build/static --prefix "$stage/$name" --component tool --strip >/dev/null
    cp LICENSE-MIT LICENSE-APACHE "$stage/$name/"
    [ "$("$stage/$name/bin/sluice" --version)" = "sluice $release_version" ]
    tar -C "$stage" -czf "$release/$name.tar.gz" --owner=0 --group=0 "$name"
}

release_deb() {
    tests/consumers/deb build/release build/deb >build/release-deb.log 2>&1 || {
        tail -n 40 build/release-deb.log
        return 1
    }
    cp build/deb/packages/*.deb "$release/"
}

release_windows() {
    local targets="sluice sluice_device sluice_stream"
    windows_libraries
    windows_targets="sluice_tool sluice_encode $targets" windows_build static -DSLUICE_STATIC_TOOL=ON
    windows_targets=$targets windows_build shared -DBUILD_SHARED_LIBS=ON -DSLUICE_BUILD_TOOL=OFF -DSLUICE_BUILD_TESTS=OFF
    windows_zip
    cp "$windows"/sluice-*.zip "$release/"
}

run_release() { # [--without PART]...
    local release_version release release_without=
    while [ $# -gt 0 ]; do
        case "$1 ${2:-}" in
        "--without source" | "--without tool" | "--without deb" | "--without windows") release_without+=" $2" ;;
        *)
            echo "release: '$*': only --without PART is known, with PART source, tool, deb or windows" >&2
            return 1
            ;;
        esac
        shift 2
    done
    if ! git rev-parse HEAD >/dev/null 2>&1 || [ -n "$(git status --porcelain)" ]; then
        echo "release: there are changes that are not committed, or this is no clone: a release is made of a commit" >&2
        return 1
    fi
    release_version=$(sed -n 's/#define SLUICE_VERSION_[A-Z]* //p' include/sluice/sluice.h | head -n 3 | paste -sd.)
    if ! grep -q "^## $release_version" CHANGELOG.md; then
        echo "release: CHANGELOG.md has no section '## $release_version'" >&2
        return 1
    fi
    release=$root/build/release-$release_version
    rm -rf "$release" && mkdir -p "$release"
    need xz-utils
    use_ccache
    build_tool
    release_part source "" "git xz" release_source
    release_part tool "" "cmake readelf" release_tool
    release_part deb "dpkg-dev lintian" "dpkg-deb dpkg-shlibdeps cpack lintian" release_deb
    release_part windows "mingw-w64 zip unzip dpkg-dev make perl python3 unicode-data" \
        "x86_64-w64-mingw32-g++-posix zip dpkg-source" release_windows
    (cd "$release" && sha256sum -- * >SHA256SUMS)
    note "in build/release-$release_version"
    (cd "$release" && ls -l)
    if [ ${#release_failed[@]} -gt 0 ]; then
        echo "release: failed: ${release_failed[*]}" >&2
        return 1
    fi
}
