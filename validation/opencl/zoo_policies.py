#!/usr/bin/env python3
"""The zoo as OpenCL programs on a real GPU: what workers and gates cost, and pairs under policies that decide on SMs.

  validation/opencl/zoo_policies.py --build build/device --out OUT [--parts speed,quota,caps] [--seconds S]
                                    [--pairs sad+mri-q,…] [--goals 0.5,…] [--policies warped_slicer,…] [--limit S]

Writes OUT/zoo-policies.json, and the decisions of the policies of both to OUT/decisions-*.txt. After `--limit` seconds no
further pair begins.

  speed   every benchmark by itself: natively, unmodified through the daemon (fifo), with gates, and as workers (spatial)
  quota   pairs under `quota:scheme=rollover`, the first with a goal: the parts of their native isolated rates that both have
  caps    pairs under warped_slicer, even and left_over: the sum of those parts, and in which forms the launches ran
"""
import argparse
import datetime
import json
import math
import os
import signal
import subprocess
import tempfile
import threading
import time

# Benchmarks whose launches take 0.2 ms and more at large, and which may run again on what they left.
QUOTA_PAIRS = [("sad", "mri-q"), ("mri-q", "sad"), ("neural", "sad"), ("sad", "neural"), ("sad", "lbm"),
               ("mri-q", "neural")]
CAPS_PAIRS = [("sad", "mri-q"), ("neural", "sad"), ("mri-q", "neural"), ("tpacf", "sad"), ("tpacf", "mri-q"),
              ("lbm", "mri-q"), ("stencil", "neural")]
GOALS = [0.5, 0.7, 0.85, 0.95]
PARTS = ["speed", "quota", "caps"]


class Client:
    """A benchmark that runs when it is told to, natively or through a daemon."""

    def __init__(self, run, name, socket=None, goal=None):
        words = [run.wm, "cl", "run", name, "--size", run.size, "--orders", "--device", "NVIDIA" if not socket else ""]
        if not socket:
            self.words = words
        else:
            before = [run.wm, "run", "--wait", "20", "--socket", socket]
            if goal:
                before += ["--goal", str(goal)]
            self.words = before + ["--"] + words[:-2]
        self.log = open(os.path.join(run.out, "errors.txt"), "a")
        self.process = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.name = name
        self.limit = threading.Timer(run.seconds * 2 + 20, self.process.kill)
        self.limit.start()
        self.read()
        self.ask("prepare")
        self.ask("run 0")  # compiles

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name}: no answer (errors.txt has its messages)")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"{self.name}: {answer['error']}")
        return answer

    def ask(self, order):
        self.process.stdin.write(order + "\n")
        self.process.stdin.flush()
        return self.read()

    def until(self, end):
        """Runs again and again, a few queued at once; the times at which runs ended, in seconds."""
        return [t * 1e-9 for t in self.ask(f"repeat {int(end * 1e9)}")["ends"]]

    def close(self):
        self.limit.cancel()
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()


def rate(ends, begin, end):
    """Runs per second between the first and the last end within the window."""
    inside = [t for t in ends if begin <= t <= end]
    return (len(inside) - 1) / (inside[-1] - inside[0]) if len(inside) > 1 else 0.0


class Daemon:
    def __init__(self, run, policy, *options):
        self.run = run
        self.socket = tempfile.mktemp(prefix="wm-")
        words = [run.wm, "serve", "--device", "NVIDIA", "--socket", self.socket, "--policy", policy, *options]
        self.log = open(os.path.join(run.out, f"serve-{policy.split(':')[0]}.txt"), "a")
        self.process = subprocess.Popen(words, stdout=self.log, stderr=subprocess.STDOUT)
        for _ in range(200):
            if os.path.exists(self.socket):
                break
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with open(os.path.join(self.run.out, "status.txt"), "a") as status:
            subprocess.run([self.run.wm, "status", "--socket", self.socket], stdout=status, stderr=status, timeout=20)
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()


