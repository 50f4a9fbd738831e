# A Slurm cluster on this machine, for tests: slurmctld, munged and one slurmd per node, all in a folder of their own.
# To be sourced; needs root (munged and slurmd check it) and Debian's slurm-wlm and munge.
#
#   start_cluster FOLDER NODES    begins; the commands of Slurm use it from then on
#   kill_node N                   ends slurmd and all tasks of node N, as a power failure would
#   start_node N                  starts it again
#   stop_cluster                  ends everything

start_cluster() {
  cluster=$1
  local nodes=$2 host port=$((20000 + $$ % 20000))
  host=$(hostname -s)
  mkdir -p "$cluster"/{state,munge}
  chmod 755 "$cluster"
  head -c 1024 /dev/urandom >"$cluster/munge/key"
  chmod 700 "$cluster/munge" && chmod 400 "$cluster/munge/key"
  cat >"$cluster/slurm.conf" <<CONF
ClusterName=wm
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$cluster/munge/socket
CredType=cred/munge
CryptoType=crypto/munge
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool-%n
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/slurmd-%n.pid
SlurmctldLogFile=$cluster/slurmctld.log
SlurmdLogFile=$cluster/slurmd-%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdTimeout=5
SlurmctldTimeout=5
MinJobAge=10
KillWait=1
ReturnToService=2
SlurmctldParameters=idle_on_node_suspend
NodeName=n[1-$nodes] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + nodes))] CPUs=1 State=UNKNOWN
PartitionName=batch Nodes=n[1-$nodes] Default=YES MaxTime=INFINITE State=UP
CONF
  export SLURM_CONF=$cluster/slurm.conf
  munged --force --key-file="$cluster/munge/key" --socket="$cluster/munge/socket" --pid-file="$cluster/munge/pid" \
    --log-file="$cluster/munge/log" --seed-file="$cluster/munge/seed" || return 1
  slurmctld -c -f "$SLURM_CONF" || return 1
  local n
  for n in $(seq "$nodes"); do start_node "$n" || return 1; done
  for n in $(seq 60); do
    [[ $(sinfo --noheader --Node --format="%N %t" 2>/dev/null | grep -c idle) == "$nodes" ]] && return 0
    sleep 0.5
  done
  echo "the nodes do not become idle:" >&2
  sinfo >&2
  return 1
}

start_node() { slurmd -N "n$1" -f "$SLURM_CONF"; }

# Prints the processes of the tasks on node N: each has its node in the environment.
tasks_of_node() {
  grep -lzx "SLURMD_NODENAME=n$1" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3 || true
}

# Ends the tasks, the processes that watch over them (their parents), and slurmd. All are stopped first: a task that went
# on could end, and report it, before it is killed.
kill_node() {
  local pid all=()
  for pid in $(tasks_of_node "$1"); do
    all+=("$pid" $(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$pid/status" 2>/dev/null))
  done
  ((${#all[@]} == 0)) || kill -STOP "${all[@]}" 2>/dev/null || true
  kill -KILL "$(cat "$cluster/slurmd-n$1.pid")"
  ((${#all[@]} == 0)) || kill -KILL "${all[@]}" 2>/dev/null || true
}

stop_cluster() {
  local file
  for file in "$cluster"/slurmd-*.pid "$cluster/slurmctld.pid" "$cluster/munge/pid"; do
    [[ -e $file ]] && kill "$(cat "$file")" 2>/dev/null
  done
  sleep 0.5
}
