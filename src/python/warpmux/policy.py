"""The contract of a policy that is written in Python."""

from __future__ import annotations

import difflib
from typing import Any, ClassVar, Sequence

_HANDLERS = ("on_started", "on_kernel_arrived", "on_kernel_done", "on_kernel_set_changed", "on_block_done", "on_sm_idle",
             "on_sm_ready", "on_preempted", "on_quota_spent", "on_epoch", "on_wake")


class Policy:
    """Base class of policies. A subclass defines the handlers that it needs, with these arguments:

    ========================================  =====================================================
    ``on_started(gpu)``                       once, before everything else
    ``on_kernel_arrived(gpu, kernel)``        a launch is ready to start blocks
    ``on_kernel_done(gpu, kernel)``           the last block of a launch ended
    ``on_kernel_set_changed(gpu)``            after all arrivals and ends of one instant
    ``on_block_done(gpu, sm, kernel)``        needs ``see_blocks``
    ``on_sm_idle(gpu, sm)``                   the SM is empty and no block may start there
    ``on_sm_ready(gpu, sm, owner)``           the blocks in the owner's way have left
    ``on_preempted(gpu, sm, kernel, n)``      n blocks were switched out
    ``on_quota_spent(gpu, sm, kernel)``       the quota fell to 0 or below
    ``on_epoch(gpu, length)``                 an epoch has ended; counters are cleared after this
    ``on_wake(gpu, tag)``                     a wake-up that was asked for
    ========================================  =====================================================

    `gpu` is a :class:`warpmux.Machine`, valid during the call. SMs and kernels are numbers. The object is created for
    each run. A policy decides from events only: it must not use clocks, threads or random numbers of its own.

    >>> class Halves(Policy):
    ...     name = "halves"
    ...     needs = ("own_sms", "drain")
    ...     def on_kernel_set_changed(self, gpu):
    ...         kernels = gpu.kernels
    ...         for sm in gpu.sms:
    ...             if kernels:
    ...                 gpu.give(sm.id, kernels[sm.id * len(kernels) // len(gpu.sms)].id)
    >>> Halves.needs
    ('own_sms', 'drain')
    """

    name: ClassVar[str] = "python"
    needs: ClassVar[Sequence[str]] = ()

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        for handler in (n for n in dir(cls) if n.startswith("on_") and n not in _HANDLERS):
            near = difflib.get_close_matches(handler, _HANDLERS, 1)
            raise TypeError(f"{cls.__name__}: there is no event {handler!r}" + (f" (did you mean {near[0]!r}?)" if near else ""))
        if not isinstance(cls.name, str) or isinstance(cls.needs, str) or not all(isinstance(n, str) for n in cls.needs):
            raise TypeError(f"{cls.__name__}: 'name' is a text and 'needs' a list of texts")
