"""All settings, in one frozen dataclass.

The sources of a setting are, strongest first: the `config=` of a call, `ogive.configure(...)`, an
environment variable `OGIVE_<NAME>` as it is at the first use, and the default. Passes receive a
`Config`; none reads a global. An invalid value is an error, and is never replaced silently.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import os
import time
import warnings
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from ogive.errors import ConfigError, ConfigWarning, nearest, origin_line, user_origin
from ogive.named import record

if TYPE_CHECKING:
    from ogive.compiler.targets.costs import Costs

LOADED_AT = time.time_ns()
"""The time at which this process began to load the package. Sources changed later are not in it."""


def _code(default: Any, text: str) -> Any:
    """A setting that changes generated code, and so is part of every cache key."""
    return field(default=default, metadata={"code": True, "help": text})


def _plain(default: Any, text: str) -> Any:
    return field(default=default, metadata={"code": False, "help": text})


@record(frozen=True)
class Beam:
    """A search for the fastest placement of each new kernel, by measuring.

    `width` placements are kept from round to round. `seconds` limit the whole search of one
    `prepare`, over all its kernels.

    >>> Beam(4)
    Beam(width=4, seconds=10.0)
    """

    width: int = 4
    seconds: float = 10.0

    def __post_init__(self) -> None:
        if type(self.width) is not int or self.width < 1:
            raise ConfigError(f"the width of a beam must be an integer from 1, got {self.width!r}")
        if type(self.seconds) not in (int, float) or not 0 < self.seconds < math.inf:
            raise ConfigError(f"a beam takes a positive number of seconds, got {self.seconds!r}")
        object.__setattr__(self, "seconds", float(self.seconds))


@record(frozen=True)
class Graph:
    """A search for other ways to compute a graph, by the cost model. Every graph is searched.

    It ends after `nodes` of alternatives in one window of the graph, after `rounds` of rules, or
    after `milliseconds` for the whole graph; zero rounds turn it off. With `measure`, the ways that
    look best, and the one without a search, are timed, with their kernels placed by a short beam
    search; that takes at most `seconds`.

    >>> Graph(rounds=0)
    Graph(nodes=2000, rounds=0, milliseconds=50.0, measure=False, seconds=10.0)
    """

    nodes: int = 2000
    rounds: int = 6
    milliseconds: float = 50.0
    measure: bool = False
    seconds: float = 10.0

    def __post_init__(self) -> None:
        for name in ("nodes", "rounds"):
            value = getattr(self, name)
            if type(value) is not int or value < 0:
                raise ConfigError(f"{name} of a graph search is an integer from 0, got {value!r}")
        if type(self.milliseconds) not in (int, float) or not 0 <= self.milliseconds < math.inf:
            raise ConfigError(
                f"a graph search takes a number of milliseconds from 0, got {self.milliseconds!r}"
            )
        if type(self.measure) is not bool:
            raise ConfigError(f"a graph search is measured or not, got {self.measure!r}")
        if type(self.seconds) not in (int, float) or not 0 < self.seconds < math.inf:
            raise ConfigError(
                f"a graph search that is measured takes a positive number of seconds, "
                f"got {self.seconds!r}"
            )
        object.__setattr__(self, "milliseconds", float(self.milliseconds))
        object.__setattr__(self, "seconds", float(self.seconds))


MEASURED_WIDTH = 2
"""The width of the beam in a measured graph search."""

EXACTNESS = ("exact", "rounding")
PLANNERS = ("arena", "remap", "disabled")
MOST_THREADS = 513
"""The most threads of a pool, the caller included."""

KERNELS_KEPT = 4096
LOG_TOPICS = ("schedule", "compile", "execute", "recompile", "search", "shard", "eager")


@record(frozen=True)
class Config:
    """The settings of one realization."""

    kernel_node_limit: int = _code(512, "most tensor operations one kernel may compute")
    pack_operands: bool = _code(True, "lay out operands of products in panels")
    vectorize: bool = _code(True, "use vector instructions")
    poison: bool = _code(False, "fill new memory with NaN first, so that reading it shows")
    search: Beam | Graph | None = _code(
        None, "search for faster kernels by measuring them, or set the bounds of graph search"
    )
    exactness: str = _code("exact", "what graph search may change: nothing (exact), or rounding")
    cpu: str = _code("", "processor to make code for: x86-64-v3, x86-64-v4; if empty, this one")
    costs: Costs | None = _plain(
        None, "what choices are made by, instead of the target's own cost model"
    )
    pack_constants: bool = _plain(True, "keep panels of operands that have not changed")
    panel_bytes: int = _plain(1 << 30, "most bytes of panels kept; the least used go first")
    device: str = _plain("", "where tensors are made that are not told otherwise; if empty, here")
    planner: str = _plain("arena", "how intermediates share memory: arena, remap or disabled")
    generalize: bool = _plain(True, "compile graphs that differ in sizes and numbers once")
    eager: bool = _plain(True, "compute at once with small tensors that ogive.torch makes")
    schedule_cache: bool = _plain(True, "reuse the plan of an equal graph")
    disk_cache: bool = _plain(True, "keep plans and kernels on disk for the next process")
    disk_cache_bytes: int = _plain(1 << 30, "most bytes kept on disk; the least used go first")
    kernel_cache_size: int = _plain(KERNELS_KEPT, "most kernels kept in memory")
    threads: int = _plain(0, "threads that run kernels; 0 means all cores this process may use")
    rank_timeout: int = _plain(300, "seconds that a rank waits for others before it is an error")
    verify: bool = _plain(False, "check every graph against the dialect of its stage")
    log: str = _plain("", f"comma-separated topics to print: {', '.join(LOG_TOPICS)}")

    def __post_init__(self) -> None:
        for entry in dataclasses.fields(self):
            value = getattr(self, entry.name)
            expected = _kinds_of(entry.name, value)
            if type(value) not in expected:
                raise ConfigError(
                    f"setting {entry.name!r} takes a value of type {_describe(expected)}, "
                    f"got {value!r}"
                )
        if self.kernel_cache_size <= 0:
            _warn(
                f"kernel_cache_size={self.kernel_cache_size} would keep no kernel; "
                f"{KERNELS_KEPT} is used instead"
            )
            object.__setattr__(self, "kernel_cache_size", KERNELS_KEPT)
        if self.kernel_node_limit < 1:
            raise ConfigError(f"kernel_node_limit must be at least 1, got {self.kernel_node_limit}")
        if self.disk_cache_bytes < 0:
            raise ConfigError(f"disk_cache_bytes must be 0 or more, got {self.disk_cache_bytes}")
        if self.panel_bytes < 0:
            raise ConfigError(f"panel_bytes must be 0 or more, got {self.panel_bytes}")
        if self.rank_timeout < 1:
            raise ConfigError(f"rank_timeout must be at least 1 second, got {self.rank_timeout}")
        if self.exactness not in EXACTNESS:
            raise ConfigError(
                f"exactness is one of {', '.join(EXACTNESS)}, got {self.exactness!r}"
                f"{nearest(self.exactness, EXACTNESS)}"
            )
        if self.planner not in PLANNERS:
            raise ConfigError(
                f"planner is one of {', '.join(PLANNERS)}, got {self.planner!r}"
                f"{nearest(self.planner, PLANNERS)}"
            )
        for topic in filter(None, self.log.split(",")):
            if topic not in LOG_TOPICS:
                raise ConfigError(
                    f"log takes topics among {', '.join(LOG_TOPICS)}, got {topic!r}"
                    f"{nearest(topic, LOG_TOPICS)}"
                )
        if not 0 <= self.threads <= MOST_THREADS:
            raise ConfigError(
                f"threads must be 0 (all cores) or from 1 to {MOST_THREADS}, got {self.threads}"
            )

    @functools.cached_property
    def code_key(self) -> tuple[Any, ...]:
        """The settings that change generated code."""
        return tuple(
            getattr(self, entry.name)
            for entry in dataclasses.fields(self)
            if entry.metadata["code"]
        )

    @property
    def beam(self) -> Beam | None:
        """The beam search of placements; None if there is none."""
        if isinstance(self.search, Graph) and self.search.measure:
            return Beam(MEASURED_WIDTH, self.search.seconds)
        return self.search if isinstance(self.search, Beam) else None

    @property
    def graph_search(self) -> Graph:
        """The limits of graph search."""
        return self.search if isinstance(self.search, Graph) else _USUAL

    def logs(self, topic: str) -> bool:
        """Whether messages on `topic` are wanted."""
        return bool(self.log) and topic in self.log.split(",")

    def with_changes(self, changes: Mapping[str, Any]) -> Config:
        """A copy with some settings changed; an unknown name is an error."""
        for name in changes:
            if name not in _TYPES:
                raise ConfigError(
                    f"unknown setting {name!r}{nearest(name, _TYPES)}; "
                    f"the settings are {', '.join(_TYPES)}"
                )
        return dataclasses.replace(self, **changes)


_USUAL = Graph()
_TYPES: dict[str, tuple[type, ...]] = {
    entry.name: (type(entry.default),) for entry in dataclasses.fields(Config)
} | {"search": (Beam, Graph, type(None)), "costs": (type(None),)}
VARIABLES = {name: f"OGIVE_{name.upper()}" for name in _TYPES} | {"search": "OGIVE_BEAM"}
"""The environment variable of each setting that a string can express."""

del VARIABLES["costs"]

OTHER_VARIABLES = ("OGIVE_CACHE_DIR",)
"""Our environment variables that are not settings: see `folders.py`."""


def _kinds_of(name: str, value: Any) -> tuple[type, ...]:
    """The types that a setting may have."""
    if name == "costs" and value is not None:
        from ogive.compiler.targets.costs import Costs  # not loaded by `import ogive`

        return (Costs, type(None))
    return _TYPES[name]


def _describe(kinds: tuple[type, ...]) -> str:
    return " or ".join(["None" if kind is type(None) else kind.__name__ for kind in kinds])


def _warn(message: str) -> None:
    filename, line = origin_line(user_origin()) or ("ogive", 1)
    warnings.warn_explicit(message, ConfigWarning, filename, line)


def _parse(kind: type, text: str) -> Any:
    if kind is bool:
        lowered = text.strip().lower()
        if lowered in ("1", "true", "yes", "on"):
            return True
        if lowered in ("0", "false", "no", "off"):
            return False
        raise ValueError(text)
    if kind is Beam:
        width, _, seconds = text.partition(",")
        if width.strip() == "0":
            return None
        return Beam(int(width), float(seconds)) if seconds else Beam(int(width))
    return kind(text)


class Settings:
    """The settings of a process: environment variables, overridden by `configure`."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._configured: dict[str, Any] = {}
        self._current: Config | None = None

    def current(self) -> Config:
        """The settings of calls that give none. The environment is read once.

        Raises `ConfigError` for a variable with an invalid value, and warns of an unknown variable.
        """
        if self._current is None:
            config = Config().with_changes({**self._read(), **self._configured})
            for variable, hint in self.unknown_variables():
                _warn(f"{variable} is no setting of ours{hint}, and does nothing")
            self._current = config
        return self._current

    def configure(self, changes: Mapping[str, Any]) -> Config:
        """Change settings from now on; gives the new settings. Raises `ConfigError`."""
        updated = self.current().with_changes(changes)
        self._configured.update(changes)
        self._current = updated
        return updated

    def origin(self, name: str) -> str:
        """The source of a setting: `ogive.configure`, a variable, or the default."""
        if name in self._configured:
            return "ogive.configure"
        variable = VARIABLES.get(name, "")
        return variable if self._environment.get(variable) else "default"

    def unknown_variables(self) -> list[tuple[str, str]]:
        """Unknown variables that begin with `OGIVE_`, each with a hint at a similar name."""
        known = (*VARIABLES.values(), *OTHER_VARIABLES)
        return [
            (variable, nearest(variable, known))
            for variable in sorted(self._environment)
            if variable.startswith("OGIVE_") and variable not in known
        ]

    def _read(self) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        for name, variable in VARIABLES.items():
            kinds = _TYPES[name]
            text = self._environment.get(variable)
            if not text:
                continue  # an empty variable counts as unset
            try:
                checked = Config().with_changes({name: _parse(kinds[0], text)})
            except ConfigError as error:
                raise ConfigError(f"{variable}={text!r}: {error}") from None
            except ValueError:
                expected = _describe(kinds)
                raise ConfigError(f"{variable}={text!r} is not of type {expected}") from None
            changes[name] = getattr(checked, name)
        return changes


settings = Settings(os.environ)
"""The settings of this process."""

current_config = settings.current


def configure(**changes: Any) -> Config:
    """Change settings for the whole process, from now on; gives the new settings.

    >>> configure(schedule_cache=True).schedule_cache
    True

    Raises `ConfigError` for an unknown name or a value of the wrong type; nothing changes then.
    """
    return settings.configure(changes)
