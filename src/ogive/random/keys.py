"""Keys: random numbers as a function of an argument.

A key is a tensor of shape () and dtype uint64. The same key gives the same numbers. `split` and
`fold_in` make new keys, whose numbers are independent.
"""

from __future__ import annotations

from typing import Any

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.device_names import DEFAULT_DEVICE
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live.registry import graph_lock, make
from ogive.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError
from ogive.random.cipher import COUNTERS, FOLD, SPLIT, encipher, enciphered
from ogive.random.generator import Generator, default_generator, to_seed
from ogive.tensor import build
from ogive.tensor.core import to_integer, wrap
from ogive.tensor.creation.supplied_numbers import taken
from ogive.tensor.tensor import Tensor


def key(seed: int) -> Tensor:
    """Return the key of a seed. Shapes: ().

    >>> a, b = key(7), key(7)
    >>> ogive.rand(3, key=a).tolist() == ogive.rand(3, key=b).tolist()
    True

    Raises `ArgumentError` unless -2^63 <= seed < 2^64.
    """
    return Tensor(numpy.array(to_seed(seed), dtype=numpy.uint64), device=DEFAULT_DEVICE)


def split(key: Tensor, count: int = 2) -> Tensor:
    """Return `count` new keys. Shapes: (count,). `a, b = split(key)` unpacks them.

    >>> a, b = split(ogive.random.key(0))
    >>> ogive.rand(1, key=a).item() == ogive.rand(1, key=b).item()
    False
    """
    number = to_integer(count, "split: the number of keys")
    if number < 0:
        raise ArgumentError(f"split: the number of keys is {number}, and cannot be negative")
    with graph_lock:
        return wrap(enciphered(_key_node(key, "split"), number, SPLIT), key.device)


def fold_in(key: Tensor, data: int | Tensor) -> Tensor:
    """Return a new key for a key and a number, such as that of a step. Shapes: that of `data`.

    >>> step = fold_in(ogive.random.key(0), 12)
    >>> step.shape
    ()

    Raises `ArgumentError` unless 0 <= data < 2^62. Numbers in a tensor are taken modulo 2^62.
    """
    if isinstance(data, Tensor):
        if not data.dtype.is_integer:
            raise DtypeError(f"fold_in takes integers, not {data.dtype.name}")
        data = data.to(key.device)
    else:
        data = to_integer(data, "fold_in: data")
        if not 0 <= data < COUNTERS:
            raise ArgumentError(f"fold_in: data must be between 0 and 2^62 - 1, not {data}")
        data = Tensor(numpy.array(data, dtype=numpy.uint64), device=key.device)
    with graph_lock:
        node = build.cast(data.node, dtypes.uint64)
        purpose = build.constant(dtypes.uint64, FOLD)
        counter = make(Op.OR, dtypes.uint64, (node, purpose))
        keys = build.expand_to(build.reshape(_key_node(key, "fold_in"), ()), node.shape)
        return wrap(encipher(counter, keys), key.device)


def key_of_draw(key: Tensor | None, generator: Generator | None, name: str) -> UOp:
    """Return the key of a draw, of shape (1,): the given key, or the next one of a generator.

    The caller holds `graph_lock`.
    """
    if key is None:
        if generator is not None and not isinstance(generator, Generator):
            raise ArgumentTypeError(
                f"{name}: a generator is made by ogive.random.Generator, got {generator!r}"
            )
        return taken(default_generator if generator is None else generator)
    if generator is not None:
        raise ArgumentError(f"{name} takes a key or a generator, not both")
    return _key_node(key, name)


def _key_node(key: Any, name: str) -> UOp:
    if not isinstance(key, Tensor):
        raise ArgumentTypeError(
            f"{name}: a key is made by ogive.random.key(seed), got {type(key).__name__}"
        )
    if key.dtype is not dtypes.uint64:
        raise DtypeError(f"{name}: a key is a tensor of uint64, not {key.dtype.name}")
    if key.shape not in ((), (1,)):
        raise ShapeError(f"{name}: a key has the shape (), not {build.show(key.shape)}; index it")
    return build.reshape(key.node, (1,))
