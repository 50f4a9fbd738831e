#!/usr/bin/env python3
"""Fits the block machine's contention model from the cycle machine, and compares both machines.

  contention.py fit   [--wm PROGRAM] [--gpu qos16] [--size small] [--cycles N] KERNEL[@N]...
  contention.py agree [--wm PROGRAM] [--gpu qos16] [--size small] KERNEL KERNEL

`fit` limits a kernel to 1, 2, ... blocks per SM until a higher limit changes nothing (N blocks), and prints the
saturation s that fits rate(n) = min(1, n / (s N)) * rate(N) best, with the largest relative error of the fit. The value
is the `saturation` of a kernel of an application (src/sim/block/load_app.h). KERNEL@N states the resident limit, as a
table of the kernel has it. Rates are those of a run to the end, or with --cycles those of so many cycles, in which a kernel
repeats, without the first quarter.

`agree` runs both kernels once, together, on both machines under policies that divide SMs, drain and switch contexts, and
prints each kernel's slowdown on both and their quotient. The block machine takes the isolated times from the cycle
machine, so the slowdowns show sharing and preemption only.
"""
import argparse
import json
import subprocess

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


def agree(options):
    print("policy,kernel,cycle_slowdown,block_slowdown,quotient")
    words = [w for k in options.kernels for w in ("--kernel", f"{k}:size={options.size}")]
    for policy in POLICIES:
        runs = [simulate(options.wm, ["--gpu", options.gpu, *words, "--policy", policy, "--machine", machine, "--once"])
                for machine in ("cycle", "block")]
        for cycle, block in zip(*(run["kernels"] for run in runs)):
            a, b = 1 / cycle["normalized"], 1 / block["normalized"]
            print(f"{policy},{cycle['name']},{a:.3f},{b:.3f},{b / a:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["fit", "agree"])
    parser.add_argument("kernels", nargs="+")
    parser.add_argument("--wm", default="build/release/bin/wm")
    parser.add_argument("--gpu", default="qos16")
    parser.add_argument("--size", default="small")
    parser.add_argument("--cycles", type=int, default=0)
    options = parser.parse_args()
    if options.what == "agree" and len(options.kernels) != 2:
        parser.error("agree needs two kernels")
    (fit if options.what == "fit" else agree)(options)


if __name__ == "__main__":
    main()
