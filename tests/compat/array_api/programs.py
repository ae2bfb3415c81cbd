"""Programs written against the standard, run under NumPy's namespace and under ours.

Each takes the namespace and the inputs, which are arrays of that namespace.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

Program = Callable[[Any, Any], Any]


def inputs(xp: Any) -> Any:
    """Arrays by name: f float64, g float32, i and j integers, u unsigned, b bool, z complex."""
    generator = numpy.random.default_rng(7)
    f = generator.normal(size=(3, 4))
    values = {
        "f": f,
        "g": generator.uniform(0.1, 0.9, (3, 4)).astype("float32"),
        "p": generator.uniform(0.5, 3.0, (3, 4)),
        "i": generator.integers(-9, 9, (3, 4)),
        "j": generator.integers(1, 5, (3, 4)).astype("int32"),
        "u": generator.integers(0, 200, (3, 4)).astype("uint8"),
        "b": f > 0,
        "z": f + 1j * f[::-1, ::-1],
        "w": (generator.normal(size=(3, 4)) + 0.5j).astype("complex64"),
        "s": numpy.asarray(1.5),
        "m": generator.normal(size=(2, 3, 3)) + 4 * numpy.eye(3),
        "k": numpy.asarray([3, 1, 3, 2, 1, 3]),
    }
    return type("Inputs", (), {name: xp.asarray(value) for name, value in values.items()})


def _call(name: str, *names: str) -> tuple[str, Program]:
    title = f"{name}({', '.join(names)})"
    return title, lambda xp, x: getattr(xp, name)(*[getattr(x, each) for each in names])


ELEMENTWISE: list[tuple[str, Program]] = [
    *[
        _call(name, each)
        for name in ("abs", "negative", "positive", "square", "sign", "round")
        for each in ("f", "g", "i", "z")
    ],
    *[
        _call(name, each)
        for name in ("exp", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asinh", "atan")
        for each in ("f", "g", "z")
    ],
    *[
        _call(name, each)
        for name in ("log", "log1p", "log2", "log10", "sqrt", "reciprocal")
        for each in ("p", "g", "z")
    ],
    *[_call(name, each) for name in ("acos", "asin", "atanh") for each in ("g", "z")],
    _call("acosh", "z"),
    *[_call(name, each) for name in ("ceil", "floor", "trunc") for each in ("f", "i")],
    *[_call(name, each) for name in ("isfinite", "isinf", "isnan") for each in ("f", "i", "z")],
    _call("signbit", "f"), _call("logical_not", "b"), _call("bitwise_invert", "i"),
    _call("conj", "z"), _call("real", "z"), _call("imag", "z"),
    *[
        _call(name, *pair)
        for name in ("add", "subtract", "multiply", "equal", "not_equal")
        for pair in (("f", "g"), ("i", "j"), ("z", "f"), ("w", "g"), ("g", "s"), ("z", "w"))
    ],
    *[_call("divide", *pair) for pair in (("f", "p"), ("z", "w"), ("g", "s"))],
    *[_call("pow", *pair) for pair in (("p", "f"), ("i", "j"), ("z", "w"))],
    *[
        _call(name, *pair)
        for name in ("greater", "greater_equal", "less", "less_equal", "maximum", "minimum")
        for pair in (("f", "g"), ("i", "j"))
    ],
    *[_call(name, "i", "j") for name in ("floor_divide", "remainder", "bitwise_left_shift")],
    *[_call(name, "f", "p") for name in ("floor_divide", "remainder", "atan2", "copysign")],
    *[_call(name, "f", "p") for name in ("hypot", "logaddexp", "nextafter")],
    *[_call(f"bitwise_{name}", "i", "j") for name in ("and", "or", "xor", "right_shift")],
    *[_call(f"logical_{name}", "b", "b") for name in ("and", "or", "xor")],
    ("add(2, x)", lambda xp, x: xp.add(2, x.g)),
    ("subtract(2, x)", lambda xp, x: xp.subtract(2, x.j)),
    ("multiply(x, 1j)", lambda xp, x: xp.multiply(x.f, 1j)),
    ("pow(2.0, x)", lambda xp, x: xp.pow(2.0, x.g)),
    ("less(0, x)", lambda xp, x: xp.less(0, x.i)),
    ("clip", lambda xp, x: xp.clip(x.f, -0.5, 0.5)),
    ("clip min", lambda xp, x: xp.clip(x.i, min=0)),
    ("clip by arrays", lambda xp, x: xp.clip(x.f, x.f - 1, x.p)),
]  # fmt: skip

STATISTICAL: list[tuple[str, Program]] = [
    *[
        (f"{name} {each} {options}", lambda xp, x, n=name, e=each, o=options: getattr(xp, n)(
            getattr(x, e), **o))
        for name in ("sum", "prod", "max", "min", "mean", "std", "var")
        for each in ("f",)
        for options in ({}, {"axis": 1}, {"axis": (0, -1), "keepdims": True}, {"axis": ()})
    ],
    *[_call(name, each) for name in ("sum", "prod") for each in ("i", "u", "z", "g")],
    *[_call(name, each) for name in ("max", "min") for each in ("i", "u")],
    _call("mean", "z"),
    ("sum dtype", lambda xp, x: xp.sum(x.u, dtype=xp.float64)),
    ("var correction", lambda xp, x: xp.var(x.f, axis=0, correction=1)),
    ("cumulative_sum", lambda xp, x: xp.cumulative_sum(x.f, axis=1)),
    ("cumulative_sum u", lambda xp, x: xp.cumulative_sum(x.u, axis=0, include_initial=True)),
    ("cumulative_sum z", lambda xp, x: xp.cumulative_sum(x.z, axis=0)),
    ("cumulative_prod", lambda xp, x: xp.cumulative_prod(x.k, include_initial=True)),
    ("cumulative_prod z", lambda xp, x: xp.cumulative_prod(x.z, axis=-1)),
    *[
        (f"{name} {options}", lambda xp, x, n=name, o=options: getattr(xp, n)(x.b, **o))
        for name in ("all", "any", "count_nonzero")
        for options in ({}, {"axis": 1}, {"axis": 0, "keepdims": True})
    ],
    ("all axis=()", lambda xp, x: xp.all(x.b, axis=())),
    ("diff", lambda xp, x: xp.diff(x.f, n=2)),
    ("diff ends", lambda xp, x: xp.diff(x.f, axis=0, prepend=x.f[:1, :], append=x.f[:2, :])),
]  # fmt: skip

SEARCHING: list[tuple[str, Program]] = [
    *[
        (f"{name} {options}", lambda xp, x, n=name, o=options: getattr(xp, n)(x.f, **o))
        for name in ("argmax", "argmin")
        for options in ({}, {"axis": 1}, {"axis": 0, "keepdims": True})
    ],
    ("nonzero", lambda xp, x: xp.nonzero(x.b)),
    ("where", lambda xp, x: xp.where(x.b, x.f, x.p)),
    ("where promotes", lambda xp, x: xp.where(x.b, x.z, x.f)),
    ("searchsorted", lambda xp, x: xp.searchsorted(xp.sort(x.k), x.k, side="right")),
    ("searchsorted sorter", lambda xp, x: xp.searchsorted(x.k, x.i, sorter=xp.argsort(x.k))),
    ("sort", lambda xp, x: xp.sort(x.f, axis=0)),
    ("argsort", lambda xp, x: xp.argsort(x.k, stable=True)),
    ("unique_all", lambda xp, x: tuple(xp.unique_all(x.k))),
    ("unique_all of rows", lambda xp, x: tuple(xp.unique_all(xp.reshape(x.k, (2, 3))))),
    ("unique_counts", lambda xp, x: tuple(xp.unique_counts(x.k))),
    ("unique_inverse", lambda xp, x: tuple(xp.unique_inverse(x.k))),
    ("unique_values", lambda xp, x: xp.sort(xp.unique_values(x.k))),
    ("take", lambda xp, x: xp.take(x.f, x.k[:2], axis=1)),
    ("take of a vector", lambda xp, x: xp.take(x.k, x.k)),
    ("take_along_axis", lambda xp, x: xp.take_along_axis(x.f, xp.argsort(x.f, axis=0), axis=0)),
    ("index by mask", lambda xp, x: x.f[x.b]),
]

MANIPULATION: list[tuple[str, Program]] = [
    ("broadcast_arrays", lambda xp, x: xp.broadcast_arrays(x.f, x.s)),
    ("broadcast_to", lambda xp, x: xp.broadcast_to(x.f, (2, 3, 4))),
    ("concat", lambda xp, x: xp.concat((x.f, x.g), axis=1)),
    ("concat flat", lambda xp, x: xp.concat([x.i, x.k], axis=None)),
    ("expand_dims", lambda xp, x: xp.expand_dims(x.f, axis=-1)),
    ("flip", lambda xp, x: xp.flip(x.f)),
    ("flip axis", lambda xp, x: xp.flip(x.z, axis=(-1,))),
    ("moveaxis", lambda xp, x: xp.moveaxis(x.m, (0, 1), (-1, 0))),
    ("permute_dims", lambda xp, x: xp.permute_dims(x.m, (2, 0, 1))),
    ("repeat", lambda xp, x: xp.repeat(x.f, 2, axis=1)),
    ("repeat flat", lambda xp, x: xp.repeat(x.i, 3)),
    ("repeat each", lambda xp, x: xp.repeat(x.f, x.k[:3], axis=0)),
    ("reshape", lambda xp, x: xp.reshape(x.f, (2, -1), copy=True)),
    ("roll", lambda xp, x: xp.roll(x.f, 5)),
    ("roll axes", lambda xp, x: xp.roll(x.f, (1, -1), axis=(0, 1))),
    ("squeeze", lambda xp, x: xp.squeeze(x.f[:1, :], axis=0)),
    ("stack", lambda xp, x: xp.stack([x.f, x.p], axis=1)),
    ("tile", lambda xp, x: xp.tile(x.f, (2, 1, 2))),
    ("unique_all complex", lambda xp, x: list(xp.unique_all(x.z * 0 + x.z[0, 0]))),
    ("unstack", lambda xp, x: xp.unstack(x.f, axis=1)),
    ("tril", lambda xp, x: xp.tril(x.m, k=1)),
    ("triu", lambda xp, x: xp.triu(x.z, k=-1)),
    ("meshgrid", lambda xp, x: list(xp.meshgrid(x.k, x.f[0, :]))),
    ("meshgrid ij", lambda xp, x: list(xp.meshgrid(x.k, x.k[:2], indexing="ij"))),
]

CREATION: list[tuple[str, Program]] = [
    ("arange", lambda xp, x: xp.arange(2, 9, 3)),
    ("arange away", lambda xp, x: xp.arange(5, 1)),
    ("arange dtype", lambda xp, x: xp.arange(4, dtype=xp.float32)),
    ("linspace", lambda xp, x: xp.linspace(0, 1, num=7, dtype=xp.float64)),
    ("linspace open", lambda xp, x: xp.linspace(-1.0, 2.0, 5, dtype=xp.float64, endpoint=False)),
    ("linspace thirds", lambda xp, x: xp.linspace(0, 1, 3, endpoint=False, dtype=xp.float64)),
    ("eye far away", lambda xp, x: xp.eye(2, k=-(1 << 65), dtype=xp.float64)),
    ("linspace complex", lambda xp, x: xp.linspace(0, 1 + 2j, 5, dtype=xp.complex128)),
    ("eye", lambda xp, x: xp.eye(3, 4, k=1, dtype=xp.float64)),
    ("eye below", lambda xp, x: xp.eye(3, k=-2, dtype=xp.complex64)),
    ("full", lambda xp, x: xp.full((2, 3), fill_value=1j, dtype=xp.complex64)),
    ("full_like", lambda xp, x: xp.full_like(x.g, 3)),
    ("zeros", lambda xp, x: xp.zeros(shape=(2, 3), dtype=xp.int8)),
    ("ones_like", lambda xp, x: xp.ones_like(x.z)),
    ("empty", lambda xp, x: xp.empty(3, dtype=xp.int32) * 0),
    ("asarray", lambda xp, x: xp.asarray([[1, 2], [3, 4]], dtype=xp.float32)),
    ("asarray complex", lambda xp, x: xp.asarray(1 - 2j, dtype=xp.complex64)),
    ("astype", lambda xp, x: xp.astype(x.f, xp.int32)),
    ("astype complex", lambda xp, x: xp.astype(x.i, xp.complex64)),
]

LINEAR: list[tuple[str, Program]] = [
    ("matmul", lambda xp, x: xp.matmul(x.f, xp.matrix_transpose(x.p))),
    ("matmul complex", lambda xp, x: x.z @ x.w.mT),
    ("tensordot", lambda xp, x: xp.tensordot(x.f, x.p, axes=((0, 1), (0, 1)))),
    ("vecdot", lambda xp, x: xp.vecdot(x.z, x.z, axis=0)),
    ("vecdot broadcast", lambda xp, x: xp.vecdot(x.f, x.p[0, :])),
    ("cholesky", lambda xp, x: xp.linalg.cholesky(x.m @ x.m.mT, upper=True)),
    ("cross", lambda xp, x: xp.linalg.cross(x.f[:, :3], x.p[:, :3], axis=1)),
    ("det", lambda xp, x: xp.linalg.det(x.m)),
    ("diagonal", lambda xp, x: xp.linalg.diagonal(x.m, offset=1)),
    ("eigh", lambda xp, x: xp.linalg.eigh(x.m + x.m.mT).eigenvalues),
    ("eigvalsh", lambda xp, x: xp.linalg.eigvalsh(x.m + x.m.mT)),
    ("inv", lambda xp, x: xp.linalg.inv(x.m)),
    ("inv complex", lambda xp, x: xp.linalg.inv(x.m + 1j)),
    ("det complex", lambda xp, x: xp.linalg.det(x.m + 1j)),
    ("slogdet complex", lambda xp, x: tuple(xp.linalg.slogdet(x.m - 2j))),
    ("eigvalsh complex", lambda xp, x: xp.linalg.eigvalsh(x.z @ xp.conj(x.z).mT)),
    ("cholesky complex", lambda xp, x: xp.linalg.cholesky(
        x.z[:, :3] @ xp.conj(x.z[:, :3]).mT + 5 * xp.eye(3, dtype=xp.float64))),
    ("svd complex", lambda xp, x: xp.linalg.svd(x.z).S),
    ("qr complex", lambda xp, x: (lambda q, r: q @ r)(*xp.linalg.qr(x.z))),
    ("solve complex", lambda xp, x: xp.linalg.solve(x.m + 1j, x.z[:, :2])),
    ("pinv complex", lambda xp, x: xp.linalg.pinv(x.z)),
    ("matrix_norm", lambda xp, x: xp.linalg.matrix_norm(x.m, keepdims=True, ord=1)),
    ("matrix_power", lambda xp, x: xp.linalg.matrix_power(x.m, 3)),
    ("matrix_rank", lambda xp, x: xp.linalg.matrix_rank(x.m)),
    ("outer", lambda xp, x: xp.linalg.outer(x.f[0, :], x.k)),
    ("pinv", lambda xp, x: xp.linalg.pinv(x.f)),
    ("qr", lambda xp, x: (lambda q, r: q @ r)(*xp.linalg.qr(x.f))),
    ("slogdet", lambda xp, x: tuple(xp.linalg.slogdet(x.m))),
    ("solve", lambda xp, x: xp.linalg.solve(x.m, x.f[:, :2])),
    ("svdvals", lambda xp, x: xp.linalg.svdvals(x.f)),
    ("svd", lambda xp, x: xp.linalg.svd(x.f, full_matrices=False).S),
    ("trace", lambda xp, x: xp.linalg.trace(x.m)),
    ("vector_norm", lambda xp, x: xp.linalg.vector_norm(x.f, axis=1, keepdims=True, ord=1)),
    ("vector_norm complex", lambda xp, x: xp.linalg.vector_norm(x.z)),
]

PROGRAMS: list[tuple[str, Program]] = [
    *ELEMENTWISE, *STATISTICAL, *SEARCHING, *MANIPULATION, *CREATION, *LINEAR,
]  # fmt: skip
