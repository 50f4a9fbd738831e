#!/usr/bin/env python3
"""The part of the SMs' time that saving and restoring contexts takes, at most, in stored rows of ISCA'14's figures.

    preemption_time.py [ROWS.json]      # results/preemption-isca14-paper.json where none is given

Every preempted block counts with the largest context of its application's kernels, once to save and once to restore it, at an
SM's share of the memory bandwidth (208 GB/s over 13 SMs).
"""

import json
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMS, BYTES_PER_US, CYCLES_PER_US = 13, 208e3 / 13, 706


def largest_context(app):
    text = (ROOT / "configs/apps" / f"{app}.yaml").read_text()
    kernels = re.findall(r"registers: (\d+), shared_memory: (\d+) B", text)
    return max(4 * int(registers) + int(shared) for registers, shared in kernels)


def part(result):
    moved = sum(2 * k["preemptions"] * largest_context(k["name"]) for k in result["kernels"])
    return moved / BYTES_PER_US / (SMS * result["cycles"] / CYCLES_PER_US)


def main():
    rows = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "results/preemption-isca14-paper.json"
    groups = {}
    for cell in json.loads(rows.read_text())["cells"]:
        policy = cell["spec"]["policy"]
        if policy["parameters"].get("preemption") == "switch":
            name = ":".join([policy["name"], *policy["parameters"].values()])
            groups.setdefault((name, len(cell["spec"]["kernels"])), []).append(part(cell["result"]))
    print("policy,processes,workloads,mean,median,largest")
    for (name, processes), parts in sorted(groups.items()):
        values = [statistics.mean(parts), statistics.median(parts), max(parts)]
        print(f"{name},{processes},{len(parts)}," + ",".join(f"{v:.4f}" for v in values))


if __name__ == "__main__":
    main()
