# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Runs tests. Each run appends lines to $summary, from which the closing table is made:
#   "pair: DEVICE TIER passed N failed N skipped N", "pair: DEVICE TIER not run: REASON", "consumer NAME pass|fail"
summary=$root/build/summary.txt
lavapipe_manifest=
validation=1
mutations=100

find_drivers() {
    local manifest
    for manifest in /usr/share/vulkan/icd.d/lvp_icd*.json; do
        [ -f "$manifest" ] && lavapipe_manifest=$manifest
    done
    swiftshader_manifest=$(swiftshader)
}

# tests LABEL BUILD DEVICES [VARIABLE=VALUE...]: runs sluice_tests. A run that ends without saying
# what failed counts as a failure. In the closing table, $where stands before the names of the
# devices ("aarch64/").
tests() {
    local label=$1 program=$2/bin/sluice_tests devices=$3 own code=0
    shift 3
    note "$label: $devices"
    own=$(mktemp "$summary.XXXXXX") || return 1
    env SLUICE_TEST_DEVICES="$devices" SLUICE_TEST_SUMMARY="$own" SLUICE_TEST_VALIDATION="$validation" \
        SLUICE_MUTATIONS="$mutations" "$@" timeout "${limit:-2700}" ${emulator:-} "$program" ${test_arguments:-} || code=$?
    # A run without any result is a failure as well.
    if [ ! -s "$own" ] || { [ "$code" != 0 ] && ! grep -q '^pair: .* failed [1-9]' "$own"; }; then
        echo "pair: $label ${devices// /,} passed 0 failed 1 (exit code $code)" >>"$own"
    fi
    sed "s|^pair: |pair: ${where:-}|" "$own" >>"$summary" || return 1
    rm -f "$own"
}

# later COMMAND...: queues a run for run_queue, which runs as many at once as there are cores, since
# most runs keep one core busy. Their output is printed when they end.
queue=()
later() { queue+=("$(printf '%q ' "$@")"); }
run_queue() {
    local run number=0 running=0
    for run in "${queue[@]}"; do
        if ((running == jobs)); then
            wait -n || true
            ((running -= 1)) || true
        fi
        ((number += 1))
        (
            TIMEFORMAT="(%0R s, of a processor %0U)"
            time eval "$run" || echo "step tests-$number fail" >>"$summary"
        ) >"$root/build/tests-$number.log" 2>&1 && cat "$root/build/tests-$number.log" &
        ((running += 1))
    done
    wait
    queue=()
}

on_driver() { # MANIFEST: the variables that make the loader see this driver alone
    echo "VK_DRIVER_FILES=$1 VK_ICD_FILENAMES=$1"
}

# Prints the variables that make kernels of lavapipe stop where they store behind a buffer, or before
# it (tests/memory/guard_pages.cpp), if this build has the library for it.
guarded() { # BUILD [VARIABLE=VALUE...]
    local library=$1/bin/libsluice_guard_pages.so
    shift
    [ -f "$library" ] && echo "LD_PRELOAD=$library" "$@" || true
}

not_run() { echo "pair: $1 $2 not run: $3" >>"$summary"; }

# step NAME COMMAND...: runs one command, which passes or fails as a whole.
step() {
    local name=$1 log=$root/build/$1.log
    shift
    note "$name"
    if "$@" >"$log" 2>&1; then
        echo "step $name pass" >>"$summary"
    else
        tail -n 60 "$log"
        echo "step $name fail" >>"$summary"
    fi
}

# Prints the tiers of the driver's first device.
tiers_of() { # MANIFEST
    # shellcheck disable=SC2046 # variables are words
    env $(on_driver "$1") "$bin/sluice" devices --json |
        awk '/"device": /{ first = /"vulkan:0"/ } first && /"tiers": /{ gsub(/.*\[|[],"]/, ""); print }'
}

