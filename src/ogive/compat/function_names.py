"""The names of further functions of `ogive`: those of the array API standard 2024.12, by chapter,
and those of PyTorch.

A function of the standard takes the standard's arguments, and calls the methods of `Tensor`, which
follow PyTorch. If the two differ in meaning, it does what the standard says (`docs/array-api.md`).
A call that the standard does not have, such as `ogive.sum(x, dim=1)`, calls the method. A chapter
is loaded when one of its names is read.
PyTorch's functions that are methods of `Tensor` are functions here as well: `ogive.topk(x, 3)`.
"""

from __future__ import annotations

import importlib
from typing import Any

from ogive.compat.pytorch.two_signatures import with_method

CHAPTERS: dict[str, tuple[str, ...]] = {
    "array_api.constants": ("e", "inf", "nan", "newaxis", "pi"),
    "array_api.creation_functions": ("as_tensor", "asarray", "is_tensor", "tril", "triu"),
    "array_api.data_type_functions": (
        "astype", "can_cast", "finfo", "iinfo", "isdtype", "promote_types", "result_type",
    ),
    "pytorch.dtype_names": (
        "cdouble", "cfloat", "double", "dtype", "float", "half", "int", "long", "short",
    ),
    "array_api.elementwise_functions": (
        "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and",
        "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
        "ceil", "clip", "conj", "copysign", "cos", "cosh", "divide", "equal", "exp", "expm1",
        "floor", "floor_divide", "greater", "greater_equal", "hypot", "imag", "isfinite", "isinf",
        "isnan", "less", "less_equal", "log", "log10", "log1p", "log2", "logaddexp",
        "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum",
        "multiply", "negative", "nextafter", "not_equal", "positive", "pow", "real", "reciprocal",
        "remainder", "round", "sign", "signbit", "sin", "sinh", "sqrt", "square", "subtract",
        "tan", "tanh", "trunc",
    ),
    "array_api.indexing_functions": ("take", "take_along_axis"),
    "array_api.inspection": ("__array_namespace_info__",),
    "array_api.linear_algebra_functions": ("matmul", "matrix_transpose", "vecdot"),
    "array_api.manipulation_functions": (
        "broadcast_arrays", "broadcast_to", "concat", "expand_dims", "flip", "moveaxis",
        "permute_dims", "repeat", "reshape", "roll", "squeeze", "tile", "unstack",
    ),
    "array_api.searching_functions": ("argmax", "argmin", "count_nonzero", "nonzero"),
    "array_api.set_functions": ("unique_all", "unique_counts", "unique_inverse", "unique_values"),
    "array_api.sorting_functions": ("argsort", "sort"),
    "array_api.statistical_functions": (
        "cumulative_prod", "cumulative_sum", "max", "mean", "min", "prod", "std", "sum", "var",
    ),
    "array_api.utility_functions": ("all", "any", "diff"),
}  # fmt: skip
"""The names of each chapter. The standard's other functions are the same as PyTorch's."""

METHODS: tuple[str, ...] = (
    "absolute", "adaptive_avg_pool1d", "adaptive_max_pool1d", "addbmm", "addcdiv", "addcmul",
    "addmm", "addmv", "addr", "adjoint", "allclose", "alpha_dropout", "amax", "amin", "aminmax",
    "angle", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh",
    "argwhere", "avg_pool1d", "baddbmm", "bilinear", "bincount", "bitwise_not", "bmm", "celu",
    "channel_shuffle", "cholesky", "chunk", "clamp", "clamp_max", "clamp_min", "clone",
    "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
    "corrcoef", "cov", "cross", "cummax", "cummin", "cumprod", "cumsum", "deg2rad", "det",
    "detach", "diag", "diag_embed", "diagflat", "diagonal", "diagonal_scatter", "digamma",
    "dist", "div", "dot", "dropout", "dsplit", "eq", "erf", "erfc", "erfinv", "exp2", "fix",
    "flatten", "fliplr", "flipud", "float_power", "fmax", "fmin", "fmod", "frac", "frexp",
    "gather", "ge", "ger", "group_norm", "gt", "hardshrink", "heaviside", "histc", "histogram",
    "hsplit", "i0", "index_add", "index_copy", "index_fill", "index_put", "index_reduce",
    "index_select", "inner", "inverse", "is_complex", "is_floating_point", "is_same_size",
    "is_signed", "isclose", "isneginf", "isposinf", "isreal", "kron", "kthvalue", "layer_norm",
    "ldexp", "le", "lerp", "lgamma", "log_softmax", "logaddexp2", "logcumsumexp", "logdet",
    "logit", "logsumexp", "lt", "masked_fill", "masked_scatter", "masked_select",
    "matrix_power", "max_pool1d", "max_pool2d", "max_pool3d", "median", "mm", "mode", "movedim",
    "msort", "mul", "mv", "mvlgamma", "nan_to_num", "nanmean", "nanmedian", "nanquantile",
    "nansum", "narrow", "ne", "neg", "norm", "numel", "outer", "permute", "pinverse",
    "pixel_shuffle", "pixel_unshuffle", "prelu", "put", "qr", "quantile", "rad2deg", "ravel",
    "relu", "renorm", "repeat_interleave", "rms_norm", "rot90", "rrelu", "rsqrt", "scatter",
    "scatter_add", "scatter_reduce", "select", "select_scatter", "selu", "sgn", "sigmoid",
    "sinc", "slice_scatter", "slogdet", "softmax", "split", "split_with_sizes", "std_mean",
    "sub", "svd", "swapaxes", "swapdims", "t", "take_along_dim", "tensor_split", "threshold",
    "topk", "trace", "transpose", "true_divide", "unbind", "unflatten", "unique",
    "unique_consecutive", "unsqueeze", "var_mean", "vdot", "vsplit", "xlogy",
)  # fmt: skip
"""PyTorch's functions that are not in the standard: the methods of these names."""

BOTH = (
    "array_api.creation_functions", "array_api.elementwise_functions",
    "array_api.linear_algebra_functions", "array_api.manipulation_functions",
    "array_api.searching_functions", "array_api.sorting_functions",
    "array_api.statistical_functions", "array_api.utility_functions",
)  # fmt: skip
"""The chapters whose functions PyTorch also has, with other arguments."""

NAMES: dict[str, str] = {name: chapter for chapter, names in CHAPTERS.items() for name in names}
NAMES.update(dict.fromkeys(METHODS, "pytorch.methods_as_functions"))


def find(name: str) -> Any:
    """The function `name`. Raises `KeyError` if no chapter has it."""
    function = getattr(importlib.import_module(f"ogive.compat.{NAMES[name]}"), name)
    return with_method(function) if NAMES[name] in BOTH else function
