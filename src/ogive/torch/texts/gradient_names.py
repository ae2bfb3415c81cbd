"""PyTorch's names of gradient functions, such as `AddmmBackward0`.

The graph gives most of them: `CALL linear` with a bias is PyTorch's addmm. But some methods of
PyTorch are the same node here, such as `x.t()` and `x.permute(1, 0)`. Then the user's line of code
says which method it was.
"""

from __future__ import annotations

import ast
import linecache
from itertools import islice

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.eager.gradients.records import Record
from ogive.eager.methods import RecordedFunction
from ogive.eager.shapes.elements import Index
from ogive.errors import Origin
from ogive.tensor.gradients.differentiation import GradientFunction

_CALLS = {
    "adaptive_avg_pool1d": "SqueezeBackward1", "adaptive_avg_pool2d": "AdaptiveAvgPool2DBackward0",
    "avg_pool1d": "SqueezeBackward1", "avg_pool2d": "AvgPool2DBackward0",
    "avg_pool3d": "AvgPool3DBackward0", "conv1d": "ConvolutionBackward0",
    "conv2d": "ConvolutionBackward0", "conv3d": "ConvolutionBackward0",
    "conv_transpose1d": "ConvolutionBackward0", "conv_transpose2d": "ConvolutionBackward0",
    "conv_transpose3d": "ConvolutionBackward0", "cosine_similarity": "SumBackward1",
    "cross_entropy": "NllLossBackward0", "diag": "DiagEmbedBackward0",
    "_drop_plain": "MulBackward0", "group_norm": "NativeGroupNormBackward0",
    "kl_div": "MeanBackward0", "l1_loss": "MeanBackward0", "layer_norm": "NativeLayerNormBackward0",
    "logsigmoid": "LogSigmoidBackward0", "max_pool1d": "SqueezeBackward1",
    "norm": "LinalgVectorNormBackward0",
    "normalize": "DivBackward0", "outer": "MulBackward0", "relu6": "HardtanhBackward0",
    "normalize_batch": "NativeBatchNormBackward0", "repeat_interleave": "ViewBackward0",
    "smooth_l1_loss": "SmoothL1LossBackward0", "unfold_windows": "Im2ColBackward0",
}  # fmt: skip
"""PyTorch's names for functions of ours, where they differ, or where it has several."""

_OPS = {
    Op.CAST: "ToCopyBackward0", Op.PAD: "ConstantPadNdBackward0", Op.CONTIGUOUS: "CloneBackward0",
    Op.RESHAPE: "ViewBackward0", Op.SHRINK: "SliceBackward0", Op.GATHER: "IndexBackward0",
}  # fmt: skip

_COMPOSED = {
    "cross": "LinalgCrossBackward0", "det": "LinalgDetBackward0",
    "grid_sample": "GridSampler2DBackward0", "trace": "TraceBackward0",
}  # fmt: skip
"""Functions that are one function in PyTorch and several calls here."""

_SEVERAL = ("chunk", "kthvalue", "max", "median", "min", "mode", "sort", "split", "topk", "unbind")
"""Functions with several results."""

_NUMBER_FIRST = {Op.SUB: "RsubBackward1", Op.DIV: "MulBackward0", Op.POW: "PowBackward2"}
"""The names for `1 - x`, `1 / x`, `2**x`."""

_NAMED = {
    "T": "PermuteBackward0", "batch_norm": "NativeBatchNormBackward0", "chunk": "SplitBackward0",
    "clamp": "ClampBackward1", "clamp_max": "ClampMaxBackward0", "clamp_min": "ClampMinBackward0",
    "dropout": "MulBackward0", "einsum": "ViewBackward0",
    "fft": "FftR2CBackward0", "flatten": "ViewBackward0", "group_norm": "NativeGroupNormBackward0",
    "hstack": "CatBackward0", "concat": "CatBackward0", "inv": "LinalgInvExBackward0",
    "inverse": "LinalgInvExBackward0", "interpolate": "UpsampleNearest2DBackward0",
    "masked_fill": "MaskedFillBackward0", "max_pool2d": "MaxPool2DWithIndicesBackward0",
    "mT": "TransposeBackward0", "narrow": "SliceBackward0", "pow": "PowBackward0",
    "prelu": "PreluKernelBackward0", "real": "SelectBackward0", "reshape": "ViewBackward0",
    "scaled_dot_product_attention": "ScaledDotProductFlashAttentionForCpuBackward0",
    "scatter": "ScatterBackward0", "square": "PowBackward0", "swapaxes": "TransposeBackward0",
    "tensordot": "ViewBackward0", "unflatten": "ViewBackward0", "view": "ViewBackward0",
    "view_as": "ViewBackward0", "expand_as": "ExpandBackward0", "vstack": "CatBackward0",
    "pixel_shuffle": "PixelShuffleBackward0",
    **{
        name: f"{name.title().replace('_', '')}Backward0"
        for name in (
            "cat", "clone", "diagonal", "expand", "gather", "hypot", "index_add", "index_select",
            "kthvalue", "lerp", "logaddexp", "logcumsumexp", "max", "median", "min", "permute",
            "repeat", "roll", "scatter_add", "select", "sign", "sort", "split", "squeeze", "stack",
            "t", "topk", "transpose", "unbind", "unfold", "unsqueeze", "where",
        )
    },
}  # fmt: skip
"""The methods that only the user's line of code tells apart."""