# Queues the tests on everything in the build folder $1: software Vulkan with every subgroup size,
# the emulated sizes, and the GPUs of this machine.
all_devices() {
    local build=$1 width tier tiers
    # shellcheck disable=SC2046 # variables are words
    if [ -n "$swiftshader_manifest" ]; then
        # SwiftShader compiles for minutes, so the other emulated sizes are tested on lavapipe.
        for tier in base emu8; do
            later tests swiftshader "$build" vulkan/$tier $(on_driver "$swiftshader_manifest")
        done
    else
        not_run swiftshader all "not packaged here"
    fi
    # shellcheck disable=SC2046
    if [ -n "$lavapipe_manifest" ]; then
        # Emulated tiers do not depend on the vector width, so one width is enough.
        tiers=$(tiers_of "$lavapipe_manifest")
        # There is no tier "all", so a device that cannot be listed fails.
        for tier in ${tiers:-all}; do
            later tests lavapipe-8 "$build" vulkan/"$tier" $(on_driver "$lavapipe_manifest") LP_NATIVE_VECTOR_WIDTH=256
        done
        for width in 128 512; do
            later tests lavapipe-$((width / 32)) "$build" vulkan/base \
                $(on_driver "$lavapipe_manifest") LP_NATIVE_VECTOR_WIDTH=$width
        done
        later tests lavapipe-4 "$build" vulkan/ext $(guarded "$build") \
            $(on_driver "$lavapipe_manifest") LP_NATIVE_VECTOR_WIDTH=128
        later tests lavapipe-16 "$build" vulkan/ext $(guarded "$build" SLUICE_GUARD_FRONT=1) \
            $(on_driver "$lavapipe_manifest") LP_NATIVE_VECTOR_WIDTH=512
    else
        not_run lavapipe all "not installed"
    fi
    run_queue
    gpu_devices "$build"
}

gpu_devices() {
    if hardware vulkan; then tests gpu "$1" vulkan; else not_run gpu vulkan "no Vulkan GPU"; fi
    if hardware cuda; then
        tests cuda "$1" cuda
    elif grep -q 'SLUICE_NVCC:FILEPATH=/' build/release/CMakeCache.txt; then
        not_run cuda native "compiled, but there is no device"
    else
        not_run cuda native "no nvcc"
    fi
}

# Prints the closing table and the last line. Fails if anything failed or if nothing ran.
closing_table() {
    note "result"
    awk '
        $1 == "pair:" && /not run: / {
            reason = $0
            sub(/^.*not run: /, "", reason)
            printf "%-32s %-8s not run (%s)\n", $2, $3, reason
            next
        }
        $1 == "pair:" {
            passed += $5; failed += $7
            printf "%-32s %-8s %s (%d of %d tests%s)\n", $2, $3, $7 ? "FAIL" : "pass", $5, $5 + $7,
                $8 == "skipped" && $9 ? ", " $9 " not run" : ""
            next
        }
        {
            if ($3 == "pass") ++passed; else ++failed
            printf "%-32s %-8s %s\n", $1 " " $2, "", $3 == "pass" ? "pass" : "FAIL"
        }
        END {
            printf "%d passed, %d failed\n", passed, failed
            exit failed > 0 || passed == 0
        }' "$summary"
}

hot_reload_test() { # BUILD
    # shellcheck disable=SC2046 # variables are words
    env $(on_driver "$lavapipe_manifest") "$1/bin/hot_reload_test"
}

# Tests hot reload with shaders that are not optimized, as a program that reloads them has.
dev_test() {
    configure dev && cmake --build build/dev -j "$jobs" --target hot_reload_test &&
        SLUICE_MUTATIONS=1000 hot_reload_test build/dev
}

# Runs the viewer on a map that the test makes, with the validation layers. An old lavapipe lacks
# descriptor indexing, which SwiftShader has.
viewer_test() { # BUILD MANIFEST
    # shellcheck disable=SC2046 # variables are words
    env $(on_driver "$2") SLUICE_VIEWER_ARGUMENTS=--validation "$1/bin/viewer_test"
}
viewer_tests() { # NAME BUILD
    local driver manifest
    for driver in lavapipe swiftshader; do
        manifest=${driver}_manifest
        if [ -n "${!manifest}" ]; then
            step "$1-$driver" viewer_test "$2" "${!manifest}"
        else
            not_run "$1-$driver" viewer "not installed"
        fi
    done
}

