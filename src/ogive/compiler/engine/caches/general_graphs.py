"""Programs of changing sizes and numbers: the second size is compiled for all of them.

The first graph of a structure is compiled as it is. When another one comes that differs in numbers
only, both become one graph over variables (`passes/general/`), which is compiled once; every
later one is compared with it, number by number, and runs as it is, or with the others becomes a
more general one. A size that comes often is compiled by itself all the same: kernels of fixed
lengths are faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ogive.after_fork import Locked
from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.devices.known_devices import find_device
from ogive.compiler.engine.caches.graph_cache import GraphCache, graph_cache
from ogive.compiler.engine.execution import Executions
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live import registry
from ogive.compiler.passes.capture.contiguous_parts import Window
from ogive.compiler.passes.capture.normalize import Normalized
from ogive.compiler.passes.general.skeleton import NotGeneral, Numbers, Skeleton, take_apart
from ogive.config import Config
from ogive.counters import count
from ogive.journal import log
from ogive.named import NamedTuple

if TYPE_CHECKING:
    from ogive.compiler.passes.general.generalize import General

MOST_FORMS = 6
"""How often graphs of one structure are made more general before no more is tried."""

OFTEN = 32
"""How often a size comes before it is compiled by itself."""

MOST_OWN = 8
"""How many sizes of one structure are compiled by themselves."""

MOST_COUNTED = 64
"""How many sizes of one structure are counted; the first go first."""


class Family:
    """The graphs of one structure that have come."""

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        self.instances: list[Numbers] = [skeleton.numbers]
        self.general: General | None = None
        self.is_open = True
        self.own = 0
        self._uses: dict[Numbers, int] = {}

    def is_due(self, numbers: Numbers) -> bool:
        """Whether the next graph with these numbers is worth kernels of its own."""
        return self._uses.get(numbers, 0) + 1 >= OFTEN and self.own < MOST_OWN

    def comes_often(self, numbers: Numbers) -> bool:
        """Count one more graph with these numbers; whether it is worth kernels of its own now."""
        uses = self._uses.pop(numbers, 0) + 1
        self._uses[numbers] = uses
        if len(self._uses) > MOST_COUNTED:
            del self._uses[next(iter(self._uses))]
        if uses < OFTEN or self.own >= MOST_OWN:
            return False
        self.own += 1
        return True

    def grow(self, numbers: Numbers) -> None:
        """Make the general graph one that these numbers fit as well. Raises `NotGeneral`, and stays
        what it was then: those that it fits go on as it. Where it is only doubtful whether sizes
        were understood, the next ones may tell."""
        # Which one graph alone does not need:
        from ogive.compiler.passes.general.generalize import unify
        from ogive.compiler.passes.general.prove_general import Doubtful

        self.instances.append(numbers)
        self.is_open = len(self.instances) < MOST_FORMS
        try:
            self.general = unify(self.skeleton, self.instances)
        except Doubtful:
            raise
        except NotGeneral:
            self.is_open = False
            raise


class _Known(NamedTuple):
    """How a graph with calls runs as a general one: of which family, with which data besides.

    So many `parameters` are read of what calls are given; the data follows these.
    """

    family: Family
    numbers: Numbers
    parameters: int
    general: Normalized
    executions: Executions


class GeneralGraphs(Locked):
    """The families that this process knows, by structure; of many, the oldest go."""

    LIMIT = 512

    def __init__(self, graphs: GraphCache) -> None:
        self._graphs = graphs
        self._families: dict[Any, Family] = {}
        self._constants: dict[tuple[UOp, str], UOp] = {}
        self._known: dict[tuple[UOp, Any], _Known] = {}
        super().__init__()

    def recall(
        self, normalized: Normalized, config: Config
    ) -> tuple[Normalized, Executions] | None:
        """How the very graph, which has calls, ran as a general one before: nothing is inlined."""
        key = (normalized.sink, config.code_key)
        known = self._known.get(key)
        if known is None or not config.generalize:
            return None
        with self._lock:
            if known.family.is_due(known.numbers):
                self._known.pop(key, None)
                return None
            known.family.comes_often(known.numbers)
        data = known.general.windows[known.parameters :]
        windows = (*normalized.windows[: known.parameters], *data)
        count("schedule_hits")
        return known.general._replace(windows=windows), known.executions

    def remember(
        self, sink: UOp, inlined: UOp, general: Normalized, executions: Executions, config: Config
    ) -> None:
        """Note that a graph with calls, which became `inlined`, runs as a general one."""
        skeleton = take_apart(inlined)
        with self._lock:
            family = None if skeleton is None else self._families.get(
                (skeleton.key, config.code_key)
            )
            if skeleton is None or family is None:
                return
            plain = general._replace(parametric={}, within={})
            known = _Known(family, skeleton.numbers, skeleton.parameters, plain, executions)
            self._known[sink, config.code_key] = known
            while len(self._known) > self.LIMIT:
                del self._known[next(iter(self._known))]

    def generalize(self, normalized: Normalized, config: Config) -> Normalized:
        """A parametric graph, or the general one of its structure with the numbers as its data."""
        if self._graphs.has(normalized.sink, config):
            return normalized
        skeleton = _skeleton_of(normalized, config)
        if skeleton is None:
            return normalized
        with self._lock:
            general = self._find(skeleton, config)
        if general is None:
            return normalized
        values = general.match(skeleton.numbers)
        assert values is not None, "a graph fits the general one that was made for it"
        return self._over(general, skeleton, normalized, values)

    def note(self, normalized: Normalized, config: Config) -> None:
        """Let the next graph of this structure be the second one; this runs as it is."""
        skeleton = _skeleton_of(normalized, config)
        if skeleton is not None:
            with self._lock:
                self._family(skeleton, config)

    def give_up(self, normalized: Normalized, reason: str, config: Config) -> None:
        """Let graphs of this structure be compiled for each of their sizes from now on."""
        skeleton = take_apart(normalized.sink)
        assert skeleton is not None, "it has become a general one"
        with self._lock:
            family = self._families.get((skeleton.key, config.code_key))
            if family is not None:
                family.general, family.is_open = None, False
        _tell(skeleton, f"is compiled for each of its sizes: {reason}", config)

    def _find(self, skeleton: Skeleton, config: Config) -> General | None:
        """The general graph that this one runs as, if there is to be one."""
        family = self._family(skeleton, config)
        numbers = skeleton.numbers
        if numbers == family.skeleton.numbers:
            return None  # the first of them is compiled by itself
        if family.general is None or family.general.match(numbers) is None:
            if not family.is_open:
                return None
            try:
                family.grow(numbers)
            except NotGeneral as reason:
                words = "is compiled for each of its sizes"
                words += " so far" if family.is_open else ""
                _tell(skeleton, f"{words}: {reason}", config)
                return None
            count("graphs_generalized")
            _tell(skeleton, f"is compiled for all sizes: {_variables(family.general)}", config)
        if family.comes_often(numbers):
            return None
        assert family.general is not None
        return family.general

    def _family(self, skeleton: Skeleton, config: Config) -> Family:
        """The family of a structure; its first graph makes it."""
        key = (skeleton.key, config.code_key)
        family = self._families.get(key)
        if family is None:
            family = self._families[key] = Family(skeleton)
            while len(self._families) > self.LIMIT:
                del self._families[next(iter(self._families))]
        return family

    def _over(
        self, general: General, skeleton: Skeleton, normalized: Normalized, values: dict[str, int]
    ) -> Normalized:
        """The parametric graph that a run of the general graph takes in place of `normalized`."""
        device = general.sink.arg[0]
        constants = [self._memory_of(skeleton.numbers[place], device) for place in general.data]
        # What calls were given and do not read has a window as well, but no slot.
        read = normalized.windows[: general.parameters]
        windows = (*read, *[Window(node, 0, 1) for node in constants])
        became = dict(zip(skeleton.order, general.nodes, strict=True))
        # Constants are not among them, and cannot fault.
        known = normalized.parametric.items()
        parametric = {node: became[old] for node, old in known if old in became}
        return Normalized(general.sink, windows, values, parametric, is_general=True)

    def _memory_of(self, constant: UOp, device: str) -> UOp:
        """A buffer of one element that holds a constant."""
        with self._lock:
            known = self._constants.get((constant, device))
            if known is not None:
                return known
            value = numpy.array(constant.arg, dtype=constant.dtype.numpy)
            buffer = Buffer(value.nbytes, device)
            buffer.copy_from(value.tobytes())
            with registry.graph_lock:
                source = (UOp.unique(),)
                node = registry.make(Op.BUFFER, constant.dtype, source, (device, 1), (1,))
                registry.set_buffer(node, buffer)
            self._constants[constant, device] = node
            while len(self._constants) > self.LIMIT:
                del self._constants[next(iter(self._constants))]
            return node

    def clear(self) -> None:
        """Forget what has come."""
        with self._lock:
            self._families.clear()
            self._constants.clear()
            self._known.clear()


def _skeleton_of(normalized: Normalized, config: Config) -> Skeleton | None:
    """A parametric graph taken apart; None where it is to stay as it is."""
    if not config.generalize or not config.schedule_cache or config.beam is not None:
        return None
    if normalized.variables:
        return None
    if any(find_device(name).reads_whole_memory for name in normalized.sink.devices or ()):
        return None
    return take_apart(normalized.sink)


def _variables(general: General | None) -> str:
    assert general is not None
    lengths = [f"{low} to {high}" for low, high in general.bounds]
    words = [f"{len(lengths)} variable lengths ({', '.join(lengths)})"] if lengths else []
    words += [f"{len(general.data)} constants as data"] if general.data else []
    return " and ".join(words)


def _tell(skeleton: Skeleton, words: str, config: Config) -> None:
    if config.logs("recompile"):
        log("recompile", f"a graph of {len(skeleton.order)} nodes {words}")


general_graphs = GeneralGraphs(graph_cache)
