"""A driver whose functions capture launches and replay them, as lists of Python's."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

Launch = tuple[int, int, list[int]]
"""A kernel's function, how many blocks, and its words."""

_POINTER, _NUMBER, _WORD = ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint64
_KINDS = {
    "enter": (_POINTER,),
    "launch": (_POINTER,) * 4,
    "begin": (_POINTER, _NUMBER),
    "end": (_POINTER, _POINTER),
    "info": (_POINTER,) * 7,
    "instantiate": (_POINTER, _POINTER, _WORD),
    "replay": (_POINTER, _POINTER),
    "change": (_POINTER, _POINTER, _POINTER),
    "destroy": (_POINTER,),
    "synchronize": (_POINTER,),
}
STREAM, CONTEXT, GRAPH, REPLAYED = 5, 7, 1 << 20, 1 << 21


class FakeGraphs:
    """Notes what runs, in order, in `ran`, and the other calls in `calls`.

    Functions named in `refused` return that code instead of doing anything.
    """

    def __init__(self, refused: dict[str, int] | None = None) -> None:
        self.ran: list[Launch] = []
        self.calls: list[str] = []
        self.nodes: list[Launch] = []
        self.refused = refused or {}
        self.failure = ctypes.c_uint64()
        self._last = (_WORD * 1)()
        self._is_capturing = False
        self._made: dict[str, Any] = {}
        self.addresses = {name: self._address(name) for name in _KINDS}

    def _address(self, name: str) -> int:
        does: Callable[..., None] = getattr(self, f"_{name}")

        def called(*given: int) -> int:
            if name == "end":
                self._is_capturing = False
            if name in self.refused:
                return self.refused[name]
            self.calls.append(name)
            does(*given)
            return 0

        self._made[name] = ctypes.CFUNCTYPE(ctypes.c_int, *_KINDS[name])(called)
        return ctypes.cast(self._made[name], ctypes.c_void_p).value or 0

    def _enter(self, context: int) -> None:
        assert context == CONTEXT

    def _launch(self, configuration: int, function: int, parameters: int, extra: int) -> None:
        blocks = _NUMBER.from_address(configuration).value
        stream = _WORD.from_address(configuration + 32).value
        assert stream == (STREAM if self._is_capturing else 0)
        (self.nodes if self._is_capturing else self.ran).append(
            (function, blocks, _words(extra))
        )

    def _begin(self, stream: int, mode: int) -> None:
        assert (stream, mode) == (STREAM, 2)
        self._is_capturing = True

    def _end(self, stream: int, graph: int) -> None:
        _WORD.from_address(graph).value = GRAPH

    def _info(self, *given: int) -> None:
        self._last[0] = len(self.nodes)  # a handle is one more than the place
        _WORD.from_address(given[4]).value = ctypes.addressof(self._last)
        _WORD.from_address(given[6]).value = 1

    def _instantiate(self, made: int, graph: int, flags: int) -> None:
        assert (graph, flags) == (GRAPH, 0)
        _WORD.from_address(made).value = REPLAYED

    def _replay(self, made: int, stream: int | None) -> None:
        assert (made, stream) == (REPLAYED, None)
        self.ran += self.nodes

    def _change(self, made: int, node: int, given: int) -> None:
        assert made == REPLAYED
        function = _WORD.from_address(given).value
        blocks = _NUMBER.from_address(given + 8).value
        assert _WORD.from_address(given + 40).value == 0
        extra = _WORD.from_address(given + 48).value
        self.nodes[node - 1] = function, blocks, _words(extra)

    def _destroy(self, graph: int) -> None:
        assert graph == GRAPH

    def _synchronize(self, stream: int) -> None:
        """All is done when it is launched."""


def _words(extra: int) -> list[int]:
    fields = (_POINTER * 5).from_address(extra)
    size = _WORD.from_address(fields[3] or 0).value
    return list((ctypes.c_int64 * (size // 8)).from_address(fields[1] or 0))