# Consumers compile the whole library once more; with ccache most of it comes from a cache.
use_ccache() {
    command -v ccache >/dev/null || return 0
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
    export CCACHE_DIR=${CCACHE_DIR:-$root/build/ccache} CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
}

start() { # if the build fails, that counts as one failure
    trap 'echo "0 passed, 1 failed"' EXIT
    need $build_packages $test_packages "$@"
    use_ccache
    build_release
    trap - EXIT
    find_drivers
    : >"$summary"
}

# Tests AMD's compiler, which needs no GPU.
amd_test() {
    if compgen -G '/usr/share/vulkan/icd.d/radeon_icd*.json' >/dev/null; then
        step amd-compiler tests/compilers/amd "$bin/sluice"
    else
        not_run amd compiler "no RADV of Mesa"
    fi
}

# Makes the packages of the release build and tries them.
deb_test() {
    if command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null && command -v cpack >/dev/null; then
        step deb tests/consumers/deb build/release build/deb
    else
        not_run deb packages "no dpkg-deb, dpkg-shlibdeps or cpack"
    fi
}

run_test() {
    start
    check_style
    later step hot-reload hot_reload_test build/release
    later tests host build/release host,cpu
    later viewer_tests viewer build/release
    later amd_test
    all_devices build/release
    note "consumers"
    tests/consumers/run build/consumers "$summary" || true
    deb_test
    closing_table
}

# For the daily loop: tests the host and the best tier of one software device, and says what it
# leaves out.
run_quick_test() {
    start
    check_style
    later tests host build/release host,cpu
    if [ -n "$lavapipe_manifest" ]; then
        # shellcheck disable=SC2046 # variables are words
        later tests lavapipe-8 build/release vulkan/ext $(on_driver "$lavapipe_manifest") LP_NATIVE_VECTOR_WIDTH=256
    fi
    run_queue
    not_run everything else "left out by --quick"
    closing_table
}

run_check() {
    start $check_packages $windows_packages
    check_style
    check_names

    mutations=10000 limit=7200
    tests host build/release host,cpu
    all_devices build/release

    mutations=100 limit=3600
    # shellcheck disable=SC2046
    if [ -n "$lavapipe_manifest" ]; then # the layers' GPU-assisted checks follow device addresses
        # Large tiles are left out: with them, the layer's own search loops exceed lavapipe's limit on
        # loop iterations, and its verdict is wrong.
        validation=2 test_arguments='-tce=*golden*,*worst*' tests gpu-assisted build/release vulkan/base,vulkan/ext,vulkan/emu32 $(on_driver "$lavapipe_manifest")
    fi

    step dev dev_test

    mutations=100 arm_tests
    mutations=100 musl_tests

    configure asan
    cmake --build build/asan -j "$jobs"
    tests asan build/asan host,cpu
    # shellcheck disable=SC2046
    if [ -n "$lavapipe_manifest" ]; then # without leak checks, since the drivers themselves leak
        tests asan build/asan vulkan/base,vulkan/ext,vulkan/emu32 $(on_driver "$lavapipe_manifest") ASAN_OPTIONS=detect_leaks=0
        ASAN_OPTIONS=detect_leaks=0 viewer_tests viewer-asan build/asan
    fi

    configure tsan
    cmake --build build/tsan -j "$jobs"
    tests tsan build/tsan host,cpu

    soak_prepare
    step fuzz soak_each "${SLUICE_FUZZ_SECONDS:-60}"
    # Runs the inputs that the fuzzer found on the GPU tiers, each in a process of its own with a
    # time limit.
    limit=600 test_arguments='-tc=*corpus*'
    SLUICE_CORPUS=$soak/corpus/fuzz_gdeflate
    export SLUICE_CORPUS
    all_devices build/release

    mutations=100 limit=3600 test_arguments=
    unset SLUICE_CORPUS
    windows_parts || echo "step windows-build fail" >>"$summary"
    closing_table
}
