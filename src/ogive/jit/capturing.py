"""How a function becomes a compiled graph: it is traced, or recalled where somebody vouches for it.

    traced      function and call → a trace → its compiled graph
    recalled    function and call → both, as an earlier process has left them on disk
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ogive.config import Config
from ogive.jit.argument_trees import Call, Key
from ogive.jit.retrace_reasons import function_name
from ogive.named import NamedTuple

if TYPE_CHECKING:
    from ogive.jit.kept_traces import KnownFunction
    from ogive.jit.tracing.prepare import Prepared
    from ogive.jit.tracing.traced_function import Trace


class Captured(NamedTuple):
    """A function for one kind of call. Of one that `is_recalled` nobody knows the nodes."""

    trace: Trace
    prepared: Prepared
    is_recalled: bool


class Capturing:
    """Captures a function, one kind of call after the other.

    The first kind has kernels of its own; all others may share kernels. The first of a `known`
    function is kept on disk, and recalled from there.
    """

    def __init__(
        self, function: Callable[..., Any], names: list[str], known: KnownFunction | None
    ) -> None:
        self._function = function
        self._names = names
        self._known = known
        self._is_first = True
        self._recalled: tuple[Any, Any, Config, Key] | None = None
        self._warned_of: set[str] = set()

    def capture(
        self,
        args: Any,
        kwargs: Any,
        config: Config,
        call: Call,
        donated: Sequence[int],
        exact: bool,
    ) -> Captured:
        """The function for such a call, which is compiled for its sizes alone if `exact`."""
        is_first, known = self._is_first, self._known
        parts = None
        if is_first and known is not None:
            from ogive.jit.kept_traces import recall, without_values

            parts = recall(known, call, config)
            if parts is not None:
                self._recalled = *without_values(args, kwargs), config, call.key[0]
        if parts is None:
            if not call.variables:  # such a call has kernels for all sizes anyway
                self._make_up()
            parts = self._trace(args, kwargs, config, call, donated, exact or is_first)
            if is_first and known is not None:
                from ogive.jit.kept_traces import keep

                keep(known, call, *parts, config)
            self._is_first = False
            return Captured(*parts, is_recalled=False)
        self._is_first = False
        return Captured(*parts, is_recalled=True)

    def _make_up(self) -> None:
        """Trace what was recalled before the second kind is: only so kernels for all sizes come
        when they would have come."""
        if self._recalled is not None:
            (args, kwargs, config, prefix), self._recalled = self._recalled, None
            self._trace(args, kwargs, config, Call(args, kwargs, prefix), (), exact=True)

    def _trace(
        self,
        args: Any,
        kwargs: Any,
        config: Config,
        call: Call,
        donated: Sequence[int],
        exact: bool,
    ) -> tuple[Trace, Prepared]:
        """Trace the function, and compile what it does."""
        from ogive.jit.guards.unwatched import warn_of
        from ogive.jit.tracing.prepare import prepare
        from ogive.jit.tracing.trace import trace

        if self._known is not None:
            self._known.make_ready()
        traced = trace(self._function, args, kwargs, self._names, config, call)
        unwatched = traced.unwatched
        unknown = {path: why for path, why in unwatched.items() if path not in self._warned_of}
        self._warned_of.update(unknown)
        warn_of(function_name(self._function), unknown)
        return traced, prepare(traced, donated, config, exact)
