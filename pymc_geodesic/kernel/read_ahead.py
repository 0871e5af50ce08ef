#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Items of an iterator, read in a thread before they are needed."""

from __future__ import annotations

import os

from collections.abc import Callable, Generator
from contextlib import closing
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any

__all__ = ["ReadAhead"]


Items = Callable[[Callable[[], bool]], Generator[Any]]
"""``wanted -> items``: creates a generator, which may stop early once ``wanted()`` is false."""


class ReadAhead:
    """Take items from a generator while a thread already reads the next one.

    A generator runs in one thread from its first item to its end, as database connections require.
    The thread is a daemon, so that a generator that blocks does not keep Python from exiting.
    Each object serves one generator. To begin again, abandon the object and create another.

    Parameters
    ----------
    items : callable
        Creates the generator.
    """

    def __init__(self, items: Items) -> None:
        self._requests: SimpleQueue[None] = SimpleQueue()
        self._results: SimpleQueue[tuple[bool, Any]] = SimpleQueue()
        self._abandoned, self._failed = Event(), False
        self._process = os.getpid()
        # The thread holds no reference to this object, so that it ends with the object.
        arguments = items, self._requests, self._results, self._abandoned
        self._thread = Thread(target=_serve, args=arguments, daemon=True, name="read_ahead")
        self._thread.start()
        self._requests.put(None)

    @property
    def is_open(self) -> bool:
        """Whether items can be taken: not once abandoned or failed, nor in a forked process."""
        return self._is_ours and not self._failed and not self._abandoned.is_set()

    @property
    def _is_ours(self) -> bool:
        return self._process == os.getpid()

    def take(self) -> Any:
        """Return the next item, and request the one after it.

        Raises
        ------
        Exception
            The error of the generator.
        """
        # Requested first: an interrupt while waiting must not leave the next call without an item.
        self._requests.put(None)
        succeeded, item = self._results.get()
        if not succeeded:
            self._failed = True
            raise item
        return item

    def abandon(self) -> None:
        """Close the generator as soon as possible, without waiting for it."""
        if self._is_ours:
            self._abandoned.set()
            self._requests.put(None)

    def close(self) -> None:
        """Abandon the generator and wait until it is closed."""
        self.abandon()
        if self._is_ours:
            self._thread.join()

    def __del__(self) -> None:
        """Let the thread end with the object."""
        self.abandon()


def _serve(items: Items, requests: SimpleQueue, results: SimpleQueue, abandoned: Event) -> None:
    """Return an item for each request; the body of the thread."""
    with closing(items(lambda: not abandoned.is_set())) as generator:
        while True:
            requests.get()
            if abandoned.is_set():
                return
            try:
                results.put((True, next(generator)))
            # A loader that exits must not leave the sampler waiting.
            except BaseException as error:
                results.put((False, error))
                return
