"""Whole objects in PyTorch's archives: modules, and any other objects that Python can pickle.

Loading one can run any code that the file names, as with every pickle. So it is done only on
explicit request.
"""

from __future__ import annotations

import importlib
import io
import pickle
import sys
import zipfile
from collections.abc import Callable, Collection
from typing import Any, BinaryIO

from ogive.io.checked_files import Path, open_source
from ogive.io.pickling import FOLDER, VERSION
from ogive.io.pytorch_checkpoint import (
    KIND,
    PICKLE,
    Checkpoint,
    MakeParameter,
    Storage,
    StorageType,
)
from ogive.io.unpickle import Function
from ogive.io.zips import read_directory, read_member
from ogive.tensor.tensor import Tensor

BUILDERS = (
    "copyreg._reconstructor", "builtins.object", "__builtin__.object", "_codecs.encode",
    "numpy.dtype", "numpy.ndarray", "numpy._core.multiarray._reconstruct",
    "numpy.core.multiarray._reconstruct", "ogive.nn.parameter.Parameter",
    "ogive.tensor.tensor.Tensor", "ogive.tensor.values.interchange.restored",
    "ogive.tensor.neural.activations.gelu", "ogive.tensor.neural.activations.relu",
)  # fmt: skip
"""Functions that make plain instances of classes, arrays and tensors, and functions that layers
refer to. All of them are harmless."""


def write_whole(file: BinaryIO, obj: Any) -> None:
    """Write any object that Python can pickle to an open file.

    Raises the errors of pickling for other objects, such as a function inside another.
    """
    data = pickle.dumps(obj, 2)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{FOLDER}{PICKLE}", data)
        archive.writestr(f"{FOLDER}byteorder", sys.byteorder)
        archive.writestr(f"{FOLDER}version", VERSION)


def load_whole(
    path: Path,
    module_name: Callable[[str], str],
    make_parameter: MakeParameter,
    allowed: Collection[str] | None = None,
) -> tuple[Any, list[Tensor]]:
    """Read an object that `write_whole` or PyTorch wrote. Returns the object and its tensors.

    Names in the file are imported and called; with `allowed`, only these names and those that make
    plain data. `module_name` maps a module that the file names to the one to import. Tensors are
    made as by `read_torch`.

    Raises `FileError` if the file is missing or malformed, and the errors of unpickling.
    """
    with open_source(path, "load_whole", KIND) as source:
        checkpoint = Checkpoint(source, read_directory(source), make_parameter)
        data = read_member(source, checkpoint.members[checkpoint.prefix + PICKLE])
        loaded = _Reader(data, checkpoint, module_name, allowed).load()
        return loaded, checkpoint.read()


class _Reader(pickle.Unpickler):
    """Python's unpickler, with our functions for tensors and storages."""

    def __init__(
        self,
        data: bytes,
        checkpoint: Checkpoint,
        module_name: Callable[[str], str],
        allowed: Collection[str] | None,
    ) -> None:
        super().__init__(io.BytesIO(data))
        self._names = checkpoint.names()
        self._checkpoint = checkpoint
        self._module_name = module_name
        self._allowed = allowed

    def persistent_load(self, pid: Any) -> Storage:
        """Return the storage of a persistent id."""
        return self._checkpoint.storage(pid)

    def find_class(self, module: str, name: str) -> Any:
        """Return the class or function of a name."""
        module = {"__builtin__": "builtins", "copy_reg": "copyreg"}.get(module, module)
        known = self._names.get(f"{module}.{name}")
        if isinstance(known, Function) and module.startswith("torch._utils"):
            return lambda *given: known.apply(None, given)  # type: ignore[arg-type]
        if isinstance(known, StorageType) or (known is not None and module == "torch"):
            return known if not isinstance(known, Function) else _second(known)
        full = f"{module}.{name}"
        if self._allowed is not None and full not in {*self._allowed, *self._names, *BUILDERS}:
            self._checkpoint.source.refuse(f"it needs {full!r}, which is not said to be safe")
        value: Any = importlib.import_module(self._module_name(module))
        for part in name.split("."):
            value = getattr(value, part)
        return value


def _second(known: Function) -> Callable[..., Any]:
    """Return a function that Python's unpickler can call, from one of our machine."""
    return tuple if known.name == "torch.Size" else lambda *given: ":".join(map(str, given))
