#!/usr/bin/env bash
# wm lab run --slurm against real Slurm daemons on this machine: rows equal the local ones, a killed submitter and a
# killed node lose nothing but the cells that ran on the node, and these run again. Ends with 77 where Slurm is missing.
#
#   lab_test.sh WM
set -euo pipefail
wm=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[[ $(id -u) == 0 ]] || { echo "skipped: munged and slurmd need root"; exit 77; }
for program in slurmctld slurmd munged sbatch squeue; do
  command -v $program >/dev/null || { echo "skipped: $program is missing (Debian: slurm-wlm, munge)"; exit 77; }
done
. "$here/cluster.sh"
work=$(mktemp -d)
fail() { echo "FAILED: $*" >&2; tail -n 20 "$work"/{output,messages} "$work"/cluster/*.log >&2 || true; exit 1; }
finish() { stop_cluster || true; rm -rf "$work"; }
trap finish EXIT

# Starts a run in the background; its process number is in `started`.
start() {
  "$wm" lab run "$here/experiment.yaml" --cache "$work/cache-$1" --store "$work/$1.ndjson" "${@:2}" \
    >"$work/output" 2>"$work/messages" &
  started=$!
}
run() {
  start "$@"
  wait $started
}
# Rows without the times of the host, by key.
rows() {
  python3 - "$work/$1.ndjson" <<'PYTHON'
import json, sys
rows = {}
for line in open(sys.argv[1]):
    row = json.loads(line).get("row")
    if row is None: continue
    result = json.loads(row["result"]) if isinstance(row["result"], str) else row["result"]
    del result["host"], row["host_seconds"]
    row["result"] = result
    rows[row["key"]] = json.dumps(row, sort_keys=True)
for key in sorted(rows): print(rows[key])
PYTHON
}
stored() { cat "$work/$1.ndjson" 2>/dev/null | grep -c '^{"row"' || true; }

if run none --slurm; then fail "runs without a cluster"; fi

start_cluster "$work/cluster" 2 || fail "the cluster does not start"
run none --slurm --partition nowhere && fail "an unknown partition is accepted"
grep -q "invalid partition" "$work/messages" || fail "the message does not name the partition: $(cat "$work/messages")"

echo "-- rows equal the local ones"
run local
run slurm --slurm --partition batch || fail "the run fails"
cat "$work/output"
[[ $(rows local | wc -l) == 12 ]] || fail "12 local rows expected"
[[ $(rows local) == "$(rows slurm)" ]] || fail "rows differ from the local ones"
[[ ! -e $work/slurm.ndjson.cells ]] || fail "intermediate files are left"
run slurm --slurm
grep -q "12 already in" "$work/output" || fail "a complete store runs cells again"

echo "-- a killed submitter and a killed node"
run local --protocol paper
start killed --slurm --protocol paper
for _ in $(seq 600); do (($(stored killed) >= 2)) && break; sleep 0.1; done
kill -KILL $started
wait $started 2>/dev/null || true
before=$(stored killed)
((before >= 2 && before < 12)) || fail "$before rows are stored when the submitter is killed"
for _ in $(seq 300); do [[ -n $(tasks_of_node 1) ]] && break; sleep 0.1; done
kill_node 1
start killed --slurm --protocol paper --resume
for _ in $(seq 200); do sinfo --noheader --Node --format="%N %t" | grep -q "n1 down" && break; sleep 0.1; done
start_node 1
# Slurm starts a task of a failed node two minutes later; the test does not wait for that.
for _ in $(seq 300); do
  task=$(squeue --noheader --array --format="%i %r" | sed -n 's/ BeginTime$//p' | head -n 1)
  [[ -n $task ]] && scontrol update "JobId=$task" StartTime=now && break
  kill -0 $started 2>/dev/null || break
  sleep 0.1
done
wait $started || fail "the resumed run fails"
cat "$work/output"
grep -q "12 cells:.* 0 failed" "$work/output" || fail "cells failed"
[[ $(rows local | grep '"cycles": 300000') == "$(rows killed | grep '"cycles": 300000')" ]] || fail "rows differ after the failure"
again=$(grep -i "requeu" "$work/cluster/slurmctld.log" | grep -o "JobId=[0-9_]*" | sort -u | wc -l || true)
((again == 1)) || fail "$again tasks were queued again, and the killed node ran one"
echo "-- a task that is cancelled is lost, and the next run runs it"
start cancelled --slurm --protocol paper
for _ in $(seq 600); do (($(stored cancelled) >= 1)) && break; sleep 0.1; done
scancel --name wm-lab --state=PENDING
if wait $started; then fail "cancelled tasks count as success"; fi
grep -q "lost: Slurm ended them" "$work/output" || fail "lost tasks are not reported"
run cancelled --slurm --protocol paper --resume
[[ $(rows killed) == "$(rows cancelled)" ]] || fail "rows differ after the cancellation"
echo "passed"
