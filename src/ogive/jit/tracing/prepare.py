"""A trace becomes a compiled graph, and a list of what each of its slots is at a call.

Three kinds of memory are told apart. Inputs and captured tensors are other people's:
their addresses are filled in at each call. Results are fresh at each call. The rest is scratch.

    x.assign(x + 1); return x * 2     roots   AFTER(x, ASSIGN(x, x + 1)), MUL(AFTER(...), 2)
                                      slots   0: input x, written in place    1: result
"""

from __future__ import annotations

from collections.abc import Sequence

from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.engine.caches.find_executions import find_executions
from ogive.compiler.engine.caches.general_graphs import general_graphs
from ogive.compiler.engine.parametric import to_parametric
from ogive.compiler.engine.steps.compiled_graph import CompiledGraph
from ogive.compiler.engine.writes.old_versions import effects_of, version_below
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.memory import is_memory, memory_leaf, reads_elsewhere, shaped, upper_count
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Shape, element_count
from ogive.compiler.ir.traversal import substitute, walk
from ogive.compiler.live import registry
from ogive.compiler.passes.capture.normalize import Normalized
from ogive.config import Config
from ogive.errors import TraceError
from ogive.jit.tracing.traced_function import Trace
from ogive.named import NamedTuple, record


class ResultSlot(NamedTuple):
    """A tensor that a call makes: in a slot of fresh memory, or of an input that was donated.

    A slot of None is for a tensor without elements. One that `flows` was computed from leaves.
    """

    slot: int | None
    donated: int | None
    shape: Shape
    dtype: DType
    device: str
    flows: bool = False

    @property
    def nbytes(self) -> int:
        """How many bytes it has at most."""
        return upper_count(self.shape) * self.dtype.itemsize


class Owner(NamedTuple):
    """Whose memory a slot is: "input", "captured" tensor or "supply" number so and so."""

    kind: str
    position: int


@record
class Prepared:
    """A compiled graph and the part that each of its slots plays.

    `written` are owners whose memory is overwritten in place; `moved` are those that get fresh
    memory instead, and which of the result slots they become.
    """

    graph: CompiledGraph
    normalized: Normalized
    owners: dict[int, Owner]
    constants: dict[int, Buffer]
    results: list[ResultSlot]
    written: list[Owner]
    moved: list[tuple[Owner, ResultSlot]]


def prepare(
    trace: Trace, donated: Sequence[int], config: Config, exact: bool = False
) -> Prepared:
    """Compile what a trace asks for; `donated` are the inputs whose memory may be taken. With
    `exact`, it is compiled for its sizes only."""
    return _Preparation(trace, donated).prepare(config, exact)


