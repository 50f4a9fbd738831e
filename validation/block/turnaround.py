#!/usr/bin/env python3
"""Simulates the workloads that turnaround.sh measured on the block machine, and compares the mean time of a run.

validation/block/turnaround.py WM MEASURED.csv RECORDED_FOLDER OUT.csv
"""
import csv
import json
import subprocess
import sys

POLICIES = {"isolated": "mps", "time_slice": "time_slice", "mps": "mps"}


def simulate(wm, folder, names, policy):
    """The mean time of a run of each application, in microseconds."""
    command = [wm, "sim", "--machine", "block", "--gpu", "h200", "--policy", policy, "--runs", "10", "--json", "-"]
    for name in names:
        command += ["--app", f"{folder}/{name}.yaml"]
    document = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return [kernel["turnaround_us"] for kernel in document["kernels"]]


def main(wm, measured, folder, out):
    with open(measured, encoding="utf-8") as file:
        lines = file.readlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    errors = {}
    with open(out, "w", encoding="utf-8") as file:
        file.writelines(line for line in lines if line.startswith("#"))
        file.write("sharing,processes,application,measured_us,simulated_us,error\n")
        for sharing, processes in dict.fromkeys((r["sharing"], r["processes"]) for r in rows):
            simulated = simulate(wm, folder, processes.split("+"), POLICIES[sharing])
            same = [r for r in rows if (r["sharing"], r["processes"]) == (sharing, processes)]
            for row, time in zip(same, simulated):
                error = time / float(row["measured_us"]) - 1
                errors.setdefault((sharing, processes.count("+") + 1), []).append(abs(error))
                file.write(f"{sharing},{processes},{row['application']},{row['measured_us']},{time:.1f},{error:+.3f}\n")
    for (sharing, count), values in errors.items():
        print(f"{sharing:10} {count} processes: mean error {sum(values) / len(values):.1%}, largest {max(values):.1%}")


if __name__ == "__main__":
    main(*sys.argv[1:5])
