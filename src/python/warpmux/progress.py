"""A progress bar on stderr, for terminals and notebooks."""

from __future__ import annotations

import sys
import time


class Bar:
    """Called with the name of a run and the fraction of it that is done; prints at most ten times a second."""

    def __init__(self, width: int = 30) -> None:
        self._width = width
        self._printed = 0.0

    def __call__(self, name: str, done: float) -> None:
        now = time.monotonic()
        if done < 1 and now - self._printed < 0.1:
            return
        self._printed = now
        filled = int(done * self._width)
        end = "\n" if done >= 1 else ""
        sys.stderr.write(f"\r{name:16.16} [{'#' * filled}{'.' * (self._width - filled)}] {done:4.0%}{end}")
        sys.stderr.flush()