class _Preparation:
    def __init__(self, trace: Trace, donated: Sequence[int]) -> None:
        self.trace = trace
        # In place of memory that others own stand nodes without any, so that we keep none alive.
        # What the histories of such memory read is real and has to be exchanged here.
        self.flats: dict[UOp, Owner] = {}
        for at, flat in enumerate(trace.flats):
            self.flats.setdefault(flat, Owner("input", at))
        stand_ins: dict[UOp, UOp] = {}
        for at, captured in enumerate(trace.captured):
            flat = memory_leaf(captured.given)
            if flat.op is Op.BUFFER:
                stand_ins[memory_leaf(captured.seen)] = flat
                self.flats.setdefault(flat, Owner("captured", at))
        for at, (flat, _) in enumerate(trace.supplies):
            self.flats[flat] = Owner("supply", at)
        own = {"input": trace.flats, "captured": [memory_leaf(f.given) for f in trace.captured]}
        updates = [(Owner(u.kind, u.position), u.node) for u in trace.updates]
        nodes = substitute(
            (*[entry.node for entry in trace.fresh], *[node for _, node in updates]),
            stand_ins, revisit=False,
        )  # fmt: skip
        self.fresh = list(nodes[: len(trace.fresh)])
        self.updates = [
            (owner, node)
            for (owner, _), node in zip(updates, nodes[len(trace.fresh) :], strict=True)
            if 0 not in node.shape
        ]
        # What is overwritten in place, and which owner that is.
        self.targets: dict[UOp, Owner] = {}
        chains: set[UOp] = set()
        in_place: list[bool] = []
        for owner, node in self.updates:
            flat = own[owner.kind][owner.position]
            chain = _versions(node)
            in_place.append(chain[-1] is flat and flat not in self.targets)
            if in_place[-1]:
                self.targets[flat] = owner
                chains.update(chain[:-1])
        self._write_to_copies(chains)
        self.in_place = [
            update for update, is_so in zip(self.updates, in_place, strict=True) if is_so
        ]
        self.moved = [u for u, is_so in zip(self.updates, in_place, strict=True) if not is_so]
        self.donations = self._match_donations(donated)

    def _match_donations(self, donated: Sequence[int]) -> dict[int, int]:
        """For results that can be written over a donated input: result → input."""
        donations: dict[int, int] = {}
        for at in donated:
            flat = self.trace.flats[at]
            if flat in self.targets or registry.buffer_of(flat).borrowed:
                continue
            if self.trace.numbers[at] is not None:
                continue  # how parts are read is not known before they are placed
            for position, node in enumerate(self.fresh):
                if position in donations or is_memory(node) or node.dtype is not flat.dtype:
                    continue
                if 0 in node.shape or not all(isinstance(size, int) for size in node.shape):
                    continue
                if element_count(node.shape) != flat.size:
                    continue
                target = shaped(flat, node.shape)
                if not _reads_elsewhere(node, target, flat):
                    store = UOp(Op.ASSIGN, dtypes.void, (target, node))
                    self.fresh[position] = UOp(Op.AFTER, node.dtype, (target, store))
                    donations[position] = at
                    self.targets[flat] = Owner("input", at)
                    break
        return donations

    def _write_to_copies(self, chains: set[UOp]) -> None:
        """Let every assignment that is not among `chains` write to a copy.

        x.assign(x + 1); y = x.reshape(2, 2); y.assign(0)     y overwrites a copy of x
        """
        roots = (*self.fresh, *[node for _, node in self.updates])
        done: dict[UOp, UOp] = {}
        for node in walk(roots):
            sources = tuple([done[source] for source in node.src])
            if node.op is Op.AFTER and node.effects[0].op is Op.ASSIGN and node not in chains:
                version = version_below(node)
                if version.op is Op.BUFFER or version in chains:
                    # The number keeps copies apart, of each other and of results.
                    mark = ("written", len(done))
                    copy = UOp(Op.CONTIGUOUS, version.dtype, (done[version],), mark)
                    target, value = node.effects[0].src
                    target = _rebase(target, version, copy, done)
                    store = UOp(Op.ASSIGN, dtypes.void, (target, done[value]))
                    sources = (_rebase(node.operand, version, copy, done), store)
            same = all(new is old for new, old in zip(sources, node.src, strict=True))
            done[node] = node if same else node.replace(src=sources)
        self.fresh = [done[node] for node in self.fresh]
        self.updates = [(owner, done[node]) for owner, node in self.updates]

    def prepare(self, config: Config, exact: bool) -> Prepared:
        """Compile, and say what each slot is."""
        everything = (*self.fresh, *[node for _, node in self.in_place + self.moved])
        overwritten = {version_below(effect) for effect in effects_of(everything)}
        computed = [self._computed(at, overwritten) for at in range(len(self.fresh))]
        others = [self._of_its_own(node, overwritten) for _, node in self.moved]
        # The versions that are to be in place come first: others of the same memory get copies.
        first = [node for _, node in self.in_place] + [self.fresh[at] for at in self.donations]
        roots = tuple(dict.fromkeys([*first, *[node for node in computed if node], *others]))
        # A call gives each buffer one address.
        parametric = to_parametric(roots, config, whole=True)
        if exact:
            general_graphs.note(parametric, config)
        normalized, executions = find_executions(parametric, config, exact)
        graph = executions.graph
        slots = dict(zip(roots, graph.outputs, strict=True))
        results = []
        for at, asked in enumerate(computed):
            node, device = self.fresh[at], self.trace.fresh[at].device
            slot = None if asked is None else slots[asked]
            flows = self.trace.fresh[at].flows
            donated = self.donations.get(at)
            results.append(ResultSlot(slot, donated, node.shape, node.dtype, device, flows))
        moved = [
            (owner, ResultSlot(slots[asked], None, node.shape, node.dtype, self._device(owner)))
            for (owner, node), asked in zip(self.moved, others, strict=True)
        ]
        owners, constants = self._parameters(graph, normalized)
        written = list(self.targets.values())
        prepared = Prepared(graph, normalized, owners, constants, results, written, moved)
        self._check(prepared, [slots[node] for _, node in self.in_place])
        return prepared

    def _computed(self, at: int, overwritten: set[UOp]) -> UOp | None:
        """The root of a result; None for one without elements."""
        node = self.fresh[at]
        if 0 in node.shape:
            return None
        return node if at in self.donations else self._of_its_own(node, overwritten)

    def _parameters(
        self, graph: CompiledGraph, normalized: Normalized
    ) -> tuple[dict[int, Owner], dict[int, Buffer]]:
        """For the slots that are memory from outside: whose, or which constant's."""
        owners: dict[int, Owner] = {}
        constants: dict[int, Buffer] = {}
        for number, slot in enumerate(graph.slots):
            if slot.parameter is not None:
                flat = normalized.buffers[slot.parameter]
                if flat in self.flats:
                    owners[number] = self.flats[flat]
                else:
                    constants[number] = registry.buffer_of(flat)
        return owners, constants

    def _check(self, prepared: Prepared, in_place: list[int]) -> None:
        fresh = [m.slot for m in prepared.results if m.donated is None and m.slot is not None]
        fresh += [result.slot for _, result in prepared.moved if result.slot is not None]
        slots = prepared.graph.slots
        if any(slots[number].parameter is None for number in in_place) or any(
            slots[number].parameter is not None for number in fresh
        ):
            raise TraceError(
                "the function writes to several versions of one tensor at once; assign to copies "
                "of it (contiguous() after an operation) or split the function"
            )

    def _device(self, owner: Owner) -> str:
        if owner.kind == "captured":
            device: str = self.trace.captured[owner.position].tensor.device
        else:
            device = self.trace.flats[owner.position].device
        return device

    def _of_its_own(self, node: UOp, overwritten: set[UOp]) -> UOp:
        """A node that is computed into memory of its own, and is not a view or a version."""
        bottom = node
        while bottom.op in (Op.RESHAPE, Op.DETACH, Op.GRADIENT):
            bottom = bottom.operand
        plain = bottom.op not in (Op.CONST, Op.IOTA, Op.BIND, Op.BUFFER)
        if plain and is_memory(bottom):
            leaf = memory_leaf(bottom)
            base = _versions(leaf)[-1]
            plain = bottom is leaf and leaf not in overwritten and base not in self.targets
        return node if plain else UOp(Op.CONTIGUOUS, node.dtype, (node,), ())


def _reads_elsewhere(value: UOp, target: UOp, flat: UOp) -> bool:
    return reads_elsewhere(value, target, lambda node: flat in node.walk())


def _versions(node: UOp) -> list[UOp]:
    """A version, the one before, and so on, down to memory or to a value."""
    chain = [memory_leaf(node)]
    while chain[-1].op is Op.AFTER:
        chain.append(version_below(chain[-1]))
    return chain


def _rebase(view: UOp, version: UOp, copy: UOp, done: dict[UOp, UOp]) -> UOp:
    """A chain of movement ops over a copy of the version it starts from."""
    chain = []
    while view is not version:
        chain.append(view)
        view = view.operand
    for node in reversed(chain):
        copy = node.replace(src=(copy, *[done[source] for source in node.src[1:]]))
    return copy
