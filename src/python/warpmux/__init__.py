"""GPU sharing policies in simulation, from Python.

>>> import warpmux
>>> run = warpmux.simulate(["vecadd:size=small", "fma:size=small"], policy="spatial", gpu="qos16", cycles=5000)
>>> run.policy
'spatial'
>>> [k.name for k in run.kernels]
['vecadd', 'fma']
>>> run.metrics["stp"] > 0
True

Kernels are words as on the command line: ``NAME[:key=value]...`` (``sgemm:goal=0.9``). The cycle machine runs them.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable
from typing import Any, Callable, Optional, Sequence, Union

from . import _core
from ._core import Error, Machine
from .policy import Policy
from .results import Comparison, Run, Sweep

__all__ = ["Comparison", "Error", "Kernel", "Machine", "Policy", "Run", "Sweep", "compare", "gpus", "kernel", "kernels",
           "policies", "read_store", "simulate", "sweep"]

Progress = Union[bool, Callable[[str, float], None], None]
PolicyLike = Union[str, type]


def __dir__() -> list[str]:
    return sorted(__all__)


def policies() -> list[str]:
    """The names of all policies.

    >>> "quota" in warpmux.policies()
    True
    """
    return _core.policy_names()


def kernels() -> list[str]:
    """The names of the benchmarks of the zoo.

    >>> "sgemm" in warpmux.kernels()
    True
    """
    return _core.kernel_names()


def gpus() -> list[str]:
    """The names of the GPU configurations.

    >>> "qos16" in warpmux.gpus()
    True
    """
    return sorted(name[:-5] for name in os.listdir(_core.gpu_folder()) if name.endswith(".yaml"))


def _words(kernels: Any) -> list[str]:
    words = [kernels] if isinstance(kernels, str) else list(kernels) if isinstance(kernels, Iterable) else [kernels]
    if not all(isinstance(k, str) for k in words):
        raise TypeError(f"'kernels' must be a word such as 'sgemm:goal=0.9' or a list of words, not {kernels!r}")
    return words


def _check(policy: Any, progress: Any, options: dict[str, Any]) -> None:
    if not isinstance(policy, str) and not (isinstance(policy, type) and issubclass(policy, Policy)):
        raise TypeError(f"'policy' must be a name or a subclass of warpmux.Policy, not {policy!r}")
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise TypeError(f"'progress' must be True, False or a function of a name and a fraction, not {progress!r}")
    for name in ("once", "timeline"):
        value = options.get(name, False)
        if not isinstance(value, (bool, int)) and type(value).__name__ not in ("bool_", "bool") or value not in (0, 1):
            raise TypeError(f"'{name}' must be True or False, not {value!r}")
    for name in ("gpu", "size", "cache"):
        if not isinstance(options.get(name, ""), (str, os.PathLike)):
            raise TypeError(f"'{name}' must be a text, not {options[name]!r}")


def _request(kernels: Union[str, Sequence[str]], policy: PolicyLike, progress: Progress, options: dict[str, Any]) -> Any:
    _check(policy, progress, options)
    request = _core.Request()
    request.kernels = _words(kernels)
    for name, value in options.items():
        if name in ("gpu", "size", "cache"):
            value = os.fspath(value)
        setattr(request, name, bool(value) if name in ("once", "timeline") else value)
    if not 1 <= options.get("threads", 1) <= 64:
        raise ValueError(f"'threads' must be a whole number from 1 to 64, not {options['threads']!r}")
    if isinstance(policy, str):
        request.policy = policy
        request.policy_factory = None
    else:
        request.policy = policy.name
        request.policy_factory = policy
        request.needs = list(policy.needs)
    if progress is True:
        from .progress import Bar
        request.progress = Bar()
    elif callable(progress):
        request.progress = progress
    return request


def simulate(kernels: Union[str, Sequence[str]], *, policy: PolicyLike = "left_over", gpu: str = "qos16",
             cycles: int = 0, once: bool = False, size: str = "medium", seed: int = 1, threads: int = 1,
             timeline: bool = True, progress: Progress = None, cache: Optional[str] = None) -> Run:
    """Runs kernels together on a simulated GPU.

    `policy` is ``NAME[:parameter=value]...`` or a subclass of :class:`Policy`. Kernels repeat until `cycles`; without
    `cycles`, a co-run is as long as the longest isolated run times the number of kernels. With `once`, each kernel runs
    once, as one kernel by itself does. `progress` is True for a bar, or a function of a name and a fraction. Rates of
    isolated runs are kept in `cache` (default: the user's cache).

    >>> run = warpmux.simulate("fma:size=small", cycles=2000, timeline=False)
    >>> run.kernels[0].verified is None or run.kernels[0].verified
    True
    """
    options: dict[str, Any] = dict(gpu=gpu, cycles=cycles, once=once, size=size, seed=seed, threads=threads,
                                   timeline=timeline)
    if cache is not None:
        options["cache"] = cache
    request = _request(kernels, policy, progress, options)
    run = Run(json.loads(_core.simulate(request)))
    for k in run.data["kernels"]:
        if k["verified"] is False:
            warnings.warn(f"{k['name']} computed a wrong result under {run.policy}: {k['mismatch']}", stacklevel=2)
    if request.progress is not None:
        request.progress(run.policy, 1.0)
    return run


def compare(kernels: Union[str, Sequence[str]], policies: Union[PolicyLike, Iterable[PolicyLike]] = "all",
            **options: Any) -> Comparison:
    """The same co-run under several policies; ``"all"`` are those that fit the kernels. `options` are those of :func:`simulate`.

    >>> c = warpmux.compare(["fma:size=small", "vecadd:size=small"], ["spatial", "even"], cycles=3000)
    >>> sorted(run.policy for run in c.runs)
    ['even', 'spatial']
    """
    if not isinstance(policies, (str, type, Iterable)):
        raise TypeError(f"'policies' must be a policy or a list of policies, not {policies!r}")
    wanted: list[PolicyLike] = [policies] if isinstance(policies, (str, type)) else list(policies)
    names = [p for p in wanted if isinstance(p, str)]
    chosen: list[PolicyLike] = [p for p in wanted if not isinstance(p, str)]
    unfit: dict[str, str] = {}
    if names:
        keys = ("gpu", "cycles", "once", "size", "seed")
        request = _request(kernels, "left_over", None, {k: v for k, v in options.items() if k in keys})
        fit, refused = _core.fitting(request, names)
        chosen += fit
        unfit = dict(refused)
    runs = [simulate(kernels, policy=p, **options) for p in chosen]
    def order(run: Run) -> tuple[float, ...]:
        return (-run.goals_reached, run.starved, run.metrics["worst_ntt"], -run.metrics["stp"])

    return Comparison(sorted(runs, key=order), unfit)


def sweep(kernels: Union[str, Sequence[str]], *, progress: Progress = None, **axes: Any) -> Sweep:
    """Every combination of the axes; a list, a tuple, a range or an array is an axis, anything else is fixed.

    >>> s = warpmux.sweep("fma:size=small", policy=["left_over", "spatial"], cycles=[1000, 2000], timeline=False)
    >>> len(s.rows)
    4
    >>> s.rows[0]["policy"], s.rows[0]["cycles"]
    ('left_over', 1000)
    """
    import itertools

    axes = {n: v.tolist() if hasattr(v, "tolist") else v for n, v in axes.items()}  # numpy and pandas
    names = [n for n, v in axes.items() if isinstance(v, (list, tuple, range))]
    fixed = {n: v for n, v in axes.items() if n not in names}
    points = list(itertools.product(*(axes[n] for n in names)))
    report = progress
    if progress is True:
        from .progress import Bar
        report = Bar()
    runs = []
    for i, point in enumerate(points):
        values = dict(zip(names, point))
        runs.append((values, simulate(kernels, **fixed, **values)))
        if callable(report):
            report("sweep", (i + 1) / len(points))
    return Sweep(names, runs)


def read_store(path: str) -> list[dict[str, Any]]:
    """The rows of a store of results (``wm-lab.db``, rows as ``.ndjson``, or exported ``.json``): key, spec, command, state, run_hash, result, ..."""
    return json.loads(_core.read_store(os.fspath(path)))


class Kernel:
    """A kernel of a PTX file, executed functionally on numpy arrays. Made by :func:`kernel`."""

    def __init__(self, file: str, name: str = "", fmad: str = "on") -> None:
        if not isinstance(file, (str, os.PathLike)):
            raise TypeError(f"'file' must be the path of a PTX file, not {file!r}")
        if not isinstance(name, str):
            raise TypeError(f"'name' must be the name of a kernel, not {name!r}")
        with open(file, encoding="utf-8", errors="replace") as text:
            self._kernel = _core.Kernel(os.fspath(file), text.read(), name, fmad)

    @property
    def name(self) -> str:
        """The kernel's name in the PTX file."""
        return self._kernel.name

    @property
    def parameters(self) -> list[str]:
        """The types of the parameters, in order."""
        return self._kernel.parameters

    def run(self, grid: Union[int, Sequence[int]], block: Union[int, Sequence[int]], *arguments: Any, shared: int = 0,
            max_instructions: int = 0) -> dict[str, Any]:
        """Executes the kernel over `grid` blocks of `block` threads.

        Arrays are buffers and are changed in place; numbers are scalars of the parameter's type. Returns the counts of
        blocks and instructions and what the kernel printed. A fault raises :class:`Error`, and no array is changed.
        """
        return self._kernel.run(grid, block, arguments, shared, max_instructions)

    def __repr__(self) -> str:
        return f"<warpmux.Kernel {self.name}({', '.join(self.parameters)})>"


def kernel(file: str, name: str = "", *, fmad: str = "on") -> Kernel:
    """The kernel `name` of a PTX file; `name` may be left out where the file has one. `fmad` ("on", "off") says whether products are fused into additions.

    ``warpmux.kernel("x.ptx", "add").run(grid, block, a, b, out)``
    """
    return Kernel(file, name, fmad)
