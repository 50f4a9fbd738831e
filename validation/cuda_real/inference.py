"""Inference with a small transformer of random weights, as a program that measures itself.

    inference.py SEQUENCES…

Commands come on standard input (commands.py), for any of these SEQUENCES. Requests of that many arrive at RATE per second, at random times (0: each
follows the one before it). A result has the median and p99 time from a request's arrival to its result, and the requests
answered per second.
"""
import random
import sys
import time

import torch

from commands import serve


def prepare():
    torch.manual_seed(1)
    layer = torch.nn.TransformerEncoderLayer(d_model=512, nhead=8, dim_feedforward=2048, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, num_layers=6, enable_nested_tensor=False).eval().half().cuda()
    tokens = {int(n): torch.randn(int(n), 128, 512, dtype=torch.half, device="cuda") for n in sys.argv[1:]}

    def request(sequences) -> float:
        with torch.inference_mode():
            return model(tokens[sequences]).float().sum().item()

    for sequences in tokens:
        for _ in range(20):
            request(sequences)
    return request


def measure(request, begin, seconds, sequences, rate):
    arrivals = random.Random(1)
    times, arrival, total = [], time.time(), 0.0
    while arrival < begin + seconds:
        while time.time() < arrival:
            time.sleep(max(arrival - time.time() - 1e-4, 0))
        total = request(sequences)
        if arrival >= begin:
            times.append((time.time() - arrival) * 1e6)
        arrival = arrival + arrivals.expovariate(rate) if rate > 0 else time.time()
    times.sort()
    return {"kind": "inference", "sequences": sequences, "requests": len(times),
            "p50_us": round(times[len(times) // 2], 1), "p99_us": round(times[int(0.99 * (len(times) - 1))], 1),
            "requests_per_second": round(len(times) / seconds, 1), "finite": total == total, "torch": torch.__version__}


serve(prepare, measure)
