#!/usr/bin/env python3
"""Figures 5 to 8 of ISCA'14 under other readings of the paper's method.

    readings.py [--wm WM] [--count N] [--processes 2,8] [--figures fig7a,fig8] [--jobs N] [--csv FILE] [READING…]

A reading is a name of EDITS, several joined by '+', or 'base' for the configurations as they are. Each is run with copies of
configs/ and experiments/ in which the edits were made; the first N of the hundred workloads a point are simulated. The result
is the measured value of every claim beside the paper's, a line for each reading and claim.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAPER = "preemption-isca14"
SYSTEM = "configs/systems/k20c.yaml"
GPU = "configs/gpus/k20c.yaml"
FIGURES = "experiments/preemption-isca14/fig[78]*.yaml"
APPS = "configs/apps/*.yaml"


def multiplied(match):
    return f"blocks: {int(match[1]) * 13}"


def divided(by):
    return lambda match: f"blocks: {max(1, round(int(match[1]) / by))}"


# name: (files, pattern, replacement, what it means)
EDITS = {
    "fcfs_transfers": (SYSTEM, r"order: \w+", "order: fcfs", "copies in order of arrival in all cases"),
    "priority_transfers": (SYSTEM, r"order: \w+", "order: priority", "copies by priority, also in the FCFS baseline"),
    "one_copy_engine": (SYSTEM, r"duplex: true", "duplex: false", "one copy at a time in both directions together"),
    "link_2": (SYSTEM, r"lanes: 32", "lanes: 64", "16 GB/s each way"),
    "link_4": (SYSTEM, r"lanes: 32", "lanes: 128", "32 GB/s each way"),
    "no_gap": (SYSTEM, r"dispatch_latency: [^,]*", "dispatch_latency: 0 ps", "the next launch of a queue arrives at once"),
    "gap_10us": (SYSTEM, r"dispatch_latency: [^,]*", "dispatch_latency: 10 us", "it arrives after 10 us, not 1"),
    "no_setup": (SYSTEM, r"setup_cycles: \d+", "setup_cycles: 0", "an SM is set up at once"),
    "setup_10us": (SYSTEM, r"setup_cycles: \d+", "setup_cycles: 7060", "the setup of an SM takes 10 us"),
    "table1_blocks": (APPS, r"measured_sms: 13", "measured_sms: 1", "blocks of table 1's time per block, a 13th of ours"),
    "table1_times": (APPS, r"blocks: (\d+)", multiplied, "blocks and kernels of table 1's times, with 13 times as many blocks"),
    "no_cpu": (APPS, r"cpu: [^\n}]*", "cpu: 1 us", "no CPU phases"),
    "no_transfers": (APPS, r"(copy_to_\w+): [^\n}]*", r"\1: 4 KB", "no data to copy"),
    "overlapping_fcfs": (FIGURES, r"FCFS: fcfs", "FCFS: npq",
                         "figures 7 and 8, where all priorities are equal: FCFS starts the next process's kernel on free SMs"),
    "context_10": (GPU, r"(dram: .*clock: )1300 MHz", r"\g<1>130 MHz", "a context takes 10 times as long to save and restore"),
    "context_100": (GPU, r"(dram: .*clock: )1300 MHz", r"\g<1>13 MHz", "100 times as long"),
    "blocks_2": (APPS, r"blocks: (\d+)", divided(2), "blocks twice as long, half as many for each kernel"),
    "blocks_4": (APPS, r"blocks: (\d+)", divided(4), "four times as long"),
    "long_tailed_blocks": (APPS, r", variation: 0.1", ", lognormal_variation: 0.8", "blocks vary log-normally by 80%"),
}


def edit(folder, names):
    for name in names:
        files, pattern, replacement, _ = EDITS[name]
        changed = 0
        for path in sorted(folder.glob(files)):
            text, count = re.subn(pattern, replacement, path.read_text())
            path.write_text(text)
            changed += count
        if changed == 0:
            sys.exit(f"readings: '{name}' matches nothing in {files}")


def run(wm, reading, options):
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for part in ("configs", "experiments"):
            shutil.copytree(ROOT / part, folder / part)
        paper = folder / "experiments" / PAPER / "paper.yaml"
        text = re.sub(r"count: 100", f"count: {options.count}", paper.read_text())
        paper.write_text(re.sub(r"processes: \[2, 4, 6, 8\]", f"processes: [{options.processes}]", text))
        edit(folder, [] if reading == "base" else reading.split("+"))
        environment = dict(os.environ, WM_DATA=str(folder))
        common = ["--protocol", "paper", "--store", str(folder / "rows.ndjson")]
        figures = options.figures.split(",") if options.figures else sorted(
            figure.stem for figure in (ROOT / "experiments" / PAPER).glob("fig*.yaml"))
        call = [wm, "lab", "run", *[f"{PAPER}/{figure}" for figure in figures], "--jobs", str(options.jobs), *common]
        done = subprocess.run(call, env=environment, stdout=subprocess.PIPE, check=True, text=True)
        print(f"{reading}: {done.stdout.strip()}", file=sys.stderr)
        claims = {}
        for figure in figures:
            call = [wm, "lab", "show", f"{PAPER}/{figure}", *common, "--json", "-"]
            shown = subprocess.run(call, env=environment, stdout=subprocess.PIPE, check=True, text=True)
            for claim in json.loads(shown.stdout)["claims"]:
                claims[f"{figure}/{claim['id']}"] = (claim["paper"], claim["measured"])
        return claims


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wm", default=str(ROOT / "build/release/bin/wm"))
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--processes", default="2, 4, 8")
    parser.add_argument("--figures", help="as fig7a,fig8; all of them where it is not given")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--csv", type=argparse.FileType("w"), default=sys.stdout)
    parser.add_argument("readings", nargs="*", default=["base"])
    options = parser.parse_args()
    for reading in options.readings:
        for name in [] if reading == "base" else reading.split("+"):
            if name not in EDITS:
                parser.error(f"unknown reading '{name}'; there are {', '.join(EDITS)}")
    print("reading,claim,paper,measured", file=options.csv)
    for reading in options.readings:
        for claim, (paper, measured) in run(options.wm, reading, options).items():
            value = "" if measured is None else f"{measured:.3f}"
            print(f"{reading},{claim},{paper:g},{value}", file=options.csv, flush=True)


if __name__ == "__main__":
    main()
