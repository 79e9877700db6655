# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The demo: packs real game assets, decodes them on the best device, and compares every byte.

# Unpacks the Debian packages or .pk3 files of folder $1 into folder $2.
unpack_assets() {
    local deb pk3 part
    part=$(mktemp -d "$cache/unpack.XXXXXX")
    mkdir "$part/deb"
    for deb in "$1"/openarena-data_*.deb "$1"/openarena-081-maps_*.deb "$1"/openarena-081-textures_*.deb; do
        [ ! -f "$deb" ] || dpkg-deb -x "$deb" "$part/deb"
    done
    for pk3 in pak0 pak1-maps pak4-textures; do
        mkdir -p "$part/assets/$pk3"
        find "$part/deb" "$1" -name $pk3.pk3 2>/dev/null | head -n 1 |
            xargs -r -I{} unzip -q {} -d "$part/assets/$pk3"
        [ -n "$(ls "$part/assets/$pk3")" ] || {
            echo "no $pk3.pk3 in $1" >&2
            return 1
        }
    done
    rm -rf "$2"
    mv "$part/assets" "$2"
    rm -rf "$part"
}

# Sets `assets` to the folder of unpacked assets.
find_assets() {
    local folder=$1
    assets=$cache/openarena
    if [ -n "$folder" ]; then
        [ -d "$folder" ] || {
            echo "no folder $folder" >&2
            return 1
        }
        folder=$(cd "$folder" && pwd)
        if ! compgen -G "$folder/*.deb" >/dev/null && ! compgen -G "$folder/*.pk3" >/dev/null; then
            assets=$folder # plain files
            return 0
        fi
        [ -d "$assets" ] || unpack_assets "$folder" "$assets"
    elif [ ! -d "$assets" ]; then
        note "fetching OpenArena's assets (180 MB, once)"
        download openarena-data openarena-081-maps openarena-081-textures
        unpack_assets "$cache/downloads" "$assets"
        rm -f "$cache"/downloads/openarena-*.deb
    fi
}

# Prints what zstd -19 makes of the files in folder $1 with one thread: bytes, and the decoder's
# MB/s. Files are cut into independent blocks of 256 KiB, as tiles are.
zstd_figures() {
    find "$1" -type f -print0 | xargs -0 -n 100000 zstd -q -b19 -i1 -B256KiB |
        awk '/MB\/s/ { bytes += $2; rate = $6 } END { print bytes, rate }'
}

demo_packages="$build_packages mesa-vulkan-drivers unzip zstd"

# Says what the demo of folder $1 will install, build and download, and how long that takes.
announce_demo() {
    local cuda missing install download build="the library and the tool"
    find_missing $demo_packages
    install=${missing[*]:-nothing: all packages are there}
    command -v dpkg-query >/dev/null || install="nothing, since this is no Debian system"
    choose_cuda
    [ $cuda = AUTO ] || build+=", without CUDA: there is no NVIDIA driver"
    if [ -n "$1" ]; then
        download="nothing: the assets come from $1"
    elif [ -d "$cache/openarena" ]; then
        download="nothing: OpenArena's assets are in $cache"
    else
        download="OpenArena's assets, 180 MB, once; unpacked they are 383 MB in $cache"
    fi
    note "what the demo does"
    printf '%-10s %s\n' installs "$install" builds "$build" downloads "$download" \
        takes "some 5 minutes of processor time to compile at first (more with CUDA), then two to pack; here on $jobs cores"
}

run_demo() {
    [ -z "$1" ] || [ -d "$1" ] || {
        echo "no folder $1" >&2
        return 1
    }
    announce_demo "$1"
    need $demo_packages
    build_tool
    local assets device which=all sources key archive peer
    find_assets "$1"

    if hardware vulkan || hardware cuda; then
        device=auto
    else
        # A software device is slow, so a quarter of the files is copied into another folder and
        # used.
        note "no GPU found: software Vulkan (lavapipe), every 4th file in path order"
        device=vulkan:llvmpipe which=quarter
    fi

    # An archive is used again while the assets and the code that makes it stay the same.
    sources=$(find src/encode src/formats tools/common tools/sluice -type f | LC_ALL=C sort | xargs cat | sha256sum | cut -c1-16)
    key=$( (cd "$assets" && find . -type f -printf '%P %s\n' | LC_ALL=C sort) | sha256sum | cut -c1-16)
    archive=$cache/demo-$which-$key-$sources.sluice peer=$cache/demo-$which-$key.zstd
    if [ $which = quarter ]; then
        local quarter=$cache/quarter-$key/assets
        if [ ! -d "$quarter" ]; then
            rm -rf "$quarter.part"
            mkdir -p "$quarter.part"
            (cd "$assets" && find . -type f | LC_ALL=C sort | awk 'NR % 4 == 1' | tr '\n' '\0' |
                xargs -0 cp --parents -p -t "$quarter.part")
            mv "$quarter.part" "$quarter"
        fi
        assets=$quarter
    fi
    if [ ! -f "$archive" ]; then
        rm -f "$cache"/demo-$which-*.sluice
        note "packing"
        $bin/sluice pack -f -v -j "$jobs" -o "$archive" "$assets"
    fi
    if [ ! -s "$peer" ]; then
        note "zstd -19, for comparison (one thread)"
        zstd_figures "$assets" >"$peer.part"
        mv "$peer.part" "$peer"
    fi
    note "decoding and comparing"
    $bin/sluice verify "$archive" --compare "$(dirname "$assets")" --device "$device" | tee "$archive.log"
    note "size and speed"
    awk -v stored="$(stat -c %s "$archive")" -v plain="$(find "$assets" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum }')" '
        function line(what, bytes, rate, where) {
            printf "%-34s %9.2f MB  %5.1f %%  %s\n", what, bytes / 1e6, 100 * bytes / plain,
                rate == 0 ? "" : sprintf("%8.3f GB/s, %s", rate, where)
        }
        FNR == NR { peer = $1; peerRate = $2 / 1e3; next }
        $1 == "device" { device = substr($0, 12) }
        $1 == "GB/s" { rate = $2 }
        END {
            line("files", plain, 0, "")
            line("zstd -19, blocks of 256 KiB", peer, peerRate, "one core of the CPU")
            line("sluice pack, default codec", stored, rate, device)
        }' "$peer" "$archive.log"
    rm -f "$archive.log"
    [ $which = all ] || echo "(This GPU is software: docs/performance.md has the speed of real ones.)"
    note "next, with files of your own in FOLDER"
    echo "$bin/sluice pack -v -o own.sluice FOLDER"
}
