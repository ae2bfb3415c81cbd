"""A model's file: looked through when it is opened, and built into a graph when one is asked for.

Opening it finds what it takes and makes, where its weights are, and its digest, which stands for
all that the file says but for the elements of large weights. A file that was captured by an earlier
process is known by that, and needs no graph.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ogive.compiler.digest import blake2b
from ogive.errors import FileError
from ogive.io.checked_files import Path, in_memory, open_source
from ogive.onnx.elements import DTYPES, KEPT_IN_FILE, read_value
from ogive.onnx.graph import Builder, Graph, Info, info_of, versions
from ogive.onnx.messages import ModelProto, TensorProto
from ogive.onnx.wire import KIND, Document, Memory, Span
from ogive.tensor.tensor import Tensor

IN_FILE = "in the file: "
"""What a weight in a file is called by in what is kept of a capture begins with this."""

_DIGEST_BYTES = 32
_PIECE = 1 << 20
"""Bytes that are read at once for the digest."""


class ModelFile:
    """A file, or bytes, of a model.

    `apart` are the weights that the digest does not stand for, by name: where their messages are.
    """

    def __init__(self, source: str | bytes, folder: str | None, document: Document) -> None:
        self.source = source
        self._folder = folder
        self._state = _state_of(source)
        self._lock = threading.Lock()
        self._graph: Graph | None = None
        proto = ModelProto(document, Span(0, document.origin.size))
        self.apart: dict[str, Span] = {}
        self.metadata: dict[str, str] = proto.metadata
        self.producer = proto.producer
        self.opsets = versions(proto.opsets)
        self.name = ""
        self.node_count = 0
        self.inputs: list[Info] = []
        self.outputs: list[Info] = []
        if proto.graph is not None:
            constants = {each.name for each in proto.graph.initializers}
            sparse = [each.values for each in proto.graph.sparse_initializers]
            constants |= {values.name for values in sparse if values is not None}
            self.name = proto.graph.name
            self.node_count = proto.graph.node_count
            self.inputs = [
                info for each in proto.graph.inputs if (info := info_of(each)).name not in constants
            ]
            self.outputs = [info_of(each) for each in proto.graph.outputs]
        self.digest = self._look_through(proto)
        self._proto: ModelProto | None = proto

    def _look_through(self, proto: ModelProto) -> bytes:
        """Note which weights are apart, and give the digest of all else."""
        digest = blake2b(digest_size=_DIGEST_BYTES)
        origin, position = proto.document.origin, 0

        def take(end: int) -> None:
            nonlocal position
            digest.update(b"%d %d " % (position, end))
            while position < end:
                piece = origin.read(position, min(_PIECE, end - position), KIND)
                digest.update(piece)
                position += len(piece)

        for tensor in () if proto.graph is None else proto.graph.initializers:
            self.apart.pop(tensor.name, None)  # of several of one name the last one counts
            if tensor.is_external:
                self.apart[tensor.name] = tensor.span
            elif (raw := _elements_in_file(tensor)) is not None:
                self.apart[tensor.name] = tensor.span
                take(raw.begin)
                position = raw.end
        take(origin.size)
        return digest.digest()

    @classmethod
    @contextmanager
    def opened(cls, source: Path | bytes) -> Iterator[ModelFile]:
        """A model's file that can be built while it is open. Raises `FileError`."""
        if isinstance(source, bytes | bytearray | memoryview):
            content = bytes(source)
            yield cls(content, None, Document(Memory(content)))
            return
        with open_source(source, "onnx.load", KIND) as file:
            folder, path = os.path.dirname(file.path), os.path.abspath(file.path)
            opened = cls(path, folder, Document(file))
            yield opened
            opened._proto = None

    @property
    def graph(self) -> Graph:
        """The graph, checked. Raises `FileError`, `OperatorError`."""
        with self._lock:
            if self._graph is None:
                if self._proto is not None:
                    self._graph = Builder(self._proto, self._folder).build()
                else:
                    with self._document() as document:
                        proto = ModelProto(document, Span(0, document.origin.size))
                        self._graph = Builder(proto, self._folder).build()
                self._proto = None
            return self._graph

    @contextmanager
    def _document(self) -> Iterator[Document]:
        """The file, opened again. Raises `FileError` where it is another by now."""
        if isinstance(self.source, bytes):
            yield Document(Memory(self.source))
            return
        if _state_of(self.source) != self._state:
            with ModelFile.opened(self.source) as again:
                if again.digest != self.digest:
                    place = repr(self.source)
                    raise FileError(f"{place} has changed since it was loaded; load it again")
        with open_source(self.source, "onnx.load", KIND) as file:
            yield Document(file)

    def check_files_beside(self) -> None:
        """Raise `FileError` where weights are not in files beside it, as it says."""
        if self._proto is not None and self._proto.graph is not None:
            for tensor in self._proto.graph.initializers:
                if tensor.is_external:
                    read_value(tensor, self._folder)

    def weights(self, names: Sequence[str]) -> list[Tensor]:
        """Weights that are apart, read into memory. Raises `FileError`, `KeyError`."""
        with self._document() as document:
            protos = [TensorProto(document, self.apart[name]) for name in names]
            weights = [read_value(each, self._folder, at_once=True) for each in protos]
        return [in_memory(each) for each in weights if isinstance(each, Tensor)]


def _state_of(source: str | bytes) -> tuple[int, int] | None:
    """The size and time of a file, which change when it is written to."""
    if isinstance(source, bytes):
        return None
    try:
        status = os.stat(source)
    except OSError:
        return None  # opening it says why
    return status.st_size, status.st_mtime_ns


def _elements_in_file(tensor: TensorProto) -> Span | None:
    """The place of the elements of a tensor that nobody looks at while a graph is captured."""
    raw = tensor.raw
    if raw is None or raw.end - raw.begin < KEPT_IN_FILE or tensor.data_type not in DTYPES:
        return None
    return raw
