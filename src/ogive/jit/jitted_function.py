"""`ogive.jit`: a function that is traced once per kind of arguments and replayed from then on."""

from __future__ import annotations

import functools
import threading
import types
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

from ogive.compiler.live import history, registry
from ogive.config import Config, current_config
from ogive.errors import ArgumentError, ArgumentTypeError
from ogive.jit.argument_trees import DISTURBED, Call, Key
from ogive.jit.capturing import Capturing
from ogive.jit.donation import donated_inputs, donated_names, parameter_names
from ogive.jit.retrace_reasons import Facts, describe_call, difference, function_name
from ogive.jit.tracing.watch import is_inlining, trace_lock
from ogive.journal import log
from ogive.named import NamedTuple
from ogive.tensor import autocast_dtypes

if TYPE_CHECKING:
    from ogive.compiler.engine.steps.profile import StepTime
    from ogive.jit.calls.entry import Entry
    from ogive.jit.kept_traces import KnownFunction
    from ogive.tensor.tensor import Tensor

P = ParamSpec("P")
R = TypeVar("R")

KEPT_TRACES = 64
"""How many kinds of calls a captured function remembers, unless told otherwise."""

KEPT_VARIANTS = 4
"""How many traces of one kind of call are kept, for other values of what the function reads."""

MOST_OWN = 8
"""How many kinds of calls get kernels of their own in place of those for all sizes."""

RECAPTURES = 16
"""How often in a row a function is traced with no replay in between, until it runs uncaptured."""

PROFILED_RUNS = 10


class CacheInfo(NamedTuple):
    """How often a captured function was replayed and traced, and how many traces are kept.

    A trace that an earlier process has left on disk counts as one.
    """

    hits: int
    traces: int
    kept: int
    limit: int


