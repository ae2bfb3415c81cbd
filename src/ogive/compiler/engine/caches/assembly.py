"""Threads assemble the texts of kernels into object code while the next ones are written.

Writing a kernel keeps the interpreter busy, and LLVM needs no interpreter. So some helpers assemble
what has been written, and who has written the last helps with what is left.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable

from ogive.compiler.devices.helper_threads import Helper
from ogive.compiler.devices.protocol import Device
from ogive.compiler.targets.target import Target


class Assembled:
    """The object code of one text, and the time it took a processor; or why there is none."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._code: bytes | None = None
        self._error: Exception | None = None
        self.seconds = 0.0

    @property
    def code(self) -> bytes:
        """The object code. Raises `CompileError` in LLVM's words."""
        if self._error is not None:
            raise self._error
        assert self._code is not None, "it is there when the assembly has ended"
        return self._code

    def make(self, device: Device, target: Target) -> None:
        """Assemble it."""
        start = time.thread_time()
        try:
            self._code = device.assemble(self._text, target)
        except Exception as error:
            self._error = error
        self.seconds = time.thread_time() - start


class Assembly:
    """All texts of a graph: `add` them inside of a `with`, after which all are assembled.

    At most so many `helpers` work at once, which `make_helper` makes.
    """

    def __init__(
        self,
        device: Device,
        target: Target,
        helpers: int,
        make_helper: Callable[[Callable[[], None]], Helper] = Helper,
    ) -> None:
        self._make_helper = make_helper
        self.all: dict[Hashable, Assembled] = {}
        self._device = device
        self._target = target
        self._most = helpers
        self._waiting: deque[Assembled] = deque()
        self._helpers: list[Helper] = []

    def add(self, key: Hashable, text: str) -> None:
        """Have a text assembled; its code will be found in `all` under `key`."""
        assembled = self.all[key] = Assembled(text)
        self._waiting.append(assembled)
        self._helpers = [helper for helper in self._helpers if not helper.ended]
        if len(self._helpers) < self._most:
            helper = self._make_helper(self._work)
            self._helpers.append(helper)
            helper.start()  # without a helper the work is ours

    def _work(self) -> None:
        while self._waiting:
            try:
                assembled = self._waiting.popleft()
            except IndexError:  # another thread took the last one
                return
            assembled.make(self._device, self._target)

    def __enter__(self) -> Assembly:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self._work()
        finally:
            self._waiting.clear()
            for helper in self._helpers:
                helper.wait()
