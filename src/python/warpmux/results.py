"""Results of runs as objects, and their pictures in notebooks."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import Any, Iterator, Optional, Union

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_METRICS = {"worst_ntt": "worst slowdown", "stp": "STP", "antt": "ANTT", "fairness": "fairness"}
_COLOURS = ("#3b76c4", "#d9822b", "#3a9e6e", "#a955b8", "#c0392b", "#7f8c1f")


@dataclass(frozen=True)
class KernelResult:
    """What one kernel reached; rates in thread instructions per cycle."""

    name: str
    ipc: float
    isolated_ipc: float
    normalized: float
    goal: Optional[float]
    reached: Optional[bool]
    instructions: int
    blocks_done: int
    launches_done: int
    preemptions: int
    verified: Optional[bool]
    """Whether the output of the first complete run equals the CPU reference; None without a complete run."""


def _table(columns: list[str], rows: list[list[Any]]) -> str:
    head = "".join(f'<th scope="col">{html.escape(c)}</th>' for c in columns)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(_text(v))}</td>" for v in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


class Run:
    """One run. `data` is the document that ``wm sim --json`` writes."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    @property
    def policy(self) -> str:
        """The policy's name."""
        return self.data["policy"]

    @property
    def parameters(self) -> str:
        """The policy with all its parameters."""
        return self.data["parameters"]

    @property
    def cycles(self) -> int:
        """The length of the run."""
        return self.data["cycles"]

    @property
    def run_hash(self) -> str:
        """A digest of everything that was counted: equal runs have equal hashes."""
        return self.data["run_hash"]

    @property
    def metrics(self) -> dict[str, float]:
        """stp, antt, fairness, unfairness, worst_ntt and ipc; infinite slowdowns where a kernel made no progress."""
        return {k: math.inf if v is None else v for k, v in self.data["metrics"].items()}  # JSON has no infinity

    @property
    def kernels(self) -> list[KernelResult]:
        """One result per kernel, in the order of the arguments."""
        return [KernelResult(k["name"], k["ipc"], k["ipc_alone"], k["normalized"], k["goal"], k["reached"],
                             k["instructions"], k["blocks_done"], k["launches_done"], k["preemptions"], k["verified"])
                for k in self.data["kernels"]]

    @property
    def goals_reached(self) -> int:
        """The number of kernels that reached their goals."""
        return sum(1 for k in self.kernels if k.reached)

    @property
    def starved(self) -> float:
        """The largest part of the run in which a kernel had less than 5% of its isolated rate."""
        return max(k["starved"] for k in self.data["kernels"])

    def row(self) -> dict[str, Any]:
        """The run as one flat row: policy, metrics, and the normalized rate of each kernel."""
        row: dict[str, Any] = {"policy": self.policy, "cycles": self.cycles, **self.metrics}
        for i, k in enumerate(self.kernels):
            row[f"{k.name}.{i}"] = k.normalized
        return row

    def page(self, title: str = "") -> str:
        """A self-contained HTML page, as ``wm sim --html`` writes it."""
        return Comparison([self]).page(title)

    def timeline_svg(self, width: int = 640, row: int = 6) -> str:
        """The SMs over time, coloured by kernel, as SVG; empty where the run has no timeline."""
        t = self.data.get("timeline")
        if not t or not t["bins"]:
            return ""
        height = row * t["sms"]
        step = width / t["bins"]
        parts = []
        for k, sms in enumerate(t["held"]):
            for sm, text in enumerate(sms):
                for begin, end, level in _spans(text):
                    parts.append(f'<rect x="{begin * step:.1f}" y="{sm * row}" width="{(end - begin) * step:.1f}" '
                                 f'height="{row - 1}" fill="{_COLOURS[k % len(_COLOURS)]}" '
                                 f'fill-opacity="{level / 63:.2f}"/>')
        names = " ".join(f'<tspan fill="{_COLOURS[i % len(_COLOURS)]}">{html.escape(k.name)}</tspan>'
                         for i, k in enumerate(self.kernels))
        return (f'<svg role="img" aria-label="SMs over time" viewBox="0 0 {width} {height + 18}" width="{width}" '
                f'style="max-width:100%">{"".join(parts)}<text x="0" y="{height + 14}" font-size="12" '
                f'font-family="sans-serif">{names} <tspan fill="gray">{t["sms"]} SMs, {t["cycles"]:,} cycles</tspan>'
                f'</text></svg>')

    def _repr_html_(self) -> str:
        rows = [[k.name, k.ipc, k.isolated_ipc, k.normalized, k.goal, k.reached, k.verified] for k in self.kernels]
        m = self.metrics
        return (f"<p><b>{html.escape(self.policy)}</b> on {html.escape(self.data['gpu'])}: STP {m['stp']:.3f}, ANTT "
                f"{m['antt']:.2f}, fairness {m['fairness']:.2f}</p>"
                + _table(["kernel", "IPC", "isolated", "normalized", "goal", "reached", "verified"], rows)
                + self.timeline_svg())

    def __repr__(self) -> str:
        return f"<warpmux.Run {self.policy}: STP {self.metrics['stp']:.3f}, ANTT {self.metrics['antt']:.2f}>"


