#!/usr/bin/env python3
"""Figures 15 to 19 of SMQoS on a real GPU: four latency-sensitive tasks beside four batch tasks at goals of 80 to 95%.

  validation/cuda_qos/run.py --build build/device --out OUT [--parts PART,…]

Writes OUT/cuda-qos.json. Methods:

  workers   RH-SMQoS: persistent workers on as large a part of the SMs as the goal. As published, tasks have ranges of SM
            numbers; through MPS the GPU numbers SMs for each process anew, so that each task has the first ones that it sees
  relaunch  SlateQoS: the same workers in ten launches a task
  mps       unmodified, CUDA_MPS_ACTIVE_THREAD_PERCENTAGE of both processes
  static    unmodified under `wm serve --cuda --policy static_smqos`: the same part of the SMs, in green contexts
  dynamic   unmodified under `wm serve --cuda --policy smqos`: SMs follow the measured rate
  static-workers, dynamic-workers   the last two with --workers: pairs of SMs, kernels rewritten from their PTX while they run
  quota     unmodified under `wm serve --cuda --policy quota`: launches beyond a quota wait

NPM is T_isolated / (goal T_corun) of the latency-sensitive task, reached from 1 on; NTP is T_isolated / T_corun of the batch
task. T_isolated is that of the unmodified program by itself: for `static` and `dynamic` of the same process, just before the
co-runs (`npm_in_process`), because the time of LIB and LBM differs by up to 8% from process to process; for the other
methods, whose processes are never unrestricted, of another process (`npm`). With a simulated driver: --size small and short
times.
"""
import argparse
import datetime
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

LATENCY = ["HS", "MERGE", "LIB", "LBM"]
BATCH = ["PF", "BINO", "GESUMMV", "ATAX"]
GOALS = [0.80, 0.85, 0.90, 0.95]
PARTS = ["probe", "single", "forms", "forms_managed", "mps", "workers", "relaunch", "static", "dynamic", "static_workers", "dynamic_workers",
         "quota", "logs"]


