"""Training of a small transformer with random data, as a program that measures itself.

    training.py SECONDS [SEQUENCES]

A step takes SEQUENCES (16). One line of JSON goes to standard output: training steps per second. PAIR_BEGIN (seconds
since 1970) is the begin of the measured time, as in pair.cu; the program works before it.
"""
import json
import os
import sys
import time

import torch


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3
    sequences = int(sys.argv[2]) if len(sys.argv) > 2 else 16
    torch.manual_seed(2)
    layer = torch.nn.TransformerEncoderLayer(d_model=1024, nhead=16, dim_feedforward=4096, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, num_layers=6, enable_nested_tensor=False).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    tokens = torch.randn(sequences, 256, 1024, device="cuda")

    def step() -> float:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(tokens).float().square().mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss

    for _ in range(5):
        step()
    torch.cuda.synchronize()
    begin = float(os.environ.get("PAIR_BEGIN", time.time()))
    late = time.time() - begin
    while time.time() < begin:
        step().item()
    steps, started = 0, time.time()
    while time.time() < begin + seconds:
        value = step().item()
        steps += 1
    passed = time.time() - started
    print(json.dumps({"kind": "training", "sequences": sequences, "launches": steps, "launches_per_second": round(steps / passed, 2),
                      "late_ms": round(max(late, 0) * 1e3), "wrong": 0 if value == value else 1,
                      "torch": torch.__version__}))


main()
