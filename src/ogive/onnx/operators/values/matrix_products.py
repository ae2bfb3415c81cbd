"""Operators of linear algebra."""

from __future__ import annotations

from ogive.onnx.call import Call
from ogive.onnx.table import Value, operator
from ogive.tensor.linear_algebra.einsum import einsum as contract
from ogive.tensor.tensor import Tensor


@operator("MatMul")
def matmul(c: Call) -> Value:
    return c.tensor(0) @ c.tensor(1)


@operator("Gemm")
def gemm(c: Call) -> Value:
    left = c.tensor(0).T if c.flag("transA") else c.tensor(0)
    right = c.tensor(1).T if c.flag("transB") else c.tensor(1)
    product = scaled(left @ right, c.get("alpha", 1.0))
    return product + scaled(c.tensor(2), c.get("beta", 1.0)) if c.has(2) else product


def scaled(x: Tensor, factor: float) -> Tensor:
    """A multiple of a tensor, of its dtype."""
    return x if factor == 1 else (x * factor).cast(x.dtype)


@operator("Einsum")
def einsum(c: Call) -> Value:
    return contract(c.get("equation"), *c.tensors())


@operator("Det")
def determinant(c: Call) -> Value:
    return c.tensor(0).det()
