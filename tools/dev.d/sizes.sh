# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Prints how large every codec makes the demo's assets, for each kind of file, and how long packing
# takes, beside zstd.

# Runs a command and sets `seconds` to the CPU time that it took.
timed() {
    local TIMEFORMAT='%U %S'
    seconds=$({ time "$@" >/dev/null; } 2>&1) || {
        echo "$seconds" >&2
        return 1
    }
    seconds=$(awk '{ print $1 + $2 }' <<<"$seconds")
}

# Adds a line to the result: KIND CODEC BYTES TILE_BYTES SECONDS. TILE_BYTES has no records, names
# and padding.
result() { printf '%s\t%s\t%s\t%s\t%.2f\n' "$@" | tee -a "$sizes"; }

pack_row() { # KIND CODEC PACK_OPTION...
    local kind=$1 codec=$2 archive=${SLUICE_SIZES_KEEP:-$work}/$1-$2.sluice
    shift 2
    timed "$tool" pack -q -f -j 1 "$@" -o "$archive" "$work/$kind"
    result "$kind" "$codec" "$(stat -c %s "$archive")" "$(tile_bytes "$archive")" "$seconds"
}

tile_bytes() { "$tool" info "$1" | awk 'NR > 2 { sum += $2 } END { printf "%.0f", sum }'; }

# Runs zstd on independent blocks of 256 KiB, like tiles. The command decodes too, so the time for
# encoding follows from the rates that it prints.
zstd_row() { # KIND LEVEL
    local bytes
    find "$work/$1" -type f -print0 | xargs -0 -n 100000 bash -c '
        TIMEFORMAT="time %U %S"; time zstd -q "-b$0" -i0 -B256KiB "$@"' "$2" >"$work/zstd.log" 2>&1
    read -r bytes seconds < <(awk '
        /MB\/s/ { bytes = $2; encode = 1 / $4; decode = 1 / $6 }
        $1 == "time" { print bytes, ($2 + $3) * encode / (encode + decode) }' "$work/zstd.log")
    result "$1" "zstd-$2" "$bytes" "$bytes" "$seconds"
}

# Packs whole .zst files, as people have them, by `sluice transcode`.
transcode_rows() { # KIND
    local file number=0 bytes
    rm -rf "$work/zst"
    mkdir "$work/zst"
    # Files get numbers as names, since files of several folders may have the same name.
    while IFS= read -r -d '' file; do
        zstd -q -19 --zstd=wlog=18 "$file" -o "$work/zst/$((number += 1)).zst"
    done < <(find "$work/$1" -type f -size +0 -print0)
    bytes=$(find "$work/zst" -type f -printf '%s\n' | awk '{ sum += $1 } END { printf "%.0f", sum }')
    result "$1" "zst-19-wlog18" "$bytes" "$bytes" 0
    find "$work/zst" -type f -print0 >"$work/zst.list"
    timed xargs -0 -a "$work/zst.list" -n 100000 "$tool" transcode -q -f -j 1 -l 12 -o "$work/zst.sluice"
    result "$1" "transcode" "$(stat -c %s "$work/zst.sluice")" "$(tile_bytes "$work/zst.sluice")" "$seconds"
}

# SLUICE_SIZES_EVERY=N: uses every Nth file of a kind, in path order. SLUICE_SIZES_KINDS="tga bsp":
# only these kinds. SLUICE_SIZES_KEEP=FOLDER: keeps the archives there, for the benchmark.
# SLUICE_TOOL: uses another sluice than the built one.
run_sizes() {
    need $build_packages zstd
    [ -n "${SLUICE_TOOL:-}" ] || build_release
    local kind files depth level every=${SLUICE_SIZES_EVERY:-1}
    find_assets "$1"
    tool=${SLUICE_TOOL:-$bin/sluice} work=$cache/sizes.$$ sizes=build/sizes.tsv
    trap 'rm -rf "$work"' EXIT
    mkdir -p "$work" ${SLUICE_SIZES_KEEP:+"$SLUICE_SIZES_KEEP"}
    : >"$sizes"
    for kind in ${SLUICE_SIZES_KINDS:-tga bsp wav md3}; do
        mkdir "$work/$kind"
        (cd "$assets" && find . -type f -iname "*.$kind" | LC_ALL=C sort | awk -v n="$every" 'NR % n == 1 % n' |
            tr '\n' '\0' | xargs -0 cp --parents -t "$work/$kind")
        files=$(find "$work/$kind" -type f -printf '%s\n' | awk '{ sum += $1 } END { printf "%d %.0f", NR, sum }')
        result "$kind" "raw, ${files% *} files" "${files#* }" "${files#* }" 0
        zstd_row "$kind" 3
        zstd_row "$kind" 19
        for level in 1 6 12; do
            pack_row "$kind" "zstd-tiles-$level" -c zstd -l $level --filters none
            pack_row "$kind" "zstd-tiles-$level-filters" -c zstd -l $level
        done
        for level in 1 12; do pack_row "$kind" "gdeflate-$level" -c gdeflate -l $level; done
        for level in 1 6 12; do pack_row "$kind" "gstd-$level" -c gstd -l $level --filters none; done
        for level in 1 12; do pack_row "$kind" "gstd-$level-filters" -c gstd -l $level; done
        for depth in 1 2 8; do
            pack_row "$kind" "gstd-12-depth-$depth" -c gstd -l 12 --filters none --copy-depth $depth
        done
        transcode_rows "$kind"
        rm -rf "${work:?}/$kind"
    done
    note "MB, ratio to zstd -19"
    size_table "$sizes"
}

# Prints for each kind, and for all together, the MB and the ratio to zstd -19.
size_table() {
    awk -F '\t' '
        { sub(/^raw.*/, "raw", $2); size[$1, $2] = $3; size["all", $2] += $3 }
        !($1 in kinds) { kinds[$1] = 1; kind[++kindCount] = $1 }
        !($2 in codecs) { codecs[$2] = 1; codec[++codecCount] = $2 }
        END {
            kind[++kindCount] = "all"
            printf "| |"
            for (k = 1; k <= kindCount; ++k) printf " %s%s |", k < kindCount ? "." : "", kind[k]
            printf "\n|---|"
            for (k = 1; k <= kindCount; ++k) printf "---|"
            for (c = 1; c <= codecCount; ++c) {
                printf "\n| %s |", codec[c]
                for (k = 1; k <= kindCount; ++k) {
                    bytes = size[kind[k], codec[c]]
                    printf " %.2f, %.3f |", bytes / 1e6, bytes / size[kind[k], "zstd-19"]
                }
            }
            print ""
        }' "$1"
}
