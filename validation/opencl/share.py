#!/usr/bin/env python3
"""What short OpenCL programs pay to the daemon on a real GPU, by themselves and beside others.

  validation/opencl/share.py --build build/device --out OUT [--device NVIDIA] [--size large] [--parts latency,share]
                             [--programs mvp,sgemm,histo,bfs] [--policies fifo,least_served] [--awake 10,50] [--seconds S]

Writes OUT/opencl-share.json, with the rows of validation/h200/opencl-share.json.

  latency  one program at a time, natively and through the daemon: microseconds from the first call to the end, after pauses
           and in a row
  share    `wm bench share` with 2, 4 and 8 clients against native processes, for each time of --awake; `short` is the same
           with launches of up to 100 µs pipelined beside other clients

A part that would begin after --seconds is left out.
"""
import argparse
import datetime
import json
import os
import signal
import statistics
import subprocess
import tempfile
import time

PAUSES = {"after_100ms": 0.1, "after_5ms": 0.005, "after_1ms": 0.001, "in_a_row": 0}
RUNS = 9


class Client:
    """A benchmark that runs when it is told to, natively or through a daemon."""

    def __init__(self, run, name, socket):
        words = [run.wm, "cl", "run", name, "--size", run.size, "--orders"]
        if socket:
            words = [run.wm, "run", "--wait", "20", "--socket", socket, "--"] + words
        elif run.device:
            words += ["--device", run.device]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.read()
        self.ask("prepare")
        self.ask("run 0")  # compiles

    def read(self):
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def ask(self, order):
        self.process.stdin.write(order + "\n")
        self.process.stdin.flush()
        return self.read()

    def median(self, pause):
        times = []
        for _ in range(RUNS):
            time.sleep(pause)
            run = self.ask("run 0")
            times.append((run["ended"] - run["began"]) / 1e3)
        return round(statistics.median(times), 1)

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)


class Daemon:
    def __init__(self, run, policy):
        self.socket = tempfile.mktemp(prefix="wm-")
        words = [run.wm, "serve", "--socket", self.socket, "--policy", policy, "--log-level", "warning"]
        self.process = subprocess.Popen(words + (["--device", run.device] if run.device else []), stdout=subprocess.DEVNULL)
        for _ in range(400):
            if os.path.exists(self.socket):
                break
            time.sleep(0.05)

    def __enter__(self):
        return self.socket

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


def ideal_unfairness(times):
    """Of processor sharing: programs of these isolated times begin together and have equal parts of the device."""
    slowdowns, now, done = [], 0.0, 0.0
    for i, t in enumerate(sorted(times)):
        now += (t - done) * (len(times) - i)
        done = t
        slowdowns.append(now / t)
    return max(slowdowns) / min(slowdowns)


class Run:
    def __init__(self, options):
        self.wm = os.path.join(options.build, "bin/wm")
        self.out, self.size, self.device = options.out, options.size, options.device
        self.options = options
        self.end = time.monotonic() + options.seconds
        self.result = {"schema": 1, "date": str(datetime.date.today()), "processors": os.cpu_count(),
                       "version": subprocess.run([self.wm, "--version"], capture_output=True, text=True).stdout.strip()}

    def write(self):
        with open(os.path.join(self.out, "opencl-share.json"), "w") as file:
            json.dump(self.result, file, indent=1)

    def has_time(self, what):
        left = self.end - time.monotonic()
        print(f"{what}: {left:.0f} s left", flush=True)
        return left > 0

    # --- latency
    def rows_of(self, policy, socket, rows):
        for name in self.options.programs.split(","):
            if not self.has_time(f"latency of {name}, {policy}"):
                return
            client = Client(self, name, socket)
            row = {"name": name, "policy": policy}
            row.update({what: client.median(pause) for what, pause in PAUSES.items()})
            client.close()
            rows.append(row)
            print(json.dumps(row), flush=True)
            self.write()

    def latency(self):
        rows = []
        self.result["isolated_latency"] = {
            "command": f"one client at a time, medians of {RUNS}, microseconds from the first call to the end", "rows": rows}
        self.rows_of("native", None, rows)
        for policy in self.options.policies.split(","):
            with Daemon(self, policy) as socket:
                self.rows_of(policy, socket, rows)

    # --- share
    def bench(self, key, variables):
        if not self.has_time(f"bench share, {key}"):
            return
        answer = os.path.join(self.out, f"share-{key}.json")
        words = [self.wm, "bench", "share", "--workloads", "4", "--rounds", "3", "--size", self.size, "--unchecked", "--json",
                 answer, "--policy", "native"]
        for clients in self.options.clients.split(","):
            words += ["--clients", clients]
        for policy in self.options.policies.split(","):
            words += ["--policy", policy]
        if self.device:
            words += ["--device", self.device]
        done = subprocess.run(words, env=dict(os.environ, **variables), stdout=subprocess.DEVNULL)
        if done.returncode != 0:
            self.result[key] = {"error": f"status {done.returncode}"}
            return
        with open(answer) as file:
            result = json.load(file)
        isolated = {i["name"]: i["seconds"] for i in result["isolated"] if i["policy"] == "native"}
        for item in result["items"]:
            item["ideal_unfairness"] = ideal_unfairness([isolated[name] for name in item["name"].split("+")])
        for row in result["summary"]:
            row["ideal_unfairness"] = statistics.mean(
                i["ideal_unfairness"] for i in result["items"]
                if i["clients"] == row["clients"] and i["policy"] == row["policy"])
            print(key, row["clients"], row["policy"], {k: round(row[k], 2) for k in
                  ("unfairness", "ideal_unfairness", "unfairness_rewritten", "throughput", "antt")}, flush=True)
        self.result[key] = result
        self.write()

    def share(self):
        for awake in self.options.awake.split(","):
            self.bench(f"awake_{awake}", {"WARPMUX_AWAKE": awake})
        self.bench("short", {"WARPMUX_AWAKE": self.options.awake.split(",")[-1], "WARPMUX_SHORT": "100"})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--device", default="NVIDIA")
    parser.add_argument("--size", default="large")
    parser.add_argument("--parts", default="latency,share")
    parser.add_argument("--programs", default="mvp,sgemm,histo,bfs")
    parser.add_argument("--policies", default="fifo,least_served")
    parser.add_argument("--clients", default="2,4,8")
    parser.add_argument("--awake", default="10,50")
    parser.add_argument("--seconds", type=float, default=600)
    run = Run(parser.parse_args())
    os.makedirs(run.out, exist_ok=True)
    for part in run.options.parts.split(","):
        {"latency": run.latency, "share": run.share}[part]()
        run.write()


if __name__ == "__main__":
    main()
