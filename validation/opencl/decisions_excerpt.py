#!/usr/bin/env python3
"""A readable excerpt of a policy's decisions (`--decisions FILE` of `wm serve` and `wm sim`), chosen by a fixed rule.

  validation/opencl/decisions_excerpt.py LOG [--lines N] [--caps N]

The excerpt begins with the last arrival of the second kernel (k1) before which it was not known, at time 0: that is where the
two programs meet. It has

  - the first N lines of decisions (--lines, default 40) with the arrivals, ends, epochs and wake-ups among them;
  - behind them the first N times at which a cap changes (--caps, default 4).

Actions of one time that differ in the SM only are one line. `sm … idle` and `quota of … spent` are left out, and the ends and arrivals of launches
between two decisions are counted. The last line tells how many lines the log has.
"""
import argparse
import re

ACTION = re.compile(r"(give|cap|quota|switch|gate) sm ([0-9,-]+) (.*)")


def numbers(text):
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def spelled(sms):
    """0-131, or 0, 4, … 128."""
    sms = sorted(set(sms))
    if len(sms) == 1:
        return str(sms[0])
    steps = {b - a for a, b in zip(sms, sms[1:])}
    if steps == {1}:
        return f"{sms[0]}-{sms[-1]}"
    if len(steps) == 1 and len(sms) > 3:
        return f"{sms[0]}, {sms[1]}, … {sms[-1]}"
    return ", ".join(map(str, sms)) if len(sms) <= 8 else f"{', '.join(map(str, sms[:4]))}, … {sms[-1]} ({len(sms)} SMs)"


class Excerpt:
    def __init__(self, start):
        self.start = start
        self.lines = []
        self.group = {}
        self.time = None
        self.launches = {}
        self.ended = ""

    def close(self):
        for what, sms in self.group.items():
            action, rest = what
            self.say(self.time, f"{action} sm {spelled(sms)} {rest}")
        self.group = {}

    def note(self, time, text):
        if time != self.time:
            self.close()
            self.time = time
        match = ACTION.fullmatch(text)
        if match:
            self.tell_launches()
            self.group.setdefault((match[1], match[3]), []).extend(numbers(match[2]))
            return
        ended = re.fullmatch(r"> (k\d+) (done|arrived)", text)
        if ended and (time != self.start):
            self.launches[ended[1]] = self.launches.get(ended[1], 0) + (ended[2] == "done")
            return
        self.tell_launches()
        self.close()
        self.say(time, text)

    def say(self, time, text):
        self.lines.append(f"{time - self.start} {text}{self.ended}")
        self.ended = ""

    def tell_launches(self):
        ends = {k: n for k, n in self.launches.items() if n}
        self.launches = {}
        if ends:
            self.close()
            self.ended = "   # since the line above: " + ", ".join(f"{n} of {k} ended" for k, n in sorted(ends.items()))


def meeting(lines):
    """The last arrival of k1 behind a line at which both are not known: a quota or cap of k1 follows at the same time."""
    found = None
    for i, (time, text) in enumerate(lines):
        if text == "> k1 arrived" and any(t == time and re.match(r"(cap|give|epoch)\b.*", x) for t, x in lines[i + 1:i + 4]):
            found = i
    return found if found is not None else next(i for i, (_, text) in enumerate(lines) if text == "> k1 arrived")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("log")
    parser.add_argument("--lines", type=int, default=40)
    parser.add_argument("--caps", type=int, default=4)
    options = parser.parse_args()
    with open(options.log) as file:
        raw = [line.rstrip("\n").split(" ", 1) for line in file]
    lines = [(int(time), text) for time, text in raw]
    begin = meeting(lines)
    excerpt = Excerpt(lines[begin][0])
    rest = begin
    for rest in range(begin, len(lines)):
        time, text = lines[rest]
        if re.match(r"> (sm|quota) ", text):
            continue
        if len(excerpt.lines) >= options.lines and time != excerpt.time:
            break
        excerpt.note(time, text)
    excerpt.close()
    print("\n".join(excerpt.lines[:options.lines]))
    later = Excerpt(excerpt.start)
    times = []
    for time, text in lines[rest:]:
        if not text.startswith("cap "):
            continue
        if time not in times:
            times.append(time)
        if len(times) <= options.caps:
            later.note(time, text)
    later.close()
    if later.lines:
        print("caps that change later:")
        print("\n".join(later.lines))
    if len(times) > options.caps:
        print(f"… and at {len(times) - options.caps} later times")
    print(f"{len(lines)} lines in the log")


if __name__ == "__main__":
    main()
