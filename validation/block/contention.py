#!/usr/bin/env python3
"""Fits the block machine's contention model from the cycle machine, and compares both machines.

  contention.py fit   [--wm PROGRAM] [--gpu qos16] [--size small] [--cycles N] KERNEL[@N]...
  contention.py agree [--wm PROGRAM] [--gpu qos16] [--size small] [--fitted] [--wide] KERNEL KERNEL

`fit` limits a kernel to 1, 2, ... blocks per SM until a higher limit changes nothing (N blocks), and prints the
saturation s that fits rate(n) = min(1, n / (s N)) * rate(N) best, with the largest relative error of the fit. The value
is the `saturation` of a kernel of an application (src/sim/block/load_app.h). KERNEL@N states the resident limit, as a
table of the kernel has it. Rates are those of a run to the end, or with --cycles those of so many cycles, in which a kernel
repeats, without the first quarter.

`agree` runs both kernels once, together, on both machines under policies that divide SMs, drain and switch contexts, and
prints each kernel's slowdown on both and their quotient. The block machine takes the isolated times from the cycle
machine, so the slowdowns show sharing and preemption only. With --fitted each kernel has the saturation with which an
isolated run on half of the SMs comes nearest to that of the cycle machine; the pair itself is not fitted. With --wide
both machines have sixteen times the bandwidth of DRAM, eight times that of the L2 cache and 32 times its size, so that
kernels on different SMs hardly meet in memory.
"""
import argparse
import json
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

POLICIES = ["spatial", "dss:preemption=drain", "dss:preemption=switch"]


def simulate(wm, arguments):
    done = subprocess.run([wm, "sim", *arguments, "--json", "-"], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr.strip() or f"'wm sim {' '.join(arguments)}' fails")
    return json.loads(done.stdout)


def rate_with(options, kernel, blocks):
    limit = f":blocks={blocks}" if blocks else ""
    arguments = ["--gpu", options.gpu, "--kernel", f"{kernel}:size={options.size}{limit}"]
    if options.cycles:
        run = simulate(options.wm, [*arguments, "--cycles", str(options.cycles), "--warm", str(options.cycles // 4)])
        return run["kernels"][0]["ipc"]
    return 1e6 / simulate(options.wm, [*arguments, "--once"])["kernels"][0]["cycles"]


def fit_saturation(rates):
    """The saturation and the largest relative error of the model, for rates by number of blocks, N being the largest.

    One block is the least that was measured, so the saturation is at least 1 / N.
    """
    n = max(rates)

    def error(s):
        return [abs(min(1, blocks / (s * n)) * rates[n] / rate - 1) for blocks, rate in rates.items()]

    candidates = [k / 100 for k in range(1, 101) if k * n >= 100]
    best = min(candidates, key=lambda s: sum(e * e for e in error(s)))
    return best, max(error(best))


def fit(options):
    print("kernel,gpu,blocks_per_sm,saturation,largest_error,rates")
    for argument in options.kernels:
        kernel, _, limit = argument.partition("@")
        rates = {}
        if limit:
            counts = [n for n in (1, 2, 3, 4, 6, 8, 12, 16) if n < int(limit)] + [int(limit)]
            rates = {n: rate_with(options, kernel, n) for n in counts}
        else:
            unlimited = rate_with(options, kernel, 0)
            while len(rates) < 32 and unlimited not in rates.values():
                rates[len(rates) + 1] = rate_with(options, kernel, len(rates) + 1)
        saturation, error = fit_saturation(rates)
        steps = " ".join(f"{n}:{rate:.4g}" for n, rate in rates.items())
        print(f"{kernel},{options.gpu},{max(rates)},{saturation:.2f},{error:.3f},{steps}", flush=True)


def cycles_of(options, gpu, kernel, machine):
    return simulate(options.wm, ["--gpu", gpu, "--kernel", kernel, "--machine", machine, "--once"])["cycles"]


def changed(gpu, folder, name, edits):
    """The file of a GPU like `gpu`, with the numbers of each pattern multiplied."""
    path = pathlib.Path(gpu) if gpu.endswith(".yaml") else ROOT / "configs/gpus" / f"{gpu}.yaml"
    text = path.read_text()
    for pattern, factor in edits:
        text, found = re.subn(pattern, lambda m: f"{m[1]}{int(int(m[2]) * factor)}", text, count=1)
        if not found:
            raise SystemExit(f"{path}: nothing matches {pattern}")
    file = pathlib.Path(folder) / f"{name}.yaml"
    file.write_text(text)
    return str(file)


HALF = [(r"(\n  count: )(\d+)", 0.5)]
WIDE = [(r"(\ndram: .*?clock: )(\d+)", 4), (r"(\ndram: .*?bytes_per_clock: )(\d+)", 4),
        (r"(\nl2: .*?bytes_per_cycle: )(\d+)", 8), (r"(\nl2: {size: )(\d+)", 32)]


def saturation_on_half(options, kernel):
    """The saturation with which both machines slow the isolated kernel most alike where it has half of the SMs.

    The block machine has half of the SMs under `spatial` beside the same kernel, which changes nothing else there.
    """
    sized = f"{kernel}:size={options.size}"
    with tempfile.TemporaryDirectory() as folder:
        measured = cycles_of(options, changed(options.gpu, folder, "half", HALF), sized, "cycle") / cycles_of(options, options.gpu, sized, "cycle")

    def modelled(saturation):
        words = ["--kernel", f"{sized}:saturation={saturation}"] * 2
        run = simulate(options.wm, ["--gpu", options.gpu, *words, "--policy", "spatial", "--machine", "block", "--once"])
        return 1 / run["kernels"][0]["normalized"]

    candidates = [k / 100 for k in (*range(2, 20), *range(20, 101, 5))][::-1]
    return min(candidates, key=lambda s: abs(modelled(s) - measured))


def agree(options):
    print("policy,kernel,saturation,cycle_slowdown,block_slowdown,quotient")
    fitted = [saturation_on_half(options, k) if options.fitted else 1 for k in options.kernels]
    for policy in POLICIES:
        runs = []
        for machine in ("cycle", "block"):
            settings = [f":saturation={s}" if machine == "block" else "" for s in fitted]
            words = [w for k, s in zip(options.kernels, settings) for w in ("--kernel", f"{k}:size={options.size}{s}")]
            runs.append(simulate(options.wm, ["--gpu", options.gpu, *words, "--policy", policy, "--machine", machine, "--once"]))
        for s, cycle, block in zip(fitted, *(run["kernels"] for run in runs)):
            a, b = 1 / cycle["normalized"], 1 / block["normalized"]
            print(f"{policy},{cycle['name']},{s:g},{a:.3f},{b:.3f},{b / a:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["fit", "agree"])
    parser.add_argument("kernels", nargs="+")
    parser.add_argument("--wm", default="build/release/bin/wm")
    parser.add_argument("--gpu", default="qos16")
    parser.add_argument("--size", default="small")
    parser.add_argument("--cycles", type=int, default=0)
    parser.add_argument("--fitted", action="store_true")
    parser.add_argument("--wide", action="store_true")
    options = parser.parse_args()
    if options.what == "agree" and len(options.kernels) != 2:
        parser.error("agree needs two kernels")
    with tempfile.TemporaryDirectory() as folder:
        if options.wide:
            options.gpu = changed(options.gpu, folder, "wide", WIDE)
        (fit if options.what == "fit" else agree)(options)


if __name__ == "__main__":
    main()
