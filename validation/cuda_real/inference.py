"""Inference with a small transformer of random weights, as a program that measures itself.

    inference.py SECONDS [RATE [SEQUENCES]]

Requests of SEQUENCES (1) arrive at RATE per second, at random times (0, the default: each follows the one before it). One line of JSON
goes to standard output: the median and p99 time from a request's arrival to its result, and the requests answered per
second. PAIR_BEGIN (seconds since 1970) is the begin of the measured time, as in pair.cu; requests come before it too.
"""
import json
import os
import random
import sys
import time

import torch


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3
    rate = float(sys.argv[2]) if len(sys.argv) > 2 else 0
    sequences = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    torch.manual_seed(1)
    arrivals = random.Random(1)
    layer = torch.nn.TransformerEncoderLayer(d_model=512, nhead=8, dim_feedforward=2048, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, num_layers=6, enable_nested_tensor=False).eval().half().cuda()
    tokens = torch.randn(sequences, 128, 512, dtype=torch.half, device="cuda")
    times = []
    with torch.inference_mode():
        for _ in range(20):
            model(tokens).float().sum().item()
        now = time.time()
        begin = float(os.environ.get("PAIR_BEGIN", now))
        arrival = now
        while arrival < begin + seconds:
            while time.time() < arrival:
                time.sleep(max(arrival - time.time() - 1e-4, 0))
            total = model(tokens).float().sum().item()
            if arrival >= begin:
                times.append((time.time() - arrival) * 1e6)
            arrival = arrival + arrivals.expovariate(rate) if rate > 0 else time.time()
    times.sort()
    print(json.dumps({
        "kind": "inference", "sequences": sequences, "requests": len(times), "p50_us": round(times[len(times) // 2], 1),
        "p99_us": round(times[int(0.99 * (len(times) - 1))], 1), "requests_per_second": round(len(times) / seconds, 1),
        "late_ms": round(max(now - begin, 0) * 1e3), "finite": total == total, "torch": torch.__version__}))


main()
