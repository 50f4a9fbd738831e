"""Inference with a small transformer of random weights, as a program that measures itself.

    inference.py SECONDS [BATCH]

One line of JSON goes to standard output: the median and p99 time of a forward pass, its result included.
"""
import json
import sys
import time

import torch


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3
    batch = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    torch.manual_seed(1)
    layer = torch.nn.TransformerEncoderLayer(d_model=512, nhead=8, dim_feedforward=2048, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, num_layers=6, enable_nested_tensor=False).eval().half().cuda()
    tokens = torch.randn(batch, 128, 512, dtype=torch.half, device="cuda")
    times = []
    with torch.inference_mode():
        for _ in range(20):
            model(tokens).float().sum().item()
        begin = time.perf_counter()
        while time.perf_counter() - begin < seconds:
            started = time.perf_counter()
            total = model(tokens).float().sum().item()
            times.append((time.perf_counter() - started) * 1e6)
    times.sort()
    print(json.dumps({
        "kind": "inference", "requests": len(times), "p50_us": round(times[len(times) // 2], 1),
        "p99_us": round(times[int(0.99 * (len(times) - 1))], 1), "finite": total == total,
        "torch": torch.__version__}))


main()