class Run:
    def __init__(self, options):
        self.wm = os.path.join(options.build, "bin/wm")
        self.out = options.out
        self.size = options.size
        self.seconds = options.seconds
        self.pairs = [tuple(pair.split("+")) for pair in options.pairs.split(",") if pair]
        self.policies = options.policies.split(",")
        self.goals = [float(goal) for goal in options.goals.split(",")] if options.goals else GOALS
        self.isolated = {}
        self.rows = []
        self.end = time.monotonic() + options.limit

    def note(self, **row):
        self.rows.append(row)
        print(json.dumps(row), flush=True)
        self.write()

    def write(self):
        with open(os.path.join(self.out, "zoo-policies.json"), "w") as file:
            json.dump({"schema": 1, "date": datetime.date.today().isoformat(), "rows": self.rows}, file, indent=1)

    # --- one program
    def native_rate(self, name):
        if name not in self.isolated:
            client = Client(self, name)
            begin = time.monotonic()
            ends = client.until(begin + self.seconds / 2)
            client.close()
            self.isolated[name] = rate(ends, begin, ends[-1])
            self.note(part="isolated", name=name, runs_per_second=self.isolated[name])
        return self.isolated[name]

    def zoo(self, setup, words):
        answer = os.path.join(self.out, f"zoo-{setup}.json")
        program = [self.wm, "cl", "run", "--size", self.size, "--rounds", "9", "--unchecked", "--json", answer]
        with open(os.path.join(self.out, "errors.txt"), "a") as errors:
            try:
                subprocess.run(words + program + ([] if words else ["--device", "NVIDIA"]), stdout=subprocess.DEVNULL,
                               stderr=errors, timeout=60)
            except subprocess.TimeoutExpired:
                self.note(part="speed", setup=setup, error="more than a minute")
                return {}
        with open(answer) as file:
            rows = json.load(file)
        return {row["name"]: row for row in (rows["items"] if isinstance(rows, dict) else rows)}

    def speed(self):
        all_rows = {"native": self.zoo("native", [])}
        for setup, policy, options in [("fifo", "fifo", []), ("workers", "spatial", []), ("ungated", "left_over", []),
                                       ("gates", "left_over", ["--gates"])]:
            with Daemon(self, policy, *options) as daemon:
                all_rows[setup] = self.zoo(setup, [self.wm, "run", "--wait", "20", "--socket", daemon.socket, "--"])
        for setup, base in [("fifo", "native"), ("workers", "fifo"), ("gates", "ungated")]:
            self.compare(setup, all_rows[setup], base, all_rows[base])

    def compare(self, setup, rows, base_name, base_rows):
        """Device time, and the time from the first call to the last end, of the same programs in two setups."""
        means = {}
        for name, row in sorted(rows.items()):
            if name not in base_rows:
                continue
            ratios = {key: base_rows[name][key] / row[key] for key in ("device_seconds", "seconds")
                      if row[key] > 0 and base_rows[name][key] > 0}
            for key, ratio in ratios.items():
                means.setdefault(key, []).append(math.log(ratio))
            self.note(part="speed", setup=setup, of=base_name, name=name, microseconds=round(row["device_seconds"] * 1e6, 1),
                      **{key: round(ratio, 3) for key, ratio in ratios.items()})
        self.note(part="speed", setup=setup, of=base_name, name="geometric mean",
                  **{key: round(math.exp(sum(logs) / len(logs)), 4) for key, logs in means.items()})

    # --- pairs
    def pair(self, daemon, first, second, goal=None):
        isolated = [self.native_rate(first), self.native_rate(second)]
        clients = [Client(self, first, daemon.socket, goal), Client(self, second, daemon.socket)]
        ends = [[], []]
        # By itself first: the daemon learns the isolated rate.
        isolated_begin = time.monotonic()
        before = clients[0].until(isolated_begin + self.seconds / 4)
        begin = time.monotonic()

        def go(i):
            try:
                ends[i] = clients[i].until(begin + self.seconds)
            except (RuntimeError, OSError) as error:
                self.note(part="failure", error=str(error))
        threads = [threading.Thread(target=go, args=(i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        forms = self.forms(daemon)
        for client in clients:
            client.close()
        # The first quarter of the time belongs to the policy's beginning.
        window = (begin + self.seconds / 4, begin + self.seconds)
        parts = [rate(ends[i], *window) / isolated[i] for i in range(2)]
        return rate(before, isolated_begin, before[-1]) / isolated[0], parts, forms

    def forms(self, daemon):
        """How many launches of each client ran in which form."""
        status = subprocess.run([self.wm, "status", "--socket", daemon.socket, "--json", "-"], stdout=subprocess.PIPE,
                                timeout=20)
        keys = ("launches", "as_workers", "unmodified_short", "unmodified_capped", "repeated_workers")
        return [{key: client[key] for key in keys} for client in json.loads(status.stdout)["clients"]]

    def quota(self):
        for first, second in self.pairs or QUOTA_PAIRS:
            for goal in self.goals:
                decisions = os.path.join(self.out, f"decisions-{first}-{second}-{goal}.txt")
                with Daemon(self, "quota:scheme=rollover", "--decisions", decisions) as daemon:
                    self.noted_pair(daemon, "quota", "quota", first, second, goal)

    def caps(self):
        for first, second in self.pairs or CAPS_PAIRS:
            if time.monotonic() > self.end:
                return self.note(part="caps", first=first, second=second, error="not run: the time was over")
            for number, policy in enumerate(self.policies):
                decisions = os.path.join(self.out, f"decisions-{first}-{second}-{number}.txt")
                with Daemon(self, policy, "--decisions", decisions) as daemon:
                    self.noted_pair(daemon, "caps", policy, first, second, None)

    def noted_pair(self, daemon, part, policy, first, second, goal):
        try:
            isolated, parts, forms = self.pair(daemon, first, second, goal)
            self.note(part=part, policy=policy, first=first, second=second, goal=goal, isolated=round(isolated, 3),
                      rates=[round(p, 3) for p in parts], sum=round(sum(parts), 3), forms=forms)
        except (RuntimeError, OSError, ZeroDivisionError, IndexError, json.JSONDecodeError,
                KeyError, subprocess.TimeoutExpired) as error:
            self.note(part=part, policy=policy, first=first, second=second, goal=goal, error=str(error))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--parts", default="speed,quota,caps")
    parser.add_argument("--size", default="large")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--pairs", default="", help="such as sad+mri-q,neural+sad, in place of the script's")
    parser.add_argument("--goals", default="", help="parts of the isolated rate, such as 0.5,0.95")
    parser.add_argument("--policies", default="warped_slicer,even,left_over", help="of the part caps")
    parser.add_argument("--limit", type=float, default=math.inf, help="seconds after which no further pair of caps begins")
    options = parser.parse_args()
    parts = options.parts.split(",")
    if unknown := [part for part in parts if part not in PARTS]:
        parser.error(f"no part '{unknown[0]}': {', '.join(PARTS)}")
    os.makedirs(options.out, exist_ok=True)
    os.environ.setdefault("OCL_ICD_FILENAMES", "libnvidia-opencl.so.1")
    os.environ.setdefault("WM_DATA", os.getcwd())
    run = Run(options)
    for part in parts:
        getattr(run, part)()
    run.write()


if __name__ == "__main__":
    main()