def _spans(text: str) -> Iterator[tuple[int, int, int]]:
    """(begin, end, level) of equal characters that are not zero."""
    begin = 0
    for i in range(1, len(text) + 1):
        if i == len(text) or text[i] != text[begin]:
            level = _ALPHABET.index(text[begin])
            if level:
                yield begin, i, level
            begin = i


class Comparison:
    """Runs of the same kernels under several policies, best first: most goals reached, least starvation, smallest worst slowdown."""

    def __init__(self, runs: list[Run], unfit: Optional[dict[str, str]] = None) -> None:
        self.runs = runs
        self.unfit = unfit or {}

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __getitem__(self, policy: Union[str, int]) -> Run:
        """The run of a policy, with or without its parameters, or the run of a number, best first."""
        if isinstance(policy, int):
            return self.runs[policy]
        for run in self.runs:
            if policy in (run.policy, run.parameters):
                return run
        raise KeyError(f"no run under {policy!r}; there are {', '.join(r.policy for r in self.runs) or 'none'}")

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One flat row per run, as :class:`pandas.DataFrame` takes them."""
        return [r.row() for r in self.runs]

    def page(self, title: str = "") -> str:
        """A self-contained HTML page with tables, plots and timelines, as ``wm compare --html`` writes it."""
        import json

        from . import _core

        names = " + ".join(k.name for k in self.runs[0].kernels) if self.runs else ""
        runs = []
        for i, r in enumerate(self.runs):
            data = {k: v for k, v in r.data.items() if k != "host"}
            runs.append({"id": f"{i}-{r.parameters}", "workload": names, "label": r.policy, **data})
        document = {"schema": 1, "title": title or names, "about": "Kernels together on a simulated GPU.", "runs": runs}
        return _core.page(json.dumps(document))

    def _repr_html_(self) -> str:
        if not self.runs:
            return "<p>no runs</p>"
        names = [k.name for k in self.runs[0].kernels]
        rows = [[r.policy, *(k.normalized for k in r.kernels), *(r.metrics[m] for m in _METRICS)] for r in self.runs]
        return _table(["policy", *names, *_METRICS.values()], rows) + self.runs[0].timeline_svg()

    def __repr__(self) -> str:
        return f"<warpmux.Comparison of {', '.join(r.policy for r in self.runs) or 'no runs'}>"


class Sweep:
    """Runs over combinations of axes."""

    def __init__(self, axes: list[str], runs: list[tuple[dict[str, Any], Run]]) -> None:
        self.axes = axes
        self.runs = runs

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[tuple[dict[str, Any], Run]]:
        return iter(self.runs)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One flat row per run: the values of the axes, then the results."""
        return [{**run.row(), **{k: (v if not isinstance(v, type) else v.name) for k, v in values.items()}}
                for values, run in self.runs]

    def _repr_html_(self) -> str:
        return _table([*self.axes, *_METRICS.values()],
                      [[*(v.name if isinstance(v, type) else v for v in values.values()),
                        *(run.metrics[m] for m in _METRICS)] for values, run in self.runs])

    def __repr__(self) -> str:
        return f"<warpmux.Sweep of {len(self.runs)} runs over {', '.join(self.axes) or 'no axis'}>"
