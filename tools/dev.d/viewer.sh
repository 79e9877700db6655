# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Runs the viewer on OpenArena's maps.

# Packs the assets that the viewer reads. The archive is used again while they and the packer stay
# the same.
pack_for_viewer() { # sets `archive`
    local sources key
    sources=$(find src/encode src/formats tools/common tools/sluice -type f | LC_ALL=C sort | xargs cat | sha256sum | cut -c1-16)
    key=$( (cd "$assets" && find . -type f -printf '%P %s\n' | LC_ALL=C sort) | sha256sum | cut -c1-16)
    archive=$cache/viewer-$key-$sources.sluice
    if [ ! -f "$archive" ]; then
        rm -f "$cache"/viewer-*.sluice
        note "packing maps and textures"
        (cd "$assets" && "$root/$bin/sluice" pack --images -j "$jobs" -o "$archive" \
            pak0/scripts pak0/textures pak0/models pak0/gfx pak1-maps/maps pak4-textures/textures)
    fi
}

run_viewer() { # ARGUMENT...
    need $build_packages mesa-vulkan-drivers unzip libsdl2-dev
    build_release
    local assets archive out=build/viewer
    find_assets ""
    pack_for_viewer
    mkdir -p "$out"
    if [ $# = 0 ]; then
        if hardware vulkan; then
            set -- --tour --memory 48
        else
            note "no GPU found: software Vulkan (lavapipe), one map, small"
            set -- --map oa_dm4 --size 480x270 --seconds 10 --memory 12 --budget-ms 4
        fi
        if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then set -- "$@" --window; fi
        set -- "$@" --overlay --screenshot "$out/frame.png" --json "$out/run.json" --html "$out/run.html"
        echo "the last frame, what was measured, and plots: $out/frame.png, run.json, run.html"
    fi
    note "viewer $*"
    $bin/viewer "$archive" "$@"
}
