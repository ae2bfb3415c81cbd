"""Products of vectors and matrices, einsum and distances."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

import ogive
from tests.tensor.table.case import Case, both, library

DTYPES = ("float64", "int32")
WIDE = ("float32",)


def product(name: str, function: Any, **changes: Any) -> Case:
    """A case of sums of products."""
    settings = {"dtypes": DTYPES, "error": 128, "absolute": True, "special": False}
    return both(name, function, **settings | changes)


def einsum(equation: str, **changes: Any) -> Case:
    """The equation on copies of the input."""
    number = equation.count(",") + 1
    return product(
        f"einsum {equation}", lambda x: library(x).einsum(equation, *[x] * number), **changes
    )


SUMS: Any = {"dtypes": WIDE, "error": 512, "absolute": True, "special": False}


def _weight(x: Any) -> Any:
    row = x.reshape(-1, x.shape[-1])[0]
    return (row.unsqueeze(1) * row).unsqueeze(0).expand(2, len(row), len(row))


def _chain(x: Any) -> Any:
    matrix = _matrix(x)
    return [matrix[0], matrix.T, matrix, matrix.T[:, :2]]


def _matrix(x: Any) -> Any:
    return x.reshape(-1, x.shape[-1])


CASES = [
    product("mm", lambda x: _matrix(x).mm(_matrix(x).T)),
    product("bmm", lambda x: x.bmm(x.transpose(1, 2))),
    product("mv", lambda x: _matrix(x).mv(_matrix(x)[0])),
    product("dot", lambda x: x.reshape(-1).dot(x.reshape(-1)), error=512),
    product("vdot", lambda x: x.reshape(-1).vdot(x.reshape(-1)), error=512),
    product("inner", lambda x: x.inner(x)),
    product("outer", lambda x: x.reshape(-1)[:6].outer(x.reshape(-1)[:5])),
    product("kron", lambda x: x[:2].kron(x[-1]), dtypes=("float64", "int8")),
    product("cross", lambda x: x[..., :3].cross(x[..., -3:] * 2, dim=-1)),
    product("addmm", lambda x: _matrix(x)[:1, :1].addmm(
        _matrix(x), _matrix(x).T, beta=2, alpha=3)),
    product("addmm without", lambda x: (_matrix(x)[:1, :1] * float("nan")).addmm(
        _matrix(x), _matrix(x).T, beta=0), dtypes=WIDE),
    product("addmv", lambda x: _matrix(x)[:, 0].addmv(_matrix(x), _matrix(x)[0], alpha=2)),
    product("addr", lambda x: _matrix(x).addr(_matrix(x)[:, 0], _matrix(x)[0], beta=3)),
    product("baddbmm", lambda x: x[:, :1, :1].baddbmm(x, x.transpose(1, 2))),
    product("addbmm", lambda x: x[0, :1, :1].addbmm(x, x.transpose(1, 2))),
    product("tensordot", lambda x: library(x).tensordot(x, x, dims=([0], [0]))),
    product("tensordot of all", lambda x: library(x).tensordot(x, x, x.ndim), error=512),
    product("tensordot of none", lambda x: library(x).tensordot(x[:2], x[-2:], 0)),
    einsum("i,i->i"), einsum("i,j"), einsum("ij->ji"), einsum("ij->"), einsum("...i->..."),
    einsum("ij,kj->ik"), einsum("ij,kj"), einsum("...i,...i"), einsum("bij,bkj->bik"),
    einsum("ij,ij,ij->j"), einsum("ij,kj,kl->il", error=2048),
    einsum("ijk,ijl,mjl->mk", error=2048),
    einsum("...ij,...ij->...j"), einsum("ij,kl->ki"),
    product("einsum of a diagonal", lambda x: library(x).einsum("iij->ij", x.unsqueeze(0)[:, :1])),
    product("einsum of a trace", lambda x: library(x).einsum(
        "ii,ij->j", x[:2, :2], x[:2]), dtypes=DTYPES),
    product("einsum that broadcasts", lambda x: library(x).einsum("ij,ij->i", x, x[:, :1])),
    product("einsum of lists", lambda x: library(x).einsum(x, [0, 1], x, [2, 1], [0, 2])),
    product("einsum of lists, implied", lambda x: library(x).einsum(x, [..., 1], x, [..., 1])),
    product("cdist", lambda x: library(x).cdist(x, x[..., :2, :] + 1), dtypes=WIDE),
    product("cdist 1", lambda x: library(x).cdist(x, x * 2, 1.0), dtypes=WIDE),
    product("cdist inf", lambda x: library(x).cdist(x, x * 2, float("inf")), dtypes=WIDE),
    Case("pairwise_distance", lambda x: ogive.pairwise_distance(x, x * 2, 1.5),
         lambda x: F.pairwise_distance(x, x * 2, 1.5), dtypes=WIDE, error=64, special=False),
    Case("cosine_similarity", lambda a, b: ogive.cosine_similarity(a, b, -1),
         lambda a, b: F.cosine_similarity(a, b, -1), arity=2, error=64, absolute=True,
         special=False),
    Case("linear", lambda x: x.linear(_matrix(x), _matrix(x)[:, 0]),
         lambda x: F.linear(x, _matrix(x), _matrix(x)[:, 0]), **SUMS),
    Case("bilinear", lambda x: x.bilinear(x * 2, _weight(x), x.reshape(-1)[:2]),
         lambda x: F.bilinear(x, x * 2, _weight(x), x.reshape(-1)[:2]), **SUMS),
    Case("multi_dot", lambda x: ogive.multi_dot(_chain(x)),
         lambda x: torch.linalg.multi_dot(_chain(x)), **SUMS),
    product("block product", lambda x: (_matrix(x) @ _matrix(x).T).diagonal().sqrt(), dtypes=WIDE),
]  # fmt: skip