class Jitted(Generic[P, R]):
    """A captured function. Made by `ogive.jit`.

    What a `known` function was captured as is kept on disk (`kept_traces.py`).
    """

    def __init__(
        self,
        function: Callable[P, R],
        donate: Sequence[int | str] = (),
        keep: int = KEPT_TRACES,
        config: Config | Callable[[], Config] | None = None,
        known: KnownFunction | None = None,
    ) -> None:
        if not callable(function):
            raise ArgumentTypeError(f"jit takes a function, not {type(function).__name__}")
        if type(keep) is not int or keep < 1:
            raise ArgumentError(f"jit: keep must be a positive integer, got {keep!r}")
        functools.update_wrapper(self, function)
        self.__wrapped__ = function
        self._names = parameter_names(function)
        self._donated = donated_names(donate, self._names)
        self._keep = keep
        self._settings = _settings_by(config)
        self._capturing = Capturing(function, self._names, known)
        # By kind of call: traces for what the function captured at other times, the last one first.
        self._entries: dict[Any, list[Entry]] = {}
        self._in_a_row: dict[Any, tuple[int, int]] = {}
        self._facts: Facts | None = None
        self._configs: dict[Any, int] = {}
        self._last_config: tuple[Config | None, int] = None, 0
        self._last: Entry | None = None
        self._lock = threading.Lock()
        self._hits = 0
        self._traces = 0
        self._own = 0

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if is_inlining():
            return self.__wrapped__(*args, **kwargs)
        config = self._settings()
        known, number = self._last_config
        if known is not config:
            number = self._number_of(config)
        prefix = _prefix(number) if history.paused or autocast_dtypes.chosen else number
        call = Call(args, kwargs, prefix)
        if call.pending or call.flows:
            if call.flows or _flow(call.pending):
                return self.__wrapped__(*args, **kwargs)
            call = self._settled(args, kwargs, prefix, config)
        variants = self._entries.get(call.key)
        if not variants:
            return self._trace_and_run(args, kwargs, config, prefix)
        entry = variants[0]
        if entry.is_general and entry.comes_often() and self._own < MOST_OWN:
            self._compile_for_its_sizes(args, kwargs, config, prefix)
            return self._trace_and_run(args, kwargs, config, prefix)
        if entry is not self._last:
            self._touch(call.key, entry)
        result: R
        if entry.writes:
            if entry.is_shared(call):
                return self.__wrapped__(*args, **kwargs)
            with registry.effect_lock:
                if entry.claims(call):
                    result = entry.run(call)
                    if result is not DISTURBED:
                        self._hits += 1
                        return result
        elif entry.holds(call):
            result = entry.run(call, alone=False)
            if result is not DISTURBED:
                self._hits += 1
                return result
        return self._trace_and_run(args, kwargs, config, prefix)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def cache_info(self) -> CacheInfo:
        """How often the function was replayed and traced.

        >>> f = ogive.jit(lambda x: x * 2)
        >>> for number in range(3):
        ...     y = f(Tensor([1.0, number]))
        >>> f.cache_info()
        CacheInfo(hits=2, traces=1, kept=1, limit=64)
        """
        kept = sum([len(variants) for variants in self._entries.values()])
        return CacheInfo(self._hits, self._traces, kept, self._keep)

    def profile(self, *args: P.args, **kwargs: P.kwargs) -> list[StepTime]:
        """Call the function, then ten times more step by step: the least time of each step.

        >>> double = ogive.jit(lambda x: x * 2)
        >>> [entry.seconds > 0 for entry in double.profile(Tensor([1.0, 2.0]))]
        [True]

        What the function assigns, it assigns every time. Raises `ArgumentError` where arguments are
        donated: only one call can use them.
        """
        if self._donated:
            raise ArgumentError("profile: a function that uses up its arguments runs only once")
        number = self._number_of(self._settings())
        while True:
            self(*args, **kwargs)
            call = Call(args, kwargs, _prefix(number))
            if call.key in self._entries and not self._entries[call.key]:
                raise ArgumentError("profile: this function is not captured any more")
            with trace_lock:
                entry = next(iter(self._entries.get(call.key, ())), None)
                if entry is None or entry.find_again() is not None:
                    continue
            with registry.effect_lock:
                if entry.claims(call, traced=True):
                    return entry.profile(call, PROFILED_RUNS)

    def clear(self) -> None:
        """Forget all traces and the memory they keep."""
        with self._lock:
            self._entries.clear()
            self._in_a_row.clear()
            self._last = None
            self._facts = None

    # Off the steady path

    def _number_of(self, config: Config) -> int:
        """A number that is equal for configurations under which a function runs the same way."""
        with self._lock:
            known = (config.code_key, config.threads, config.pack_constants)
            number = self._configs.setdefault(known, len(self._configs))
            self._last_config = config, number
        return number

    def _settled(self, args: Any, kwargs: Any, prefix: Key, config: Config) -> Call:
        """The call, with what had to be computed computed."""
        import ogive.compiler.engine as engine

        with trace_lock:  # a tensor may look unfinished only because it is being traced
            call = Call(args, kwargs, prefix)
            if call.pending:
                engine.realize(call.pending, config)
                call = Call(args, kwargs, prefix)
        assert not call.pending, "what was realized is memory"
        return call

    def _touch(self, key: Any, entry: Entry) -> None:
        """Make an entry the youngest."""
        with self._lock:
            self._last = entry
            variants = self._entries.get(key)
            if variants and variants[0] is entry and self._entries.pop(key, None) is variants:
                self._entries[key] = variants

    def _trace_and_run(self, args: Any, kwargs: Any, config: Config, prefix: Key) -> R:
        """Run after a guard failed: look up tensors again, or trace, whatever is needed."""
        is_hit = True
        while True:
            with trace_lock:
                call = self._settled(args, kwargs, prefix, config)
                entry, reason = self._fitting(call)
                traced = entry is None
                if entry is None:
                    if self._gives_up(call.key, reason):
                        return self.__wrapped__(*args, **kwargs)
                    entry = self._trace(args, kwargs, config, call, reason)
                    is_hit = False
            if entry.is_shared(call):
                return self.__wrapped__(*args, **kwargs)
            # Not held while tracing: the function may wait for threads that realize.
            with registry.effect_lock:
                if entry.claims(call, traced):
                    result: R = entry.run(call)
                    if result is not DISTURBED:
                        self._hits += is_hit
                        return result

    def _fitting(self, call: Call) -> tuple[Entry | None, str | None]:
        """A trace that serves the call as things stand, or why the last one does not."""
        with self._lock:  # or it may be missed while another thread touches it
            variants = list(self._entries.get(call.key, ()))
        reason = None
        for entry in variants:
            why = entry.why_not(call)
            if why is None:
                self._put_first(call.key, entry)
                return entry, None
            reason = reason or why
        return None, reason

    def _put_first(self, key: Any, entry: Entry) -> None:
        with self._lock:
            others = [each for each in self._entries.get(key, ()) if each is not entry]
            self._entries.pop(key, None)
            self._entries[key] = [entry, *others[: KEPT_VARIANTS - 1]]
            self._last = entry

    def _gives_up(self, key: Any, reason: str | None) -> bool:
        """Whether the function is traced so often that it had better run as it is."""
        hits, count = self._in_a_row.get(key, (-1, 0))
        count = count + 1 if hits == self._hits and reason is not None else 0
        if self._entries.get(key) == []:
            return True
        self._in_a_row[key] = self._hits, count
        if count < RECAPTURES:
            return False
        from ogive.jit.guards.unwatched import warn_of_changes

        warn_of_changes(function_name(self.__wrapped__), count, str(reason))
        with self._lock:
            self._entries[key] = []
            self._last = None
        return True

    def _compile_for_its_sizes(
        self, args: Any, kwargs: Any, config: Config, prefix: Key
    ) -> None:
        """Put a trace with kernels of its own in the place of one with kernels for all sizes."""
        with trace_lock:
            call = self._settled(args, kwargs, prefix, config)
            variants = self._entries.get(call.key)
            if not variants or not variants[0].is_general:
                return  # another thread was faster
            self._own += 1
            with self._lock:
                self._entries[call.key] = [entry for entry in variants if not entry.is_general]
            self._trace(args, kwargs, config, call, "these sizes come often", exact=True)

    def _trace(
        self,
        args: Any,
        kwargs: Any,
        config: Config,
        call: Call,
        reason: str | None,
        exact: bool = False,
    ) -> Entry:
        from ogive.jit.calls.entry import Entry

        name = function_name(self.__wrapped__)
        facts = describe_call(args, kwargs, self._names, config, call)
        if self._facts is not None and config.logs("recompile"):
            log("recompile", f"{name}: {reason or difference(self._facts, facts)}")
        donated = donated_inputs(self._donated, self._names, args, kwargs)
        captured = self._capturing.capture(args, kwargs, config, call, donated, exact)
        token = object()
        forget = functools.partial(_forget, weakref.ref(self), call.key, token)
        entry = Entry(captured, config, call, donated, name, token, forget)
        self._traces += 1
        self._put_first(call.key, entry)
        with self._lock:
            self._facts = facts
            while len(self._entries) > self._keep:
                self._entries.pop(next(iter(self._entries)), None)  # it may just be forgotten
        return entry

    def __repr__(self) -> str:
        return f"<captured function {getattr(self, '__qualname__', self.__wrapped__)!s}>"


