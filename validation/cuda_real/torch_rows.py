"""PyTorch by itself and beside other programs: rows of run.sh.

    torch_rows.py --wm WM --pair PAIR --out FOLDER [--seconds S] [--repeats N] [--parts single,pairs]

Appends to FOLDER/cuda-real.jsonl. All processes import PyTorch and make their models at the same time, before the first
measurement, and each serves several (commands.py); one that is not measured is idle. `single` compares programs by themselves,
native and under `wm serve --cuda`, in turns; `pairs` has inference with random arrivals beside training, small ones that the
host limits and large ones that the GPU limits, and beside the batch program: in time slices, through MPS, through MPS with a
lower priority of the other client, and under `wm serve --cuda --sharing mps`. The NULL stream of PyTorch has no priority, so
that MPS with stream priorities is plain MPS for it.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SETTLE, SEARCH = 1.2, 9.0  # seconds before a measurement; with a daemon that searches for limits
SMALL, LARGE = 1, 256      # sequences of a request …
RATES = {SMALL: 200, LARGE: 80, 512: 0}  # … and requests per second


class Daemon:
    def __init__(self, options, sharing):
        self.wm, self.socket = options.wm, tempfile.mktemp(prefix="wm-torch-")
        log = open(os.path.join(options.out, "serve.txt"), "a")
        self.process = subprocess.Popen([self.wm, "serve", "--cuda", "--sharing", sharing, "--socket", self.socket],
                                        stdout=log, stderr=log)
        for _ in range(400):
            if os.path.exists(self.socket) or self.process.poll() is not None:
                break
            time.sleep(0.05)
        self.pipe = self.status().get("arbiter", {}).get("mps_pipe_folder", "")

    def status(self):
        done = subprocess.run([self.wm, "status", "--socket", self.socket, "--json", "-"], capture_output=True,
                              text=True, check=False)
        return json.loads(done.stdout) if done.stdout.startswith("{") else {}

    def run(self, *options):
        return [self.wm, "run", "--socket", self.socket, *options, "--"]

    def mps(self, priority=None):
        words = ["env", f"CUDA_MPS_PIPE_DIRECTORY={self.pipe}"]
        return words + ([] if priority is None else [f"CUDA_MPS_CLIENT_PRIORITY={priority}"])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Program:
    """inference.py or training.py."""

    def __init__(self, options, prefix, *words):
        errors = open(os.path.join(options.out, "errors.txt"), "a")
        command = prefix + [sys.executable, os.path.join(HERE, words[0]), *(str(word) for word in words[1:])]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True)

    def answer(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        raise OSError(f"{self.process.args} has ended")

    def command(self, *words):
        self.process.stdin.write(" ".join(str(word) for word in words) + "\n")
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Rows:
    def __init__(self, options):
        self.options = options
        self.file = open(os.path.join(options.out, "cuda-real.jsonl"), "a")

    def write(self, row):
        print(json.dumps(row), file=self.file, flush=True)
        if "result" in row:
            print(f"{time.time() - self.options.started:6.1f} s", json.dumps(row), flush=True)

    def by_itself(self, setup, program, sequences, rate):
        program.command("measure", time.time() + 0.3, self.options.seconds, sequences, rate)
        self.write({"setup": setup, "beside": "none", "result": program.answer()})

    def beside(self, setup, service, sequences, other, of_step, daemon):
        """`other`: a program whose steps take `of_step` sequences, or the command of the batch program."""
        is_training = isinstance(other, Program)
        settle = (SETTLE if daemon is None else SEARCH) + (0 if is_training else 1.0)
        begin, seconds = time.time() + settle, 2 * self.options.seconds
        if is_training:
            other.command("measure", begin, seconds, of_step)
        else:
            batch = subprocess.Popen(other + [self.options.pair, "compute", str(seconds)], stdout=subprocess.PIPE,
                                     text=True, env=dict(os.environ, PAIR_BEGIN=f"{begin:.3f}"))
        service.command("measure", begin, seconds, sequences, RATES[sequences])
        name = "training" if is_training else "compute"
        if daemon is not None:
            time.sleep(max(begin + 0.8 * seconds - time.time(), 0))
            self.write({"setup": setup, "beside": name, "sequences": sequences, "status": daemon.status()})
        self.write({"setup": setup, "beside": name, "result": service.answer()})
        result = other.answer() if is_training else json.loads(batch.communicate(timeout=60)[0])
        self.write({"setup": setup, "beside": "inference", "result": result})


def pair(rows, setup, service, training, batch, daemon):
    rows.by_itself(setup, service, SMALL, RATES[SMALL])
    rows.by_itself(setup, service, LARGE, RATES[LARGE])
    rows.by_itself(setup, training, 64, 0)
    rows.beside(setup, service, LARGE, training, 64, daemon)
    rows.beside(setup, service, SMALL, training, 16, daemon)
    training.end()
    rows.beside(setup, service, SMALL, batch, 0, daemon)
    service.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wm", required=True)
    parser.add_argument("--pair", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--parts", default="single,pairs")
    parser.add_argument("--setups", default="native,mps,mps-priority,ours-mps")
    options = parser.parse_args()
    options.started = time.time()
    rows = Rows(options)
    isolated, mps = Daemon(options, "isolated"), Daemon(options, "mps")
    starts = {"native": ([], [], None), "mps": (mps.mps(), mps.mps(), None), "mps-priority": (mps.mps(0), mps.mps(1), None),
              "ours-mps": (mps.run("--priority", "5"), mps.run(), mps)}
    singles, pairs = [], []
    if "single" in options.parts:
        # Requests of one sequence would wait for the host, whose times vary; these wait for the GPU.
        singles = [(setup, Program(options, prefix, words, sequences), sequences)
                   for words, sequences in (("inference.py", 512), ("training.py", 128))
                   for setup, prefix in (("native", []), ("ours-isolated", isolated.run()))]
    if "pairs" in options.parts:
        pairs = [(setup, Program(options, starts[setup][0], "inference.py", SMALL, LARGE),
                  Program(options, starts[setup][1], "training.py", 16, 64)) for setup in options.setups.split(",")]
    programs = [p for _, p, _ in singles] + [p for _, *both in pairs for p in both]
    try:
        for program in programs:
            program.answer()
        print(f"{time.time() - options.started:6.1f} s: PyTorch is imported", flush=True)
        for program in programs:
            program.command("prepare")
        for program in programs:
            program.answer()
        print(f"{time.time() - options.started:6.1f} s: models are made", flush=True)
        for _ in range(options.repeats):
            for setup, program, sequences in singles:
                rows.by_itself(setup, program, sequences, 0)
        for _, program, _ in singles:
            program.end()
        for setup, service, training in pairs:
            pair(rows, setup, service, training, starts[setup][1], starts[setup][2])
    finally:
        isolated.stop()
        mps.stop()
        for program in programs:
            program.process.kill()
    print(f"{time.time() - options.started:6.1f} s: torch_rows.py has ended", flush=True)


main()
