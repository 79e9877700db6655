# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Runs other vendors' shader compilers, which need no GPU, and the checkers and translators of newer
# Debian releases. Needs root. debootstrap installs each release in a folder. The programs that were
# built here run in that folder without being built again.
compilers=$cache/compilers
compilers_work=$root/build/compilers
compilers_mirror=http://deb.debian.org/debian
compilers_mesa=trixie # Mesa 25.0 and layers 1.4.309
compilers_new=forky   # the newest spirv-val and spirv-cross that are packaged

in_release() { # RELEASE COMMAND...
    "$root/tools/dev.d/in_folder" "$compilers/$1" "$root" "${@:2}"
}

# make_release RELEASE PACKAGE...: makes the folder of a release with these packages, once.
# Signatures must be good (--force-check-gpg), since debootstrap by default only warns if it finds
# no keys. Package lists may have expired: those of an unfinished release may be some weeks old.
make_release() {
    local release=$1 script=/usr/share/debootstrap/scripts/$1
    shift
    [ ! -f "$compilers/$release/.made" ] || return 0
    note "a folder of Debian's $release"
    [ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
    rm -rf "$compilers/${release:?}"
    debootstrap --force-check-gpg --keyring=/usr/share/keyrings/debian-archive-keyring.gpg --variant=minbase \
        "$release" "$compilers/$release" "$compilers_mirror" "$script" &&
        echo "deb-src $compilers_mirror $release main" | tee "$compilers/$release/etc/apt/sources.list.d/source.list" &&
        in_release "$release" sh -c 'apt-get -o Acquire::Check-Valid-Until=false update -q &&
            DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" && apt-get clean' sh "$@" &&
        touch "$compilers/$release/.made"
}

# Builds two parts of Mesa from Debian's source: its stand-ins for kernel drivers, which make a
# Vulkan driver believe that it runs on a certain GPU, and the driver Turnip, which Debian builds
# only for Arm. NVK asks four things that nouveau's stand-in cannot answer, so the answers are
# added.
make_shims() {
    [ ! -f "$compilers/$compilers_mesa/opt/shims/.made" ] || return 0
    note "building Mesa's stand-ins for kernel drivers, and Turnip"
    in_release "$compilers_mesa" sh -c '
        set -e
        DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends meson ninja-build gcc g++ pkg-config \
            python3-mako python3-yaml bison flex libdrm-dev libexpat1-dev zlib1g-dev libzstd-dev dpkg-dev glslang-tools \
            libxml2-dev libelf-dev libarchive-dev
        rm -rf /src && mkdir /src && cd /src
        apt-get source -q mesa
        cd mesa-*/
        sed -i "s/^   case NOUVEAU_GETPARAM_PTIMER_TIME:/   case NOUVEAU_GETPARAM_EXEC_PUSH_MAX:\n      gp->value = 512;\n      return 0;\n   case NOUVEAU_GETPARAM_VRAM_BAR_SIZE:\n      gp->value = 256 << 20;\n      return 0;\n   case NOUVEAU_GETPARAM_VRAM_USED:\n   case NOUVEAU_GETPARAM_HAS_VMA_TILEMODE:\n&/" \
            src/nouveau/drm-shim/nouveau_noop.c
        meson setup /src/build -Dbuildtype=release -Dtools=drm-shim,intel -Dvulkan-drivers=freedreno -Dfreedreno-kmds=msm \
            -Dgallium-drivers=nouveau -Dplatforms= -Dglx=disabled -Degl=disabled -Dgbm=disabled -Dopengl=false \
            -Dgles1=disabled -Dgles2=disabled -Dllvm=disabled -Dintel-elk=false -Dshared-glapi=disabled \
            -Dxmlconfig=disabled -Dgallium-vdpau=disabled -Dgallium-va=disabled
        cd /src/build
        files="src/intel/tools/libintel_noop_drm_shim.so src/nouveau/drm-shim/libnouveau_noop_drm_shim.so
            src/freedreno/drm-shim/libfreedreno_noop_drm_shim.so src/freedreno/vulkan/libvulkan_freedreno.so"
        ninja -j "$1" $files
        mkdir -p /opt/shims
        cp $files /opt/shims/
        echo "{\"file_format_version\": \"1.0.0\", \"ICD\": {\"library_path\": \"/opt/shims/libvulkan_freedreno.so\",
            \"api_version\": \"1.3.0\"}}" >/opt/shims/freedreno_icd.json
        rm -rf /src
        touch /opt/shims/.made' sh "$jobs"
}

# Copies the libraries that our programs link, since newer releases have other versions of them.
# Only the C and C++ runtimes and the Vulkan loader are the release's own.
compilers_libraries() {
    mkdir -p "$compilers_work/lib"
    ldd "$bin/sluice" "$bin/sluice_tests" | awk '$3 ~ /^\// { print $3 }' | sort -u |
        grep -vE '/lib(c|m|dl|pthread|rt|stdc\+\+|gcc_s|vulkan)\.so' | xargs cp -L -t "$compilers_work/lib"
}

# compile TARGET DRIVER ARGUMENTS [VARIABLE=VALUE...]: makes all pipelines for one target. ARGUMENTS
# are for `sluice devices --pipelines`, whose output goes to results/TARGET.json. The CPU seconds go
# to results/TARGET.seconds.
compile() {
    local target=$1 manifest=/usr/share/vulkan/icd.d/$2_icd.json arguments=$3 result=$compilers_work/results/$1 code=0 taken
    shift 3
    [ "$manifest" != /usr/share/vulkan/icd.d/freedreno_icd.json ] || manifest=/opt/shims/freedreno_icd.json
    # shellcheck disable=SC2086 # arguments are words
    taken=$(
        exec 2>&1
        TIMEFORMAT='%U %S'
        time in_release "$compilers_mesa" env LD_LIBRARY_PATH="$compilers_work/lib" VK_DRIVER_FILES="$manifest" \
            MESA_SHADER_CACHE_DISABLE=true "$@" "$root/$bin/sluice" devices --pipelines --json $arguments \
            >"$result.json" 2>"$result.log"
    ) || code=$?
    awk '{ printf "%.1f\n", $1 + $2 }' <<<"$taken" >"$result.seconds"
    [ "$code" = 0 ] || {
        echo "$target: exit code $code"
        tail -n 3 "$result.log"
    }
    echo "$code" >"$result.code"
}

compile_all() {
    local entry family size shims=/opt/shims
    rm -rf "$compilers_work/results"
    mkdir -p "$compilers_work/results"
    for entry in "polaris10 64" "vega10 64" "navi21 32" "navi21 64" "navi31 32" "navi31 64" "gfx1200 32" "gfx1200 64"; do
        read -r family size <<<"$entry"
        compile "amd-$family-$size" radeon "--subgroup-size $size" RADV_FORCE_FAMILY="$family"
    done
    compile amd-vega10-base radeon "--tier base" RADV_FORCE_FAMILY=vega10
    compile amd-navi21-emu32 radeon "--tier emu32" RADV_FORCE_FAMILY=navi21
    for family in tgl dg2 lnl bmg; do
        for size in "" 8 16 32; do
            case $family-$size in lnl-8 | bmg-8) continue ;; esac # these GPUs have no 8 lanes
            compile "intel-$family${size:+-$size}" intel "${size:+--subgroup-size $size}" \
                LD_PRELOAD=$shims/libintel_noop_drm_shim.so INTEL_STUB_GPU_PLATFORM="$family"
        done
    done
    for family in 630 740; do
        compile "qualcomm-a$family" freedreno "" LD_PRELOAD=$shims/libfreedreno_noop_drm_shim.so FD_GPU_ID="$family"
    done
    compile nvidia-nvk-ga102 nouveau "" LD_PRELOAD=$shims/libnouveau_noop_drm_shim.so NOUVEAU_CHIPSET=172
}

