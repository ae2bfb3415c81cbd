"""Under autocast, operations give what they give in PyTorch: 16 bits, float32, or what they got."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import pytest
import torch

import ogive
from ogive import Tensor
from ogive.errors import OgiveError
from tests.conformance.convert import Converter, tensors_in
from tests.conformance.database import OPERATORS
from tests.conformance.names import Function, find

OPERATIONS = (
    # in the dtype that was chosen
    "matmul", "mm", "bmm", "addmm", "addbmm", "baddbmm", "einsum", "linalg.multi_dot",
    "linalg.vecdot", "nn.functional.linear", "nn.functional.prelu", "nn.functional.conv1d",
    "nn.functional.conv2d", "nn.functional.conv3d", "nn.functional.conv_transpose1d",
    "nn.functional.conv_transpose2d", "nn.functional.conv_transpose3d",
    "nn.functional.scaled_dot_product_attention",
    # in float32
    "cdist", "cholesky", "cholesky_inverse", "cholesky_solve", "fft.fft", "fft.irfft", "fft.rfft2",
    "geqrf", "linalg.cholesky", "linalg.cond", "linalg.eigh", "linalg.householder_product",
    "linalg.inv", "linalg.lstsq", "linalg.matrix_rank", "linalg.qr", "linalg.solve", "linalg.svd",
    "linalg.svdvals", "linalg.tensorinv", "linalg.tensorsolve", "lu_solve", "nanquantile", "ormqr",
    "polar", "prod", "quantile", "stft", "trace", "triangular_solve", "view_as_complex",
    "nn.functional.adaptive_avg_pool3d", "nn.functional.adaptive_max_pool3d",
    "nn.functional.avg_pool3d", "nn.functional.binary_cross_entropy",
    "nn.functional.binary_cross_entropy_with_logits", "nn.functional.cosine_embedding_loss",
    "nn.functional.cross_entropy", "nn.functional.ctc_loss", "nn.functional.fractional_max_pool2d",
    "nn.functional.grid_sample", "nn.functional.hinge_embedding_loss", "nn.functional.huber_loss",
    "nn.functional.kl_div", "nn.functional.l1_loss", "nn.functional.margin_ranking_loss",
    "nn.functional.max_unpool1d", "nn.functional.max_unpool2d", "nn.functional.mse_loss",
    "nn.functional.multi_margin_loss", "nn.functional.multilabel_margin_loss",
    "nn.functional.nll_loss", "nn.functional.pad (replicate)", "nn.functional.poisson_nll_loss",
    "nn.functional.smooth_l1_loss", "nn.functional.soft_margin_loss",
    "nn.functional.triplet_margin_loss",
    # in what they are given
    "add", "addmv", "cat", "cumsum", "dot", "exp", "matrix_exp", "mean", "mv", "norm", "softmax",
    "stack", "sum", "var", "where", "nn.functional.avg_pool2d", "nn.functional.batch_norm",
    "nn.functional.bilinear", "nn.functional.gaussian_nll_loss", "nn.functional.gelu",
    "nn.functional.interpolate (bilinear)", "nn.functional.layer_norm",
    "nn.functional.max_pool2d", "nn.functional.pad (circular)", "nn.functional.pad (constant)",
)  # fmt: skip


class Halved(Converter):
    """Keeps bfloat16, which NumPy has none of."""

    def _tensor(self, value: Any) -> Tensor:
        made = super()._tensor(value)
        return made.cast("bfloat16") if value.dtype is torch.bfloat16 else made


def dtypes_of(result: Any) -> list[str]:
    return [str(x.dtype).split(".")[-1] for x in tensors_in(result) if hasattr(x, "dtype")]


def compare(operator: Any, function: Function, sample: Any) -> bool:
    """Whether both give a result: PyTorch takes no bfloat16 in some places, and we in others."""
    converter = Halved()
    try:
        with warnings.catch_warnings(), torch.autocast("cpu", dtype=torch.bfloat16):
            warnings.simplefilter("ignore")
            expected = dtypes_of(operator(sample.input, *sample.args, **sample.kwargs))
        given = converter.convert((sample.input, *sample.args))
        named = converter.convert(sample.kwargs)
        with ogive.autocast(dtype=ogive.bfloat16):
            found = dtypes_of(function(*given, **named))
    except (OgiveError, RuntimeError):
        return False
    assert found == expected, operator.name
    return True


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_dtypes_of_results_are_pytorchs(dtype: str) -> None:
    compared = 0
    for name in OPERATIONS:
        operator, function = OPERATORS[name], find(name)
        assert function is not None
        kind = getattr(torch, dtype)
        try:
            (*_, sample) = itertools.islice(operator.sample_inputs("cpu", kind), 3)
        except RuntimeError:
            continue  # PyTorch makes no samples of bfloat16 for some
        compared += compare(operator, function, sample)
    assert compared > 80
