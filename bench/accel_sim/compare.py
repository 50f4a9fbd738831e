#!/usr/bin/env python3
"""Runs Accel-Sim and `wm bench sim` by turns on one core and prints a CSV.

usage: compare.py --accelsim BINARY --config FOLDER --wm BINARY --traces FOLDER [--core N] [--budget SECONDS] [--rows gpu/kernel,...]
The folder has gpgpusim.config, its .icnt file and trace.config of Accel-Sim's SM7_QV100; the traces are those of traces.py.
Time of both is processor time. Accel-Sim's has that of a run with one block taken off (building the machine, 5,000
cycles of launch latency), and includes reading the trace; ours is the one `wm bench sim` reports, the mean of a run
before and one after.
"""
import argparse, json, os, re, shutil, subprocess, sys, tempfile, time

# Our GPU, and options of Accel-Sim on top of SM7_QV100. qos16 has 224 GB/s; 8 of the 32 channels have 218 GB/s.
# qos16-32ch is the same GPU of ours beside 16 SMs with the memory of the QV100.
MACHINES = {"v100": ("v100", []), "qos16": ("qos16", ["-gpgpu_n_clusters", "16", "-gpgpu_n_mem", "8"]),
            "qos16-32ch": ("qos16", ["-gpgpu_n_clusters", "16"])}
ROWS = ["%s/%s" % (g, k) for g in MACHINES for k in ("vecadd", "sgemm", "fma", "gather")]

p = argparse.ArgumentParser()
p.add_argument("--accelsim", required=True)
p.add_argument("--config", required=True)
p.add_argument("--wm", required=True)
p.add_argument("--traces", required=True)
p.add_argument("--core", default="0")
p.add_argument("--budget", type=float, default=1e9)
p.add_argument("--rows", default=",".join(ROWS))
p.add_argument("--wm-seconds", default="0", help="time of ours per run; the fastest of it counts")
p.add_argument("--wm-once", action="store_true", help="ours only after theirs")
p.add_argument("--prefix", default="", help="command before Accel-Sim, as qemu-x86_64-static")
a = p.parse_args()
os.sched_setaffinity(0, {int(a.core)})
start = time.monotonic()
work = tempfile.mkdtemp(prefix="accelsim-")


def left():
    return a.budget - (time.monotonic() - start)


def accelsim(kernel, options):
    """Warp instructions, cycles and processor seconds, or None where the time limit came first."""
    command = a.prefix.split() + [
        os.path.abspath(a.accelsim), "-trace", os.path.join(os.path.abspath(a.traces), kernel, "kernelslist.g"),
        "-config", os.path.join(os.path.abspath(a.config), "gpgpusim.config"),
        "-config", os.path.join(os.path.abspath(a.config), "trace.config"),
        *options]
    log = os.path.join(work, "log")
    with open(log, "w") as out:
        before = os.times()
        child = subprocess.Popen(command, cwd=work, stdout=out, stderr=subprocess.STDOUT)
        try:
            child.wait(timeout=max(left(), 1))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            return None
        after = os.times()
    text = open(log, errors="replace").read()
    found = re.findall(r"gpgpu_n_tot_w_icount = (\d+)", text)
    cycles = re.findall(r"gpu_tot_sim_cycle = (\d+)", text)
    if child.returncode or not found:
        sys.exit("Accel-Sim failed on %s (status %s):\n%s" % (kernel, child.returncode, text[-1500:]))
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    return int(found[-1]), int(cycles[-1]), seconds


def ours(kernel, gpu):
    out = subprocess.run([a.wm, "bench", "sim", kernel, "--gpu", gpu, "--seconds", a.wm_seconds, "--json", "-"],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout.decode()
    return find_rate(json.loads(out[out.index("{") if "[" not in out[:2] else 0:]))


def find_rate(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            if "instructions_per_second" in key or key == "warp_instr/s":
                return float(inner)
            found = find_rate(inner)
            if found:
                return found
    if isinstance(value, list):
        for inner in value:
            found = find_rate(inner)
            if found:
                return found
    return None


print("row,theirs_k_instr_s,ours_m_instr_s,ratio,theirs_warp_instr,theirs_cycles,theirs_s,theirs_start_s,ours_runs_m", flush=True)
base = {}
for row in a.rows.split(","):
    machine, kernel = row.split("/")
    gpu, options = MACHINES[machine]
    if left() < 3:
        print("%s,,,,,,,,time limit" % row, flush=True)
        continue
    if machine not in base:
        base[machine] = min(accelsim("empty", options)[2] for _ in range(2))
    rates = [] if a.wm_once else [ours(kernel, gpu)]
    small = kernel + "16"
    theirs = accelsim(small if gpu == "qos16" and os.path.isdir(os.path.join(a.traces, small)) else kernel, options)
    rates.append(ours(kernel, gpu))
    mean = sum(rates) / len(rates)
    if not theirs:
        print("%s,,%.3f,,,,,,time limit" % (row, mean / 1e6), flush=True)
        continue
    count, cycles, seconds = theirs
    rate = count / (seconds - base[machine])
    print("%s,%.3f,%.3f,%.0f,%d,%d,%.2f,%.2f,%s" % (row, rate / 1e3, mean / 1e6, mean / rate, count, cycles, seconds, base[machine],
                                                "|".join("%.3f" % (r / 1e6) for r in rates)), flush=True)
shutil.rmtree(work)