# Validates every SPIR-V module, and translates it to three versions of Metal's language.
compilers_modules() {
    in_release "$compilers_new" sh -c '
        cd "$1" && spirv-val --version | head -n 1 && bad=0
        for module in *.spv; do
            spirv-val --target-env vulkan1.2 "$module" || { echo "$module is not valid"; bad=1; }
            for version in 20300 20400 30000; do
                spirv-cross --msl --msl-version $version "$module" --output /tmp/module.metal ||
                    { echo "$module: not translated to Metal $version"; bad=1; }
            done
        done
        exit $bad' sh "$root/build/release/shaders"
}

run_compilers() {
    local tier
    [ "$(id -u)" = 0 ] || {
        echo "as root: it works in folders of other releases (chroot)" >&2
        exit 1
    }
    start debootstrap debian-archive-keyring gpgv python3
    make_release "$compilers_mesa" mesa-vulkan-drivers vulkan-validationlayers libvulkan1 libstdc++6 &&
        make_release "$compilers_new" spirv-tools spirv-cross && make_shims || exit 1
    compilers_libraries
    step modules compilers_modules
    compile_all
    step figures python3 tools/dev.d/compilers_page.py "$compilers_work/results" tests/compilers/figures.json docs/compilers.md
    # Run the tests on the newer lavapipe of this release, and one tier again with its newer
    # validation layers.
    validation=0 limit=3600
    emulator="$root/tools/dev.d/in_folder $compilers/$compilers_mesa $root env LD_LIBRARY_PATH=$compilers_work/lib"
    # shellcheck disable=SC2046 # variables are words
    for tier in ext base emu32; do
        later tests lavapipe-25 "$root/build/release" vulkan/$tier LP_NATIVE_VECTOR_WIDTH=256 \
            $(on_driver /usr/share/vulkan/icd.d/lvp_icd.json)
    done
    later compilers_layers
    run_queue
    closing_table
}

compilers_layers() {
    # shellcheck disable=SC2046
    validation=1 tests lavapipe-25-layers "$root/build/release" vulkan/ext LP_NATIVE_VECTOR_WIDTH=256 \
        $(on_driver /usr/share/vulkan/icd.d/lvp_icd.json)
}
