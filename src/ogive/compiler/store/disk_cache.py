"""The engine's view of the caches on disk: graphs, kernels and code, looked up by content."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.store.code_records import CodeRecord, unpack_code
from ogive.compiler.store.compiler_version import CALLED, LIBRARY, Sources, llvm_identity
from ogive.compiler.store.content_keys import Encoded, Key, encode_graph, make_key
from ogive.compiler.store.encoding import DamagedRecord
from ogive.compiler.store.open_stores import OpenStores, open_stores
from ogive.compiler.store.records import (
    FORMAT,
    GraphRecord,
    KernelRecord,
    unpack_graph,
    unpack_kernel,
)
from ogive.compiler.store.rows import Entry, Kind
from ogive.compiler.store.store import Store
from ogive.compiler.store.trace_records import TraceRecord, unpack_trace
from ogive.config import Config
from ogive.folders import cache_place

TargetKeys = Mapping[str, str]
"""The key of the target of each device that computes some of a graph."""


class Disk:
    """A store as one version of the compiler uses it.

    `origin` is the part of every key that identifies the compiler. `signature` is that of its
    `sources` when they were loaded.
    """

    def __init__(
        self,
        store: Store,
        origin: bytes,
        signature: bytes,
        sources: Sources,
        make_key: Callable[..., Key],
    ) -> None:
        self.store = store
        self._origin = origin
        self._signature = signature
        self._sources = sources
        self._make_key = make_key
        self._digests: dict[tuple[str, ...], bytes | None] = {}

    def graph_key(self, sink: UOp, targets: TargetKeys, config: Config) -> Key | None:
        """The key of a parametric graph's compiled form; None if it calls library functions of
        which nobody can tell whether they have changed."""
        return self._graph_key(encode_graph(sink), targets, config)

    def _graph_key(self, graph: Encoded, targets: TargetKeys, config: Config) -> Key | None:
        called = self._digest_of(CALLED) if graph.has_calls else b""
        if called is None:
            return None
        keys = [f"{device} {key}" for device, key in sorted(targets.items())]
        text = "\n".join(keys).encode()
        return self._make_key(b"graph", self._origin, called, text, _settings(config), graph.text)

    def kernel_key(self, region: UOp, target_key: str, config: Config) -> Key:
        """The key of a region's kernel."""
        return self._key(b"kernel", target_key, _settings(config), encode_graph(region).text)

    def code_key(self, ir: str, target_key: str) -> Key:
        """The key of object code, once there is IR."""
        return self._key(b"code", target_key, ir.encode())

    def driver_key(self, target_key: str) -> Key:
        """The key of the native driver."""
        return self._key(b"driver", target_key)

    def machine_key(self, label: bytes, *facts: bytes) -> Key:
        """The key of what follows from the compiler and from facts about the machine."""
        return self._make_key(label, self._origin, *facts)

    def _key(self, label: bytes, target_key: str, *parts: bytes) -> Key:
        return self._make_key(label, self._origin, target_key.encode(), *parts)

    def find_graph(
        self, sink: UOp, targets: TargetKeys, config: Config
    ) -> tuple[GraphRecord, dict[Key, CodeRecord]] | None:
        """The compiled form of a parametric graph, with the code of all its kernels."""
        graph = encode_graph(sink)
        key = self._graph_key(graph, targets, config)
        if key is None:
            return None
        return self.find_graph_at(key, lambda record: _fits(record, graph.leaves, sink))

    def find_graph_at(
        self, key: Key, fits: Callable[[GraphRecord], bool]
    ) -> tuple[GraphRecord, dict[Key, CodeRecord]] | None:
        """The compiled graph with a key, if it `fits`, with the code of all its kernels."""
        payload = self.store.read(Kind.GRAPH, [key]).get(key)
        if payload is None:
            return None
        try:
            record = unpack_graph(payload)
        except DamagedRecord:
            return None
        if not fits(record):
            return None
        codes = self.find_codes([kernel.code for kernel in record.kernels])
        return (record, codes) if all(k.code in codes for k in record.kernels) else None

    def function_key(self, function: bytes) -> Key | None:
        """The key of a function, whoever calls it; None where the library cannot be told apart
        from others."""
        library = self._digest_of(LIBRARY)
        if library is None:
            return None
        return self._make_key(b"function", self._origin, library, function)

    def trace_key(
        self, function: bytes, call: bytes, target_key: str, config: Config
    ) -> Key | None:
        """The key of what a function is captured as for one kind of call."""
        key = self.function_key(function)
        if key is None:
            return None
        target = target_key.encode()
        return self._make_key(b"trace", b"".join(key), target, _settings(config), call)

    def _digest_of(self, folders: tuple[str, ...]) -> bytes | None:
        """The digest of the sources in some folders; None if they cannot be told apart."""
        if folders not in self._digests:
            sources = self._sources.within(folders)
            signature = sources.signature()
            digest = None if signature is None else sources.digest(self.store, signature)
            self._digests[folders] = digest
        return self._digests[folders]

    def has_function(self, function: bytes) -> bool:
        """Whether a function has been captured before."""
        key = self.function_key(function)
        return key is not None and key in self.store.read(Kind.TRACE, [key])

    def find_trace(self, key: Key) -> TraceRecord | None:
        """The trace of a captured function."""
        payload = self.store.read(Kind.TRACE, [key]).get(key)
        if payload is None:
            return None
        try:
            return unpack_trace(payload)
        except DamagedRecord:
            return None

    def find_kernel(self, key: Key) -> tuple[KernelRecord, CodeRecord] | None:
        """A kernel with its code."""
        payload = self.store.read(Kind.KERNEL, [key]).get(key)
        if payload is None:
            return None
        try:
            record = unpack_kernel(payload)
        except DamagedRecord:
            return None
        code = self.find_codes([record.code]).get(record.code)
        return None if code is None else (record, code)

    def find_codes(self, keys: Sequence[Key]) -> dict[Key, CodeRecord]:
        """The code records found for `keys`."""
        codes: dict[Key, CodeRecord] = {}
        for key, payload in self.store.read(Kind.CODE, list(dict.fromkeys(keys))).items():
            try:
                codes[key] = unpack_code(payload)
            except DamagedRecord:
                continue
        return codes

    def write(self, entries: Iterable[Entry], config: Config) -> None:
        """Store entries, unless the compiler's sources have changed since they were loaded."""
        if self._sources.signature() == self._signature:
            self.store.write(entries, config.disk_cache_bytes)


