#!/usr/bin/env python3
"""What table 1 of ISCA'14 says by itself about figures 7 and 8, without a simulation.

    from_table1.py

First: the kernels whose context takes longer to save than a block runs, which section 4.4 names as the cause of figure 8's
crossing, with the table's time per block, and with the time per block that its kernel times need on 13 SMs. Then: the gain
of equal sharing over first come, first served in turnaround, where all of 8 random processes always have a kernel and preemption
costs nothing. A launch waits for one launch of each other process under FCFS, and has an eighth of the GPU under equal
sharing. `least_gain` is the least gain with any number of processes active at a time.
"""

import pathlib
import re
import statistics

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMS, BYTES_PER_US, PROCESSES = 13, 208e3 / 13, 8
PLACES = {"threads": 2048, "registers": 65536, "blocks": 16}
SHARED = (16384, 32768, 49152)  # the first configuration that holds a block (table 2)
KERNEL = re.compile(r"^  (\w+): \{blocks: (\d+), threads: (\d+), registers: (\d+), shared_memory: (\d+) B, "
                    r"time: ([\d.]+) us", re.M)
CLASS2 = re.compile(r"class2: (\w+)")


def per_sm(threads, registers, shared):
    fit = [PLACES["blocks"], PLACES["threads"] // threads, PLACES["registers"] // registers]
    if shared:
        fit.append(next(size for size in SHARED if size >= shared) // shared)
    return min(fit)


def launches(trace):
    counts, times, nested = {}, 1, False
    for line in trace.splitlines():
        if not line.startswith(" "):
            repeat = re.match(r"- repeat: (\d+)", line)
            times, nested = (int(repeat[1]), True) if repeat else (1, False)
        for name in re.findall(r"launch: (\w+)", line):
            counts[name] = counts.get(name, 0) + (times if nested else 1)
    return counts


def main():
    means, groups, longer = {}, {}, {"table": [], "kernel time": []}
    for path in sorted((ROOT / "configs/apps").glob("*.yaml")):
        head, _, trace = path.read_text().partition("\ntrace:\n")
        if not trace or not CLASS2.search(head):
            continue
        times = {}
        for name, blocks, threads, registers, shared, time in KERNEL.findall(head):
            resident = per_sm(int(threads), int(registers), int(shared))
            save = resident * (4 * int(registers) + int(shared)) / BYTES_PER_US
            block = float(time) * min(resident, int(blocks)) / int(blocks)
            times[name] = float(time)
            for kind, length in (("table", block), ("kernel time", block * SMS)):
                if save > length:
                    longer[kind].append(f"{path.stem}/{name}")
        counts = launches(trace)
        means[path.stem] = sum(times[k] * n for k, n in counts.items()) / sum(counts.values())
        groups[path.stem] = CLASS2.search(head)[1]
    for kind, kernels in longer.items():
        print(f"save longer than a block, block time from the {kind}: {len(kernels)}: {', '.join(kernels)}")
    mean = statistics.mean(means.values())
    print("\napplication,class2,mean_launch_us,gain,least_gain")
    gains, least_gains = {}, {}
    for app, group in sorted(groups.items(), key=lambda item: item[1]):
        ratio = mean / means[app]
        gain, least_gain = (1 + (PROCESSES - 1) * ratio) / PROCESSES, min(1, ratio)
        gains.setdefault(group, []).append(gain)
        least_gains.setdefault(group, []).append(least_gain)
        print(f"{app},{group},{means[app]:.1f},{gain:.2f},{least_gain:.2f}")
    for group in gains:
        print(f"all of {group},{group},,{statistics.mean(gains[group]):.2f},{statistics.mean(least_gains[group]):.2f}")


if __name__ == "__main__":
    main()
