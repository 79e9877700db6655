# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Packs in shards on a Slurm cluster of one node on 127.0.0.1, set up in a folder. slurmd needs
# root.

# Writes the configuration of the cluster into folder $1.
slurm_configuration() {
    local folder=$1 cores
    cores=$(nproc)
    mkdir -p "$folder"/{state,spool,munge}
    dd if=/dev/urandom of="$folder/munge/key" bs=128 count=1 status=none
    chmod 700 "$folder/munge"
    chmod 600 "$folder/munge/key"
    cat >"$folder/slurm.conf" <<END
ClusterName=sluice
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
MpiDefault=none
NodeName=localhost NodeAddr=127.0.0.1 CPUs=$cores State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
}

# Ends the daemons of the cluster in folder $1, by the process numbers that they wrote down.
slurm_stop() {
    local file
    for file in "$1"/slurmctld.pid "$1"/slurmd.pid "$1"/munge/pid; do
        [ ! -s "$file" ] || kill "$(cat "$file")" 2>/dev/null || true
    done
}

run_slurm() { # [FOLDER]: of assets; default: the demo's
    need $build_packages slurm-wlm munge unzip
    [ -x "$bin/sluice" ] || build_release
    local assets folder packed joined
    find_assets "$1"
    folder=$(mktemp -d "$root/build/slurm.XXXXXX")
    note "starting a cluster of one node in $folder"
    slurm_configuration "$folder"
    export SLURM_CONF=$folder/slurm.conf
    # shellcheck disable=SC2064 # the folder as it is now
    trap "slurm_stop '$folder'" EXIT
    munged --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munge/pid" \
        --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" --num-threads=2
    slurmctld -c
    slurmd -N localhost
    for _ in $(seq 60); do
        sinfo -h -o %T 2>/dev/null | grep -q idle && break
        sleep 1
    done
    sinfo -l

    note "packing with an array of 8 tasks"
    mkdir "$folder/shards"
    cat >"$folder/pack.sbatch" <<END
#!/bin/bash
#SBATCH --array=1-8
#SBATCH --output=$folder/shards/log.%a
"$root/$bin/sluice" pack -f -v -j 1 -l 3 --cache "$folder/cache" --shard "\$SLURM_ARRAY_TASK_ID/8" \\
    -o "$folder/shards/\$SLURM_ARRAY_TASK_ID.shard" "$assets"
END
    packed=$(sbatch --parsable "$folder/pack.sbatch")
    joined=$(sbatch --parsable --dependency="afterok:$packed" --output="$folder/shards/log.join" \
        --wrap "'$root/$bin/sluice' join -f -v -o '$folder/joined.sluice' '$folder'/shards/*.shard")
    # A shard whose task is killed must be packed when the same task is run again.
    until [ -n "$(squeue -h -t running -j "$packed" 2>/dev/null)" ] || [ -f "$folder/shards/1.shard" ]; do sleep 0.1; done
    scancel "${packed}_1" 2>/dev/null || true
    while [ -n "$(squeue -h -j "$packed" 2>/dev/null)" ]; do sleep 1; done
    if [ ! -f "$folder/shards/1.shard" ]; then
        note "task 1 was killed: it is repeated, and then joined"
        scancel "$joined" 2>/dev/null || true
        packed=$(sbatch --parsable --array=1 "$folder/pack.sbatch")
        joined=$(sbatch --parsable --dependency="afterok:$packed" --output="$folder/shards/log.join" \
            --wrap "'$root/$bin/sluice' join -f -v -o '$folder/joined.sluice' '$folder'/shards/*.shard")
    fi
    while [ -n "$(squeue -h -j "$joined" 2>/dev/null)" ]; do sleep 1; done
    tail -n 2 "$folder"/shards/log.*

    note "packing with one process, and comparing"
    "$bin/sluice" pack -f -q -l 3 -o "$folder/whole.sluice" "$assets"
    sha256sum "$folder/joined.sluice" "$folder/whole.sluice"
    cmp "$folder/joined.sluice" "$folder/whole.sluice"
    note "the archives are the same"
    slurm_stop "$folder"
    trap - EXIT
    rm -rf "$folder"
}
