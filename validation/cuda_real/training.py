"""Training of a small transformer with random data, as a program that measures itself.

    training.py SEQUENCES…

Commands come on standard input (commands.py), for any of these SEQUENCES, which a step takes. A result has the training steps per second.
"""
import sys
import time

import torch

from commands import serve


def prepare():
    torch.manual_seed(2)
    layer = torch.nn.TransformerEncoderLayer(d_model=1024, nhead=16, dim_feedforward=4096, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, num_layers=6, enable_nested_tensor=False).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    tokens = {int(n): torch.randn(int(n), 256, 1024, device="cuda") for n in sys.argv[1:]}

    def step(sequences) -> float:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(tokens[sequences]).float().square().mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.item()

    for sequences in tokens:
        for _ in range(5):
            step(sequences)
    return step


def measure(step, begin, seconds, sequences, _):
    while time.time() < begin:
        step(sequences)
    steps, started, value = 0, time.time(), 0.0
    while time.time() < begin + seconds:
        value = step(sequences)
        steps += 1
    return {"kind": "training", "sequences": sequences, "launches": steps,
            "launches_per_second": round(steps / (time.time() - started), 2), "wrong": 0 if value == value else 1,
            "torch": torch.__version__}


serve(prepare, measure)
