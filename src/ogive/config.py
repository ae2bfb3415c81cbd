"""All settings, in one frozen dataclass.

A setting comes from, strongest first: the `config=` of a call, `ogive.configure(...)`, a variable
`OGIVE_<NAME>` of the environment, the default. Passes receive a `Config`; none reads a global.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ogive.errors import ConfigError, nearest

if TYPE_CHECKING:
    from ogive.targets.costs import Costs

LOADED_AT = time.time_ns()
"""When this process began to load the package: a source that changed later is not what runs."""


def _code(default: Any, text: str) -> Any:
    """A setting that changes the code that is generated, and so is part of every cache key."""
    return field(default=default, metadata={"code": True, "help": text})


def _plain(default: Any, text: str) -> Any:
    return field(default=default, metadata={"code": False, "help": text})


@dataclass(frozen=True)
class Beam:
    """A search for the fastest placement of each new kernel, by measuring.

    `width` placements go on from round to round; `seconds` bound the whole search of one
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


PLANNERS = ("arena", "remap", "disabled")
LOG_TOPICS = ("schedule", "compile", "execute", "recompile", "search")


@dataclass(frozen=True)
class Config:
    """The settings of one realization."""

    kernel_node_limit: int = _code(512, "most tensor operations one kernel may compute")
    pack_operands: bool = _code(True, "lay out operands of products in panels")
    vectorize: bool = _code(True, "use vector instructions")
    poison: bool = _code(False, "fill new memory with NaN first, so that reading it shows")
    search: Beam | None = _code(  # noqa: RUF009  (a field, as all of these)
        None, "search for faster kernels by measuring them"
    )
    costs: Costs | None = _plain(  # noqa: RUF009  (a field, as all of these)
        None, "what choices are made by, instead of the target's own cost model"
    )
    pack_constants: bool = _plain(True, "keep panels of operands that have not changed")
    panel_bytes: int = _plain(1 << 30, "most bytes of panels kept; the least used go first")
    planner: str = _plain("arena", "how intermediates share memory: arena, remap or disabled")
    schedule_cache: bool = _plain(True, "reuse the plan of an equal graph")
    disk_cache: bool = _plain(True, "keep plans and kernels on disk for the next process")
    disk_cache_bytes: int = _plain(1 << 30, "most bytes kept on disk; the least used go first")
    kernel_cache_size: int = _plain(4096, "most kernels kept in memory")
    threads: int = _plain(0, "threads that run kernels; 0 means all cores this process may use")
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
            object.__setattr__(self, "kernel_cache_size", 4096)
        if self.kernel_node_limit < 1:
            raise ConfigError(f"kernel_node_limit must be at least 1, got {self.kernel_node_limit}")
        if self.disk_cache_bytes < 0:
            raise ConfigError(f"disk_cache_bytes must be 0 or more, got {self.disk_cache_bytes}")
        if self.panel_bytes < 0:
            raise ConfigError(f"panel_bytes must be 0 or more, got {self.panel_bytes}")
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
        if self.threads < 0:
            raise ConfigError(f"threads must be 0 (all cores) or more, got {self.threads}")

    @functools.cached_property
    def code_key(self) -> tuple[Any, ...]:
        """The settings that change generated code."""
        return tuple(
            getattr(self, entry.name)
            for entry in dataclasses.fields(self)
            if entry.metadata["code"]
        )

    def logs(self, topic: str) -> bool:
        """Whether messages on `topic` were asked for."""
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


_TYPES: dict[str, tuple[type, ...]] = {
    entry.name: (type(entry.default),) for entry in dataclasses.fields(Config)
} | {"search": (Beam, type(None)), "costs": (type(None),)}
_VARIABLES = {name: f"OGIVE_{name.upper()}" for name in _TYPES} | {"search": "OGIVE_BEAM"}
del _VARIABLES["costs"]  # which no text says


def _kinds_of(name: str, value: Any) -> tuple[type, ...]:
    """The types that a setting may have."""
    if name == "costs" and value is not None:
        from ogive.targets.costs import Costs  # which `import ogive` does without

        return (Costs, type(None))
    return _TYPES[name]


def _describe(kinds: tuple[type, ...]) -> str:
    return " or ".join(["None" if kind is type(None) else kind.__name__ for kind in kinds])


def _from_environment() -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for name, variable in _VARIABLES.items():
        kinds = _TYPES[name]
        text = os.environ.get(variable)
        if text is None:
            continue
        try:
            changes[name] = _parse(kinds[0], text)
        except ValueError:
            raise ConfigError(
                f"{variable}={text!r} is not of type {_describe(kinds)}"
            ) from None
    return changes


def _parse(kind: type, text: str) -> Any:
    if kind is bool:
        lowered = text.strip().lower()
        if lowered in ("1", "true", "yes", "on"):
            return True
        if lowered in ("0", "false", "no", "off", ""):
            return False
        raise ValueError(text)
    if kind is Beam:
        width, _, seconds = text.partition(",")
        if width.strip() in ("", "0"):
            return None
        return Beam(int(width), float(seconds)) if seconds else Beam(int(width))
    return kind(text)


_configured: dict[str, Any] = {}
_current: Config | None = None


def current_config() -> Config:
    """The settings in force where a call gives none."""
    global _current
    if _current is None:
        _current = Config().with_changes({**_from_environment(), **_configured})
    return _current


def configure(**changes: Any) -> Config:
    """Change settings for the whole process, from now on; gives the settings now in force.

    >>> configure(schedule_cache=True).schedule_cache
    True

    Raises `ConfigError` for an unknown name or a value of the wrong type; nothing changes then.
    """
    global _current
    updated = current_config().with_changes(changes)
    _configured.update(changes)
    _current = updated
    return updated
