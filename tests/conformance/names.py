"""Which function of ours answers for an operator of PyTorch."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import ogive
from ogive import Tensor

Function = Callable[..., Any]

NAMESPACES = ("nn.functional", "linalg", "fft", "signal.windows", "masked")
"""Parts of PyTorch's namespace that ours has by the same name."""


def _einsum(tensors: Any, equation: str) -> Any:
    return ogive.einsum(equation, *tensors)


def _embedding(weight: Any, index: Any, **options: Any) -> Any:
    return ogive.nn.functional.embedding(index, weight, **options)


def _embedding_bag(weight: Any, index: Any, **options: Any) -> Any:
    return ogive.nn.functional.embedding_bag(index, weight, **options)


GRID_MODES = ("bilinear", "nearest", "bicubic")
GRID_PADDINGS = ("zeros", "border", "reflection")


def _grid_sampler(x: Any, grid: Any, mode: int, padding: int, align: bool) -> Any:
    return ogive.nn.functional.grid_sample(
        x, grid, GRID_MODES[mode], GRID_PADDINGS[padding], align
    )


def _polygamma(x: Any, order: int) -> Any:
    return x.polygamma(order)


def _where(x: Any, condition: Any, other: Any) -> Any:
    return ogive.where(condition, x, other)


def _least_squares(x: Any, b: Any, driver: str) -> Any:
    return ogive.linalg.lstsq(x, b, driver=driver)[:2]


def _pinv_of_product(a: Any, b: Any) -> Any:
    return ogive.linalg.pinv(a @ b.mT)


def _lu(x: Any, pivot: bool, get_infos: bool) -> Any:
    found = ogive.linalg.lu_factor_ex(x, pivot=pivot)
    return found if get_infos else found[:2]


def _lu_solve(b: Any, factors: Any, pivots: Any) -> Any:
    return ogive.linalg.lu_solve(factors, pivots, b)


def _svd_of_product(a: Any, b: Any, q: int, M: Any) -> Any:
    return ogive.svd_lowrank(a @ b.mT, q, M=M)


def _pca_of_product(a: Any, b: Any, q: int, center: bool) -> Any:
    return ogive.pca_lowrank(a @ b.mT, q, center)


def _in_place(name: str) -> Function:
    """The operation on a copy, which PyTorch's samples are about."""
    return lambda x, *arguments, **options: getattr(x.clone(), name)(*arguments, **options)


ADAPTED: dict[str, Function] = {
    "einsum": _einsum,
    "grid_sampler_2d": _grid_sampler,
    "grid_sampler_3d": _grid_sampler,
    "nn.functional.embedding": _embedding,
    "nn.functional.embedding_bag": _embedding_bag,
    "polygamma": _polygamma,
    "special.polygamma": _polygamma,
    "linalg.lstsq (grad_oriented)": _least_squares,
    "linalg.pinv (singular)": _pinv_of_product,
    "cauchy": _in_place("cauchy_"),
    "lu": _lu,
    "lu_solve": _lu_solve,
    "pca_lowrank": _pca_of_product,
    "svd_lowrank": _svd_of_product,
    "igamma": ogive.special.gammainc,
    "igammac": ogive.special.gammaincc,
    "exponential": _in_place("exponential_"),
    "geometric": _in_place("geometric_"),
    "log_normal": _in_place("log_normal_"),
    "fill": _in_place("fill_"),
    "normal (in_place)": _in_place("normal_"),
    "uniform": _in_place("uniform_"),
    "trapz": ogive.trapezoid,
    "where": _where,
    "zero_": _in_place("zero_"),
}
"""Operators whose samples give the arguments in another order than the function takes them."""


def find(label: str) -> Function | None:
    """The function for an operator, or None where we have none."""
    name = label.partition(" (")[0]
    for known in (label, name):
        if known in ADAPTED:
            return ADAPTED[known]
    for space in NAMESPACES:
        if name.startswith(f"{space}."):
            return _attribute(f"ogive.{space}", name.removeprefix(f"{space}."))
    if name.startswith("special."):
        name = name.removeprefix("special.")
        special = _attribute("ogive.special", name)
        if special is not None:
            return special
    if "." in name:
        return None
    found = getattr(Tensor, name, None)
    if isinstance(found, property):
        return found.fget
    return found if callable(found) else _attribute("ogive", name)


def _attribute(module: str, name: str) -> Function | None:
    found = getattr(_module(module), name, None)
    return found if callable(found) else None


@functools.cache
def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None