def name_of(self: GradientFunction) -> str:
    """PyTorch's name of the gradient function of a tensor."""
    if isinstance(self, RecordedFunction):
        return _name_record(self.record)
    node = self.node
    called = called_name(self.origin).rstrip("_")
    if called in _COMPOSED:
        return _COMPOSED[called]
    if node.op is Op.CALL:
        return _name_call(node)
    if node.src and node.src[0].op is Op.CONST and node.op in _NUMBER_FIRST:
        return _NUMBER_FIRST[node.op]
    if called in ("max", "min") and node.shape == ():
        return f"{called.title()}Backward1"
    if called == "squeeze" and self.origin is not None and "()" not in _segment(self.origin):
        return "SqueezeBackward1"
    if called in _NAMED:
        return _NAMED[called]
    if node.op is Op.RESHAPE and node.src[0].op is Op.SHRINK:
        return "SelectBackward0"
    if called == "**" and node.op is not Op.POW:
        return "PowBackward0"
    return _OPS.get(node.op) or f"{_camel(node.op.name.lower())}Backward0"


def _name_record(record: Record) -> str:
    """The name for an eager operation."""
    called = record.form.function.__name__
    given = (*record.args, *record.kwargs.values())
    arrays = [value for value in given if hasattr(value, "ndim")]
    if called in ("interpolate", "pad"):
        mode = next((value for value in given if isinstance(value, str)), "")
        return _MODES.get(mode, _MODES[called]).format(rank=arrays[0].ndim - 2)
    if called in ("matmul", "linear"):
        return _name_product(called, [array.ndim for array in arrays])
    if called in ("sum", "mean"):
        has_axes = len(record.args) > 1 or record.kwargs.get("dim") is not None
        return f"{called.title()}Backward{int(has_axes)}"
    if called in ("max", "min") and not isinstance(record.out, tuple):
        return f"{called.title()}Backward1"
    if called == "get_item":
        return _name_index(record.args[1], record)
    known = _COMPOSED.get(called) or _CALLS.get(called) or _NAMED.get(called)
    return known or _REFLECTED.get(called) or f"{_camel(called)}Backward0"


_MODES = {
    "pad": "ConstantPadNdBackward0", "reflect": "ReflectionPad{rank}DBackward0",
    "replicate": "ReplicationPad{rank}DBackward0", "circular": "CopySlices",
    "interpolate": "UpsampleNearest{rank}DBackward0", "linear": "UpsampleLinear1DBackward0",
    "bilinear": "UpsampleBilinear2DBackward0", "bicubic": "UpsampleBicubic2DBackward0",
    "trilinear": "UpsampleTrilinear3DBackward0",
}
"""Operations for which PyTorch has several functions, by mode."""


def _name_index(index: Index, record: Record) -> str:
    if not index.is_basic:
        return "IndexBackward0"
    return "SelectBackward0" if record.out.ndim < record.args[0].ndim else "SliceBackward0"


_REFLECTED = {
    "reflected_sub": "RsubBackward1", "reflected_div": "MulBackward0",
    "reflected_pow": "PowBackward2", "cast": "ToCopyBackward0", "to": "ToCopyBackward0",
    "set_item": "CopySlices",
}  # fmt: skip


def _name_call(node: UOp) -> str:
    """The name for a call of one of our functions: CALL linear(x, weight, bias) → Addmm."""
    called = str(node.arg[0]).rpartition(".")[2]
    ranks = [len(source.shape) for source in node.src]
    if called in ("matmul", "linear"):
        return _name_product(called, ranks)
    if called in ("sum", "mean"):
        positional, named = node.arg[1]
        axes = dict(named).get("dim", positional[1] if len(positional) > 1 else None)
        is_whole = axes in (None, ("NoneType", None))
        return f"{called.title()}Backward{0 if is_whole else 1}"
    return _CALLS.get(called) or f"{_camel(called)}Backward0"


def _name_product(called: str, ranks: list[int]) -> str:
    first, second, *bias = ranks
    if called == "linear":
        if bias:
            return "AddmmBackward0" if first == 2 else "ViewBackward0"
        return {1: "SqueezeBackward4", 2: "MmBackward0"}.get(first, "UnsafeViewBackward0")
    if first == second == 1:
        return "DotBackward0"
    if first == 2 and second in (1, 2):
        return "MvBackward0" if second == 1 else "MmBackward0"
    return "SqueezeBackward4" if first == 1 else "UnsafeViewBackward0"


def _camel(name: str) -> str:
    """A name in PyTorch's spelling: `log1p` → `Log1P`, `leaky_relu` → `LeakyRelu`."""
    return name.title().replace("_", "")


def called_name(origin: Origin | None) -> str:
    """The name of the method, function or attribute in the user's instruction."""
    text = "" if origin is None else _segment(origin)
    try:
        expression = ast.parse(text, mode="eval").body
    except SyntaxError:
        return ""
    if isinstance(expression, ast.Call):
        expression = expression.func
    if isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.Pow):
        return "**"
    if isinstance(expression, ast.Subscript):
        inner = expression.value
        inner = inner.func if isinstance(inner, ast.Call) else inner
        name = inner.attr if isinstance(inner, ast.Attribute) else ""
        return name if name in _SEVERAL else ""  # x.max(1)[0]
    return getattr(expression, "attr", "") or getattr(expression, "id", "")


def _segment(origin: Origin) -> str:
    """The text of an instruction's expression, if it is on one line."""
    code, instruction = origin
    first, last, start, end = next(
        islice(code.co_positions(), instruction // 2, None), (None,) * 4
    )
    if first is None or first != last:
        return ""
    line = linecache.getline(code.co_filename, first).encode()
    return line[start:end].decode(errors="replace")