def _settings(config: Config) -> bytes:
    return repr(config.code_key).encode()


def _fits(record: GraphRecord, leaves: Sequence[UOp], sink: UOp) -> bool:
    """Whether the parameters, variables and results of a record are those of a graph.

    A record may lack parameters, if simplification found that results do not depend on them. It has
    pairs of floats in place of complex elements.
    """
    parameters: dict[int, UOp] = {}
    variables: dict[str, tuple[int, int]] = {}
    for node in leaves:
        if node.op is Op.PARAM:
            parameters[node.slot] = node
        elif node.op is Op.VARIABLE:
            variables[node.name] = node.low, node.high
    if record.variables != variables or len(record.outputs) != len(sink.src):
        return False
    for slot in record.slots:
        if slot.parameter is not None:
            parameter = parameters.pop(slot.parameter, None)
            # A slot of a file or a function must never be taken for memory. Its device tells, and
            # the record was checked for that.
            if parameter is None or parameter.device != slot.device:
                return False
            if parameter.dtype.part is not slot.dtype:
                return False
            if parameter.size * parameter.dtype.itemsize != slot.nbytes:
                return False
    outputs = [record.slots[output] for output in record.outputs]
    return all(
        slot.dtype is root.dtype.part and slot.device == device
        for slot, root, device in zip(outputs, sink.src, sink.arg, strict=True)
    )


class DiskCaches:
    """The caches on disk of a process: a `Disk` for each store.

    `sources` are the compiler's, and `make_key` makes keys.
    """

    def __init__(
        self, stores: OpenStores, sources: Sources, make_key: Callable[..., Key] = make_key
    ) -> None:
        self._stores = stores
        self._sources = sources
        self._make_key = make_key
        self._disks: dict[Store, Disk | None] = {}

    @contextlib.contextmanager
    def seen_by(
        self, sources: Sources, make_key: Callable[..., Key] = make_key
    ) -> Iterator[None]:
        """Within this context, the compiler has other sources, and `make_key` makes keys."""
        before = self._sources, self._make_key, self._disks
        self._sources, self._make_key, self._disks = sources, make_key, {}
        try:
            yield
        finally:
            self._sources, self._make_key, self._disks = before

    def disk_for(self, config: Config) -> Disk | None:
        """The caches on disk for a configuration; None if they are off or cannot be used."""
        if not (config.disk_cache and config.schedule_cache and config.disk_cache_bytes):
            return None
        store = self._stores.store_in(cache_place())
        if store not in self._disks:
            self._disks[store] = self._open(store)
        return self._disks[store]

    def _open(self, store: Store) -> Disk | None:
        llvm, signature = llvm_identity(), self._sources.signature()
        if llvm is None or signature is None:
            return None
        compiler = self._sources.digest(store, signature)
        if compiler is None:
            return None
        origin = b"%d " % FORMAT + llvm + compiler
        return Disk(store, origin, signature, self._sources, self._make_key)


disk_caches = DiskCaches(open_stores, Sources())
disk_for = disk_caches.disk_for
