"""Ogive: a lazy tensor library with a real compiler under it.

>>> x = Tensor([[1.0, 2.0], [3.0, 4.0]])
>>> (x @ x.T + 1).sum(-1).tolist()
[18.0, 38.0]
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from ogive import errors
from ogive.compat.einops_backend import announce as _announce_to_einops
from ogive.compiler.ir.dtype import (
    DType,
    bfloat16,
    complex64,
    complex128,
    float8_e4m3,
    float8_e5m2,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from ogive.compiler.ir.dtype import bool_ as bool
from ogive.compiler.ir.symbolic.variable import Variable
from ogive.config import Beam, Config, Graph, configure
from ogive.counters import counters
from ogive.errors import OgiveError
from ogive.jit import jit
from ogive.tensor.core import to_device as device
from ogive.tensor.creation.constructors import (
    arange,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    linspace,
    logspace,
    ones,
    ones_like,
    scalar_tensor,
    tril_indices,
    triu_indices,
    zeros,
    zeros_like,
)
from ogive.tensor.elementwise.complex_numbers import complex, polar, view_as_complex, view_as_real
from ogive.tensor.linear_algebra.einsum import einsum, tensordot
from ogive.tensor.linear_algebra.named_products import multi_dot
from ogive.tensor.mesh import Mesh
from ogive.tensor.movement.joining import cat, stack, where
from ogive.tensor.tensor import Tensor

_announce_to_einops()

concatenate = cat
dtype = DType
from_numpy = Tensor.from_numpy

if TYPE_CHECKING:
    from ogive import (
        amp,
        autograd,
        cuda,
        data,
        distributed,
        distributions,
        fft,
        io,
        linalg,
        masked,
        onnx,
        random,
        signal,
        special,
    )
    from ogive.amp.autocast import autocast, get_autocast_dtype, is_autocast_enabled
    from ogive.autograd.custom import custom_gradient
    from ogive.autograd.mode import (
        enable_grad,
        inference_mode,
        is_grad_enabled,
        no_grad,
        set_grad_enabled,
    )
    from ogive.autograd.transforms.checkpoint import checkpoint
    from ogive.autograd.transforms.function_gradients import grad, jvp, value_and_grad, vjp
    from ogive.autograd.transforms.jacobians import hessian, jacfwd, jacrev
    from ogive.autograd.transforms.vectorize import vmap
    from ogive.compat.pytorch.argument_order import constant_pad_nd, rsub
    from ogive.deployment import export
    from ogive.io import load, save
    from ogive.nn.summary import summary
    from ogive.random import (
        Generator,
        bernoulli,
        get_rng_state,
        initial_seed,
        manual_seed,
        multinomial,
        normal,
        rand,
        rand_like,
        randint,
        randint_like,
        randn,
        randn_like,
        randperm,
        seed,
        set_rng_state,
    )
    from ogive.signal import (
        bartlett_window,
        blackman_window,
        hamming_window,
        hann_window,
        istft,
        kaiser_window,
        stft,
    )
    from ogive.special import polygamma
    from ogive.tensor.elementwise.divisors import gcd, lcm
    from ogive.tensor.indexing.coordinates import nonzero_static, unravel_index
    from ogive.tensor.indexing.histograms import histogramdd
    from ogive.tensor.linear_algebra.householder import geqrf, ormqr
    from ogive.tensor.linear_algebra.lu_factors import lu_unpack
    from ogive.tensor.linear_algebra.matrix_exponential import matrix_exp
    from ogive.tensor.linear_algebra.multilinear import pca_lowrank, svd_lowrank
    from ogive.tensor.linear_algebra.triangular_solvers import (
        cholesky_inverse,
        cholesky_solve,
        triangular_solve,
    )
    from ogive.tensor.memory.sharing import from_dlpack
    from ogive.tensor.movement.stacking import (
        atleast_1d,
        atleast_2d,
        atleast_3d,
        block_diag,
        broadcast_shapes,
        broadcast_tensors,
        cartesian_prod,
        column_stack,
        combinations,
        dstack,
        hstack,
        meshgrid,
        row_stack,
        vstack,
    )
    from ogive.tensor.reduction.calculus import cumulative_trapezoid, gradient, trapezoid, trapz
    from ogive.tensor.reduction.distances import cdist, cosine_similarity, pairwise_distance
    from ogive.tensor.sorting.binary_search import bucketize, isin, searchsorted
    from ogive.tensor.values.custom_function import custom

_AUTOGRAD = (
    "checkpoint", "custom_gradient", "enable_grad", "hessian", "inference_mode", "is_grad_enabled",
    "jacfwd", "jacrev", "jvp", "no_grad", "set_grad_enabled", "value_and_grad", "vjp", "vmap",
)  # fmt: skip
_RANDOM = (
    "Generator", "bernoulli", "get_rng_state", "initial_seed", "manual_seed", "multinomial",
    "normal", "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm",
    "seed", "set_rng_state",
)  # fmt: skip
_SIGNAL = (
    "bartlett_window", "blackman_window", "hamming_window", "hann_window", "istft",
    "kaiser_window", "stft",
)  # fmt: skip
_STACKING = (
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors",
    "cartesian_prod", "column_stack", "combinations", "dstack", "hstack", "meshgrid", "row_stack",
    "vstack",
)  # fmt: skip
_CALCULUS = ("cumulative_trapezoid", "gradient", "trapezoid", "trapz")
_DISTANCES = ("cdist", "cosine_similarity", "pairwise_distance")
_SEARCHES = ("bucketize", "isin", "searchsorted")
_LOADED_LATER = {
    "amp": "ogive.amp",
    **dict.fromkeys(("autocast", "get_autocast_dtype", "is_autocast_enabled"), "ogive.amp"),
    "autograd": "ogive.autograd",
    "grad": "ogive.autograd.transforms.function_gradients",
    **dict.fromkeys(_AUTOGRAD, "ogive.autograd"),
    "masked": "ogive.masked",
    "special": "ogive.special",
    "polygamma": "ogive.special",
    "signal": "ogive.signal",
    "pca_lowrank": "ogive.tensor.linear_algebra.multilinear",
    "svd_lowrank": "ogive.tensor.linear_algebra.multilinear",
    "lu_unpack": "ogive.tensor.linear_algebra.lu_factors",
    "ormqr": "ogive.tensor.linear_algebra.householder",
    "geqrf": "ogive.tensor.linear_algebra.householder",
    "triangular_solve": "ogive.tensor.linear_algebra.triangular_solvers",
    "cholesky_solve": "ogive.tensor.linear_algebra.triangular_solvers",
    "cholesky_inverse": "ogive.tensor.linear_algebra.triangular_solvers",
    "constant_pad_nd": "ogive.compat.pytorch.argument_order",
    "cuda": "ogive.cuda",
    "data": "ogive.data",
    "fft": "ogive.fft",
    "gcd": "ogive.tensor.elementwise.divisors",
    "histogramdd": "ogive.tensor.indexing.histograms",
    "from_dlpack": "ogive.tensor.memory.sharing",
    "io": "ogive.io",
    "lcm": "ogive.tensor.elementwise.divisors",
    "linalg": "ogive.linalg",
    "load": "ogive.io",
    "matrix_exp": "ogive.tensor.linear_algebra.matrix_exponential",
    "distributed": "ogive.distributed",
    "export": "ogive.deployment",
    "distributions": "ogive.distributions",
    "nn": "ogive.nn",
    "nonzero_static": "ogive.tensor.indexing.coordinates",
    "onnx": "ogive.onnx",
    "optim": "ogive.optim",
    "rsub": "ogive.compat.pytorch.argument_order",
    "save": "ogive.io",
    "summary": "ogive.nn.summary",
    "unravel_index": "ogive.tensor.indexing.coordinates",
    "random": "ogive.random",
    **dict.fromkeys(_RANDOM, "ogive.random"),
    **dict.fromkeys(_SIGNAL, "ogive.signal"),
    **dict.fromkeys(_STACKING, "ogive.tensor.movement.stacking"),
    **dict.fromkeys(_CALCULUS, "ogive.tensor.reduction.calculus"),
    **dict.fromkeys(_DISTANCES, "ogive.tensor.reduction.distances"),
    **dict.fromkeys(_SEARCHES, "ogive.tensor.sorting.binary_search"),
    "custom": "ogive.tensor.values.custom_function",
}
"""Names that are loaded at first use, with their modules."""

__version__ = "0.1.0"
__array_api_version__ = "2024.12"

__all__ = [
    "Beam",
    "Config",
    "DType",
    "Generator",
    "Graph",
    "Mesh",
    "OgiveError",
    "Tensor",
    "Variable",
    "amp",
    "arange",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "autocast",
    "autograd",
    "bartlett_window",
    "bernoulli",
    "bfloat16",
    "blackman_window",
    "block_diag",
    "bool",
    "broadcast_shapes",
    "broadcast_tensors",
    "bucketize",
    "cartesian_prod",
    "cat",
    "cdist",
    "checkpoint",
    "cholesky_inverse",
    "cholesky_solve",
    "column_stack",
    "combinations",
    "complex",
    "complex64",
    "complex128",
    "concatenate",
    "configure",
    "constant_pad_nd",
    "cosine_similarity",
    "counters",
    "cuda",
    "cumulative_trapezoid",
    "custom",
    "custom_gradient",
    "data",
    "device",
    "distributed",
    "distributions",
    "dstack",
    "dtype",
    "einsum",
    "empty",
    "empty_like",
    "enable_grad",
    "errors",
    "export",
    "eye",
    "fft",
    "float8_e4m3",
    "float8_e5m2",
    "float16",
    "float32",
    "float64",
    "from_dlpack",
    "from_numpy",
    "full",
    "full_like",
    "gcd",
    "geqrf",
    "get_autocast_dtype",
    "get_rng_state",
    "grad",
    "gradient",
    "hamming_window",
    "hann_window",
    "hessian",
    "histogramdd",
    "hstack",
    "inference_mode",
    "initial_seed",
    "int8",
    "int16",
    "int32",
    "int64",
    "io",
    "is_autocast_enabled",
    "is_grad_enabled",
    "isin",
    "istft",
    "jacfwd",
    "jacrev",
    "jit",
    "jvp",
    "kaiser_window",
    "lcm",
    "linalg",
    "linspace",
    "load",
    "logspace",
    "lu_unpack",
    "manual_seed",
    "masked",
    "matrix_exp",
    "meshgrid",
    "multi_dot",
    "multinomial",
    "no_grad",
    "nonzero_static",
    "normal",
    "ones",
    "ones_like",
    "onnx",
    "ormqr",
    "pairwise_distance",
    "pca_lowrank",
    "polar",
    "polygamma",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "random",
    "randperm",
    "row_stack",
    "rsub",
    "save",
    "scalar_tensor",
    "searchsorted",
    "seed",
    "set_grad_enabled",
    "set_rng_state",
    "signal",
    "special",
    "stack",
    "stft",
    "summary",
    "svd_lowrank",
    "tensordot",
    "trapezoid",
    "trapz",
    "triangular_solve",
    "tril_indices",
    "triu_indices",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unravel_index",
    "value_and_grad",
    "view_as_complex",
    "view_as_real",
    "vjp",
    "vmap",
    "vstack",
    "where",
    "zeros",
    "zeros_like",
]


def __getattr__(name: str) -> Any:
    if name in _LOADED_LATER:
        module = importlib.import_module(_LOADED_LATER[name])
        value = module if module.__name__ == f"ogive.{name}" else getattr(module, name)
        globals()[name] = value
        return value
    from ogive.compat.function_names import NAMES, find

    if name not in NAMES:
        from ogive.compat.pytorch.missing_names import ADVICE

        advice = f": {ADVICE[name]}" if name in ADVICE else ""
        message = f"module 'ogive' has no attribute {name!r}{advice}"
        raise AttributeError(message, name=name, obj=sys.modules[__name__])
    globals()[name] = value = find(name)
    return value


def __dir__() -> list[str]:
    # The names of the array API standard are not in `__all__`, since many are Python built-ins.
    from ogive.compat.function_names import NAMES

    own = globals().keys() - {"TYPE_CHECKING", "Any", "annotations", "importlib", "sys"}
    return sorted({*own, *_LOADED_LATER, *NAMES})