def _settings_by(config: Config | Callable[[], Config] | None) -> Callable[[], Config]:
    """The function that gives the settings of a call."""
    if config is None:
        return current_config
    return (lambda: config) if isinstance(config, Config) else config


def _prefix(number: int) -> Key:
    """The key of a call but for arguments: the configuration, this thread's modes."""
    if not history.is_recording():
        number = ~number  # what it returns is detached then
    dtype = autocast_dtypes.current()
    return number if dtype is None else (number, dtype)


def _flow(tensors: Sequence[Tensor]) -> bool:
    """Whether gradients flow through any of these tensors, which are still to be computed.

    A function of such a tensor is no more than a part of what is differentiated: captured, it would
    end where the function begins. Leaves are another matter: they are where gradients end.
    """
    if not history.is_tracking() or not history.is_recording():
        return False
    return any(not history.is_flagged(t) and t.requires_grad for t in tensors)


def _forget(owner: weakref.ref[Jitted[Any, Any]], key: Any, token: object, _: Any) -> None:
    """Drop a trace that can never be valid again: something it was made for is gone."""
    jitted = owner()
    if jitted is not None:
        variants = jitted._entries.get(key, [])
        kept = [entry for entry in variants if entry.token is not token]
        if len(kept) < len(variants):
            jitted._entries[key] = kept
            if not kept:
                jitted._entries.pop(key, None)
            jitted._last = None


@overload
def jit(function: Callable[P, R]) -> Jitted[P, R]: ...
@overload
def jit(
    function: Callable[P, R],
    *,
    donate: Sequence[int | str] | int | str = (),
    keep: int = KEPT_TRACES,
    config: Config | Callable[[], Config] | None = None,
) -> Jitted[P, R]: ...
@overload
def jit(
    function: None = None,
    *,
    donate: Sequence[int | str] | int | str = (),
    keep: int = KEPT_TRACES,
    config: Config | Callable[[], Config] | None = None,
) -> Callable[[Callable[P, R]], Jitted[P, R]]: ...
def jit(
    function: Any = None,
    *,
    donate: Any = (),
    keep: int = KEPT_TRACES,
    config: Config | Callable[[], Config] | None = None,
) -> Any:
    """Capture a function: trace it at the first call of a kind, replay native code afterwards.

    >>> @ogive.jit
    ... def step(x, w):
    ...     return (x @ w).relu()
    >>> step(Tensor([[1.0, -2.0]]), Tensor([[1.0, 0.0], [0.0, 1.0]])).tolist()
    [[1.0, 0.0]]

    Shapes: any; another shape, dtype, device or constant is another kind of call and is traced
    anew, and so is a call after a tensor, number or flag that the function finds by itself (in a
    closure, a global, an attribute, a list) was replaced. `OGIVE_LOG=recompile` says why. The last
    `keep` kinds are kept, with four traces each. The first shape has kernels of its own, all others
    share kernels, until one has come 32 times.

    What cannot be watched, as a clock or an iterator, is named by a `CaptureWarning`. So is what
    changes at every call: a function that is traced 16 times in a row and never replayed runs as it
    is from then on. A number that changes often had better be a tensor.

    Arguments are tensors, NumPy arrays (borrowed for the call), bound variables and constants, in
    tuples, lists, dictionaries and dataclasses. Results are new tensors with memory of their own;
    tensors that the function assigns to are updated at every call.

    `donate` names arguments, by position or name, whose memory results may take over: these tensors
    cannot be used afterwards.

    `config` are settings to run under instead of those of the process, or a function that gives
    them at each call.

    Random draws are new at each call: those that the function would make without being captured.

    What the function does besides (printing, appending to a list) happens only while it is traced,
    which may be more than once.

    Raises `TraceError` when the function asks for values (`item()`, `if tensor:`), returns
    anything but tensors, or keeps one outside.
    """
    if function is None:
        return functools.partial(Jitted, donate=donate, keep=keep, config=config)
    return Jitted(function, donate=donate, keep=keep, config=config)