class Daemon:
    """wm serve --cuda with an MPS daemon; plain programs find its MPS by `pipe`."""

    def __init__(self, run, *options, environment=None):
        self.run = run
        self.socket = tempfile.mktemp(prefix="wm-qos-")
        self.log = open(os.path.join(run.out, "serve.txt"), "a")
        command = [run.wm, "serve", "--cuda", "--sharing", "mps", "--socket", self.socket, "--admission", "accept"]
        self.process = subprocess.Popen(command + list(options), stdout=self.log, stderr=self.log,
                                        env=dict(os.environ, **(environment or {})))
        for _ in range(400):
            if os.path.exists(self.socket) or self.process.poll() is not None:
                break
            time.sleep(0.05)
        status = self.status()
        self.pipe = status.get("arbiter", {}).get("mps_pipe_folder", "")

    def status(self):
        done = subprocess.run([self.run.wm, "status", "--socket", self.socket, "--json", "-"], capture_output=True,
                              text=True, check=False)
        try:
            return json.loads(done.stdout)
        except ValueError:
            return {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def plain(self, percentage=None):
        """A program's environment for this daemon's MPS, without warpmux."""
        environment = dict(os.environ, CUDA_MPS_PIPE_DIRECTORY=self.pipe)
        if percentage is not None:
            environment["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"] = str(percentage)
        return [], environment

    def managed(self, name, goal=None):
        words = [self.run.wm, "run", "--socket", self.socket, "--name", name]
        if goal is not None:
            words += ["--goal", f"{goal:.4f}"]
        return words + ["--"], dict(os.environ)


class Run:
    def __init__(self, options):
        self.options = options
        self.out = options.out
        self.wm = os.path.join(options.build, "bin", "wm")
        self.program = options.program
        self.rows, self.errors, self.isolated = [], [], {}
        self.sms = options.sms
        self.started, self.driver = time.time(), driver()

    def error(self, text):
        self.errors.append(text)
        print("error:", text, flush=True)

    def start(self, how, slots, seconds, settle, begin, isolated=0):
        words, environment = how
        if begin:
            environment = dict(environment, PAIR_BEGIN="-")
        command = words + [self.program] + slots + ["--seconds", str(seconds), "--settle", str(settle)]
        command += ["--size", self.options.size, "--isolated", str(isolated)]
        return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    @staticmethod
    def begin_all(processes, seconds):
        """Waits until all programs are ready; they begin `seconds` later."""
        for process in processes:
            process.stdout.readline()
        begin = time.time() + seconds
        for process in processes:
            try:
                process.stdin.write(f"{begin:.4f}\n")
                process.stdin.flush()
            except OSError:
                pass  # it has ended, which is noticed when its results are read
        return begin

    def finish(self, process, what, limit):
        try:
            text, problems = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            text, problems = process.communicate()
            self.error(f"{what}: it did not end")
        if problems.strip():
            self.error(f"{what}: {problems.strip()[-400:]}")
        rows = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        if not rows or rows[-1].get("wrong", 0) != 0:
            self.error(f"{what}: wrong results or none: {text[-200:]}")
        return [row for row in rows if "slot" in row], {row["isolated"]: row["ms"] for row in rows if "isolated" in row}

    def single(self, method, how, slots, seconds):
        process = self.start(how, slots, seconds, self.options.settle, False)
        rows, _ = self.finish(process, method, 60 + 2 * seconds * len(slots))
        for row in rows:
            self.rows.append({"method": method, "task": row["task"], "beside": [], "ms": row["ms"], "tasks": row["tasks"]})
            print(f"{method:10} {row['task']:8} {row['ms']:9.4f} ms", flush=True)
        return rows

    def beside(self, method, goals, first, others, slots, seconds, settle, daemon=None):
        """Programs at the same time: `first` and `others` say how they start, `slots` has a list for each. The state of
        managed programs is noted in the middle."""
        # A managed program has the whole GPU while it is by itself.
        isolated = self.options.in_process if daemon is not None else 0
        started = [self.start(how, list(of_program), seconds, settle, True, isolated if i == 0 else 0)
                   for i, (how, of_program) in enumerate(zip([first] + others, slots))]
        # It is by itself when the others have been idle for a second, and measures each of its tasks then.
        lead = 0.2 if daemon is None else 1.1 + isolated * len(set(slots[0]))
        begin = self.begin_all(started, lead)
        limit = lead + seconds * len(slots[0]) + 40
        if daemon is not None:
            time.sleep(max(begin + seconds * len(slots[0]) / 2 - time.time(), 0))
            clients = [{"name": c["name"], "goal": c["goal"], "reached": c["reached"], "mechanism": c["mechanism"],
                        "placed": c["counters"]["placed_launches"], "unplaced": c["counters"]["unplaced_launches"],
                        "added": c["counters"]["added_worker_launches"]}
                       for c in daemon.status().get("clients", [])]
            self.rows.append({"method": "status", "of": method, "goal": goals[0], "clients": clients})
            print("  " + "; ".join(f"{c['name']}: {c['mechanism']}, {c['placed']} placed" for c in clients), flush=True)
        results = [self.finish(process, f"{method} {of_program[0]}", limit)
                   for process, of_program in zip(started, slots)]
        for i in range(len(slots[0])):
            found = [rows[i] if i < len(rows) else {"task": of_program[i].split(":")[0], "ms": 0, "tasks": 0}
                     for (rows, _), of_program in zip(results, slots)]
            self.note(method, goals[i], found, results[0][1].get(found[0]["task"], 0))

    def note(self, method, goal, found, in_process):
        late = max(row.get("late_ms", 0) for row in found)
        row = {"method": method, "goal": goal, "task": found[0]["task"], "beside": [f["task"] for f in found[1:]],
               "ms": [f["ms"] for f in found], "tasks": [f["tasks"] for f in found], "late_ms": late}
        isolated = [self.isolated.get(f["task"], 0) for f in found]
        if all(f["ms"] > 0 for f in found) and all(isolated):
            row["npm"] = isolated[0] / (goal * found[0]["ms"])
            if in_process > 0:
                row["npm_in_process"] = in_process / (goal * found[0]["ms"])
            row["ntp"] = [a / f["ms"] for a, f in zip(isolated[1:], found[1:])]
        self.rows.append(row)
        self.save()
        ntp = " ".join(f"{value:.3f}" for value in row.get("ntp", []))
        print(f"{method:10} {goal:.2f} {row['task']:6} beside {'+'.join(row['beside']):12} NPM {row.get('npm', 0):.3f} ({row.get('npm_in_process', 0):.3f}) "
              f"NTP {ntp} late {late:.0f}", flush=True)

    # --- the parts
    def part_probe(self):
        """Whether groups of SMs of two processes under MPS are the same SMs."""
        for group in (8, 4):
            with Daemon(self, "--policy", "spatial", "--sm-group", str(group)) as daemon:
                seconds = self.options.probe_seconds
                both = [self.start(daemon.managed(f"where{i}"), ["where"], seconds, 0, False) for i in range(2)]
                time.sleep(seconds * 0.7)
                mechanisms = [client.get("mechanism") for client in daemon.status().get("clients", [])]
                sms = []
                for process in both:
                    text, problems = process.communicate(timeout=60)
                    if problems.strip():
                        self.error(f"probe: {problems.strip()[-300:]}")
                    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
                    sms.append(lines[-1]["sms"] if lines else [])
                row = {"method": "probe", "sm_group": group, "mechanisms": mechanisms, "sms": sms,
                       "overlap": len(set(sms[0]) & set(sms[1]))}
                self.rows.append(row)
                print(f"probe group {group}: {len(sms[0])} and {len(sms[1])} SMs, {row['overlap']} in both; {mechanisms}",
                      flush=True)

    def part_single(self):
        seconds = self.options.seconds
        plain = ([], dict(os.environ))
        for row in self.single("single", plain, LATENCY + BATCH, seconds) + \
                self.single("single", plain, BATCH + LATENCY, seconds):
            best = self.isolated.get(row["task"])
            if row["ms"] > 0:
                self.isolated[row["task"]] = row["ms"] if best is None else min(best, row["ms"])

    def part_forms(self):
        """The transformed programs by themselves (figure 17)."""
        seconds, plain = self.options.seconds, ([], dict(os.environ))
        for form in ("workers", "relaunch"):
            self.single(f"{form}-isolated", plain, [f"{task}:{form}" for task in LATENCY + BATCH], seconds)

    def part_forms_managed(self):
        """Programs by themselves whose kernels `wm serve --workers` has made workers."""
        with Daemon(self, "--policy", "spatial", "--workers", environment={"WARPMUX_WORKERS": "always"}) as daemon:
            self.single("managed-workers-isolated", daemon.managed("all"), LATENCY + BATCH, self.options.seconds)

    def pairs(self):
        return [(task, other) for task in LATENCY for other in BATCH]

    def part_mps(self):
        with Daemon(self) as daemon:
            for goal in GOALS:
                percentage = round(goal * 100)
                tasks, others = zip(*self.pairs())
                self.beside("mps", [goal] * len(tasks), daemon.plain(percentage), [daemon.plain(100 - percentage)],
                            [tasks, others], self.options.seconds, self.options.settle)

    def ranges(self, form):
        with Daemon(self) as daemon:
            goals, tasks, others = [], [], []
            for goal in GOALS:
                mine = 2 * -int(-goal * self.sms // 2)  # rounded up to pairs, as the GPU has them
                for task, other in self.pairs():
                    goals.append(goal)
                    tasks.append(f"{task}:{form}:0:{mine}")
                    others.append(f"{other}:{form}:0:{self.sms - mine}")
            self.beside(form, goals, daemon.plain(), [daemon.plain()], [tasks, others], self.options.seconds,
                        self.options.settle)

    def part_workers(self):
        self.ranges("workers")

    def part_relaunch(self):
        self.ranges("relaunch")

    def learn(self, daemon, names):
        """The daemon learns the rate of each latency-sensitive program by itself."""
        for name in names:
            process = self.start(daemon.managed(name), [name], self.options.learn, 0, False)
            self.finish(process, f"learn {name}", 60)

    def sms_of_owners(self):
        return ["--sm-group", str(self.options.sm_group)]

    def part_static(self):
        """Two tasks, and three: PF and GESUMMV together."""
        with Daemon(self, "--policy", "static_smqos:rounding=up", *self.sms_of_owners()) as daemon:
            self.static("static", daemon)
            for goal in GOALS:
                self.beside("static-3", [goal] * len(LATENCY), daemon.managed("HS", goal),
                            [daemon.managed("batch0"), daemon.managed("batch1")],
                            [LATENCY, ["PF"] * len(LATENCY), ["GESUMMV"] * len(LATENCY)], self.options.seconds,
                            self.options.settle, daemon)

    def static(self, method, daemon):
        self.learn(daemon, ["HS"])  # the part of the SMs is the goal, whatever the rate
        for goal in GOALS:
            tasks, others = zip(*self.pairs())
            self.beside(method, [goal] * len(tasks), daemon.managed("HS", goal), [daemon.managed("batch")],
                        [tasks, others], self.options.seconds, self.options.settle, daemon)

    def part_static_workers(self):
        with Daemon(self, "--policy", "static_smqos:rounding=up", "--workers") as daemon:
            self.static("static-workers", daemon)

    def dynamic(self, method, daemon, tasks, goals, batches):
        for task in tasks:
            for goal in goals:
                # The program asks for a little more than its goal, as a service would.
                asked = min(goal * (1 + self.options.margin), 0.99)
                count = len(batches[0])
                self.beside(method, [goal] * count, daemon.managed(task, asked),
                            [daemon.managed(f"batch{i}") for i in range(len(batches))], [[task] * count] + batches,
                            self.options.dynamic_seconds, self.options.dynamic_settle, daemon)

    def smqos(self, *options):
        return Daemon(self, "--policy", f"smqos:epoch={self.options.epoch}:batch_keeps=1", *options)

    def part_dynamic_workers(self):
        with self.smqos("--workers") as daemon:
            self.learn(daemon, LATENCY)
            self.dynamic("dynamic-workers", daemon, LATENCY, GOALS, [BATCH])

    def part_dynamic(self):
        with self.smqos(*self.sms_of_owners()) as daemon:
            self.learn(daemon, LATENCY)
            self.dynamic("dynamic", daemon, LATENCY, GOALS, [BATCH])
            self.dynamic("dynamic-3", daemon, LATENCY, [0.90, 0.95], [["PF"], ["GESUMMV"]])

    def part_quota(self):
        with Daemon(self, "--policy", self.options.quota) as daemon:
            self.learn(daemon, LATENCY)
            self.dynamic("quota", daemon, LATENCY, GOALS, [BATCH])

    def part_logs(self):
        """The decisions of smqos and dss for hotspot beside pathfinder, with the rates that led to them."""
        for policy in (f"smqos:epoch={self.options.epoch}:batch_keeps=1", "dss"):
            file = os.path.join(self.out, f"decisions-{policy.split(':')[0]}.txt")
            with Daemon(self, "--policy", policy, "--sm-group", "8", "--decisions", file) as daemon:
                self.learn(daemon, ["HS"])
                self.beside(f"log-{policy.split(':')[0]}", [0.9], daemon.managed("HS", 0.9 if policy != "dss" else None), [daemon.managed("PF")],
                            [["HS"], ["PF"]], self.options.dynamic_seconds * 2, self.options.dynamic_settle, daemon)

    def save(self):
        document = {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"), "driver": self.driver,
                    "command": "validation/cuda_qos/run.py " + " ".join(sys.argv[1:]),
                    "seconds": time.time() - self.started, "summary": self.summary(), "errors": self.errors,
                    "rows": self.rows}
        with open(os.path.join(self.out, "cuda-qos.json"), "w") as file:
            json.dump(document, file, indent=1)

    def summary(self):
        found = {}
        for method in ("mps", "workers", "relaunch", "static", "dynamic", "static-workers", "dynamic-workers", "quota", "static-3",
                       "dynamic-3"):
            rows = [row for row in self.rows if row["method"] == method and "npm" in row]
            if not rows:
                continue
            npm = lambda row: row.get("npm_in_process", row["npm"])
            at_95 = [row for row in rows if row["goal"] == 0.95]
            reached = [row for row in rows if npm(row) >= 1]
            mean = lambda values: sum(values) / len(values) if values else None
            found[method] = {"co_runs": len(rows), "reach": len(reached) / len(rows),
                             "reach_at_95": mean([npm(row) >= 1 for row in at_95]),
                             "reach_with_other_process": mean([row["npm"] >= 1 for row in rows]),
                             "mean_npm": mean([npm(row) for row in rows]), "worst_npm": min(npm(row) for row in rows),
                             "mean_ntp": mean([mean(row["ntp"]) for row in rows]),
                             "mean_ntp_where_reached": mean([mean(row["ntp"]) for row in reached])}
        return found


def read_isolated(run, file):
    for row in json.load(open(file))["rows"]:
        if row["method"] == "single" and row["ms"] > 0:
            run.isolated[row["task"]] = min(row["ms"], run.isolated.get(row["task"], row["ms"]))


def driver():
    done = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                          capture_output=True, text=True, check=False) if os.path.exists("/usr/bin/nvidia-smi") else None
    return done.stdout.strip() if done is not None else "simulated"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/device")
    parser.add_argument("--out", required=True)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--program", help="tasks.cu compiled; without it nvcc is called")
    parser.add_argument("--isolated", help="a file of an earlier run with the part single")
    parser.add_argument("--size", default="full", choices=["small", "full"])
    parser.add_argument("--goals", default="0.80,0.85,0.90,0.95")
    parser.add_argument("--sms", type=int, default=132)
    parser.add_argument("--sm-group", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--settle", type=float, default=0.08)
    parser.add_argument("--in-process", type=float, default=0.15)
    parser.add_argument("--learn", type=float, default=1.7)
    parser.add_argument("--epoch", type=int, default=1000)
    parser.add_argument("--quota", default="quota", help="the policy of the part quota, with its parameters")
    parser.add_argument("--margin", type=float, default=0.02)
    parser.add_argument("--dynamic-seconds", type=float, default=1.0)
    parser.add_argument("--dynamic-settle", type=float, default=0.5)
    parser.add_argument("--probe-seconds", type=float, default=3)
    options = parser.parse_args()
    GOALS[:] = [float(goal) for goal in options.goals.split(",")]
    os.makedirs(options.out, exist_ok=True)
    if options.program is None:
        options.program = os.path.join(os.path.abspath(options.out), "tasks")
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tasks.cu")
        subprocess.run(["nvcc", "-O2", "-std=c++20", "-arch=sm_90", source, "-o", options.program, "-lcuda"], check=True)
    run = Run(options)
    if options.isolated:
        read_isolated(run, options.isolated)
    for part in options.parts.split(","):
        began = time.time()
        try:
            getattr(run, f"part_{part}")()
        except (OSError, subprocess.SubprocessError, KeyError, IndexError, ValueError) as problem:
            run.error(f"{part}: {problem!r}")
        print(f"part {part}: {time.time() - began:.1f} s", flush=True)
        run.save()
    print(json.dumps(run.summary(), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
