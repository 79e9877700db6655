# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Long fuzzing. Findings and run times stay in a folder of the cache, so that runs add up. fuzz_run
# says what the folder contains.
soak=$cache/fuzz

# Builds the targets into the folder, and adds kept inputs and the repository's seeds to the
# corpora.
soak_prepare() {
    configure fuzz
    cmake --build build/fuzz -j "$jobs" --target fuzzers
    rm -rf "${soak:?}/bin" "$soak/lib"
    mkdir -p "$soak/bin" "$soak/lib" "$soak/corpus"
    cp build/fuzz/bin/fuzz/* "$soak/bin"
    tar -C "$soak/corpus" --skip-old-files -xJf tests/data/fuzz_seeds.tar.xz
    mkdir -p "$soak/corpus/fuzz_gdeflate"
    cp -n tests/data/corpus/* "$soak/corpus/fuzz_gdeflate" 2>/dev/null || true
}

# Runs each target for up to this many CPU seconds.
soak_each() { # SECONDS
    local targets=("$soak"/bin/*)
    SLUICE_FUZZ_TURN=$1 tools/dev.d/fuzz_run "$soak" $(((${#targets[@]} * $1 + jobs - 1) / jobs)) "$jobs"
}

# Decodes damaged tiles on every device and tier of this machine, and compares with the reference.
# Each run has a new seed.
soak_mutations() {
    mutations=${SLUICE_SOAK_MUTATIONS:-2000} limit=7200 test_arguments='-tc=*mutated*'
    SLUICE_SEED=$(date +%s)
    export SLUICE_SEED
    note "damaged tiles: $mutations a tier, seed $SLUICE_SEED"
    later tests host build/release host,cpu
    all_devices build/release
    run_queue
}

# Prints what all runs together did, a row for each target.
soak_report() {
    printf '| target | processor hours | executions | edges, most | turns that did not end well |\n|---|--:|--:|--:|--:|\n'
    awk -F'\t' '{ s[$2] += $3; n[$2] += $4; if ($5 > e[$2]) e[$2] = $5; if ($6 != 0) ++b[$2]; S += $3; N += $4; B += $6 != 0 }
        END { for (t in s) printf "| %s | %.2f | %.0f | %d | %d |\n", t, s[t] / 3600, n[t], e[t], b[t] | "sort"
              close("sort"); printf "| all | %.2f | %.0f | | %d |\n", S / 3600, N, B }' "$soak/runs.tsv"
}

# Packs what another machine with a similar Linux needs to fuzz: targets without symbols, their
# libraries, corpora.
soak_carry() { # FILE
    local folder code=0
    soak_prepare
    folder=$(mktemp -d)
    cp -r "$soak/bin" "$soak/corpus" tools/dev.d/fuzz_run "$folder" && mkdir "$folder/lib"
    strip "$folder"/bin/*
    ldd "$folder"/bin/* | awk '$2 == "=>" && $3 ~ /^\// && $1 !~ /^lib(c|m|pthread|dl|rt)\.so/ { print $3 }' | sort -u |
        xargs -I LIBRARY cp -L LIBRARY "$folder/lib"
    tar -C "$folder" -c . | xz -9 -T "$jobs" >"$1" || code=$?
    rm -rf "$folder"
    [ "$code" = 0 ] && note "$1: unpack it there, then ./fuzz_run . SECONDS JOBS; bring runs.tsv, corpus and findings back"
}

# Adds what another machine brought back; FOLDER has its runs.tsv, corpus and findings.
soak_add() { # FOLDER
    [ -s "$1/runs.tsv" ] || {
        echo "$1/runs.tsv: nothing was run there" >&2
        return 1
    }
    mkdir -p "$soak/corpus" "$soak/findings"
    local known
    known=$(sha256sum <"$1/runs.tsv")
    if grep -qxF "$known" "$soak/added" 2>/dev/null; then
        echo "$1/runs.tsv: these runs are counted already" >&2
        return 1
    fi
    echo "$known" >>"$soak/added"
    cat "$1/runs.tsv" >>"$soak/runs.tsv"
    cp -rn "$1/corpus/." "$soak/corpus"
    [ ! -d "$1/findings" ] || cp -rn "$1/findings/." "$soak/findings"
    soak_report
}

# Fuzzes for HOURS on all processors, then decodes damaged tiles on every tier.
soak_hours() {
    [[ $1 =~ ^[0-9]+(\.[0-9]+)?$ ]] || {
        usage >&2
        return 1
    }
    local code=0
    start $check_packages xz-utils
    soak_prepare
    note "fuzzing $1 hours, $jobs at once"
    tools/dev.d/fuzz_run "$soak" "$(awk "BEGIN { print int($1 * 3600) }")" "$jobs" || code=$?
    soak_report
    [ "$code" = 0 ] || echo "step soak fail" >>"$summary"
    soak_mutations
    closing_table
}

run_soak() {
    case ${1:-} in
    --report) soak_report ;;
    --carry | --add)
        [ -n "${2:-}" ] || {
            usage >&2
            return 1
        }
        if [ "$1" = --add ]; then
            soak_add "$2"
        else
            need $build_packages $check_packages binutils xz-utils
            use_ccache
            soak_carry "$2"
        fi
        ;;
    *) soak_hours "${1:-}" ;;
    esac
}
