"""`ogive.export`: a function becomes an object file and a header, for programs without Python.

    function, example     describe    traced and compiled: arguments, constants, results
                          write       steps over these; what follows from constants is computed
                          assemble    name.o, name.h
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

from ogive.compiler.devices.known_devices import host
from ogive.config import Config, current_config
from ogive.deployment.c_header import c_header, prototype
from ogive.deployment.described_function import DescribedFunction
from ogive.deployment.write_steps import write_steps
from ogive.errors import ArgumentError
from ogive.io.checked_files import replacing
from ogive.named import NamedTuple
from ogive.tensor.tensor import Tensor


class Exported(NamedTuple):
    """The files of an exported function, its declaration in C, and the bytes that it takes.

    `constant_bytes` are part of the object; the caller passes `memory_bytes` of scratch memory.
    """

    object_path: str
    header_path: str
    prototype: str
    constant_bytes: int
    memory_bytes: int

    def __repr__(self) -> str:
        return (
            f"<exported to {self.object_path} and {self.header_path}: {self.constant_bytes:,} "
            f"bytes of constants, {self.memory_bytes:,} of scratch memory>\n{self.prototype};"
        )


def export(
    function: Callable[..., Any],
    example: Sequence[Any],
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    cpu: str | None = None,
    arguments: Sequence[str] = (),
    results: Sequence[str] = (),
    config: Config | None = None,
) -> Exported:
    """Write a function as an object file that C programs call, with all weights in it.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> layer = ogive.nn.Linear(3, 2)
    >>> print(ogive.export(layer, (ogive.zeros(4, 3),), f"{folder}/layer.o").prototype)
    int32_t layer(
        const float *x,  /* float32 [4, 3] */
        float *result,  /* float32 [4, 2] */
        void *memory  /* LAYER_MEMORY bytes */
    )

    The function is traced once with the tensors and arrays of `example`, as `ogive.jit` does it.
    They become parameters; numbers and all else that it reads become part of the code. A length
    that is a bound variable (`n.bind(4)`) becomes a parameter as well. `path` is the object's, and
    the header lies beside it. The object refers to nothing but `memcpy` and its kind; a C compiler
    links it, and whatever else links objects.

    `name` is the function's (the file's if not given); `arguments` and `results` name its
    parameters. `cpu` says which processors run the code: "x86-64-v3" or "x86-64-v4", if not given
    those like this one. Results have the same bits as those of `ogive.jit` under that setting.

    Raises `TraceError` for what has no meaning without Python (updates of tensors, random draws,
    custom functions), `ArgumentError` for a bad name or path, `FileError`.
    """
    place_of_object = os.fspath(path)
    stem, suffix = os.path.splitext(place_of_object)
    if suffix != ".o":
        raise ArgumentError(f"export: the path of an object file ends in .o, got {path!r}")
    name = os.path.basename(stem) if name is None else name
    if not re.fullmatch(r"[A-Za-z_]\w*", name, flags=re.ASCII):
        raise ArgumentError(
            f"export: {name!r} cannot be the name of a function of C; give another one by name="
        )
    config = current_config() if config is None else config
    if cpu is not None:
        config = config.with_changes({"cpu": cpu})
    if isinstance(example, Tensor) or not isinstance(example, Sequence):
        raise ArgumentError("export: example is a sequence of arguments, such as (x,)")
    described = DescribedFunction(function, tuple(example), config)
    with tempfile.TemporaryDirectory() as folder:
        program, memory_bytes = write_steps(described, name, os.path.join(folder, "constants"))
        code = host().write_program(program, config)
    given, written = described.parameters(arguments, results)
    target = host().target(config)
    origin = f"written by Ogive for {target.cpu} ({target.triple})"
    header = c_header(name, origin, given, written, program.variables, memory_bytes)
    for where, content in ((place_of_object, code), (f"{stem}.h", header.encode())):
        with replacing(where, "an exported function") as file:
            file.write(content)
    declared = prototype(name, given, written, program.variables)
    return Exported(
        place_of_object, f"{stem}.h", declared, program.constant_bytes, memory_bytes
    )
