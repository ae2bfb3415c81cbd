"""Gradients of what networks are made of, against PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.tensor.oracle import agree_on_gradients, normal, uniform

Case = tuple[str, tuple[Any, ...], tuple[int, ...], dict[str, Any]]

CASES: list[Case] = [
    ("conv1d", (normal(2, 3, 9), normal(4, 3, 2)), (0, 1), {"stride": 3, "dilation": 2}),
    ("conv2d", (normal(2, 3, 7, 6), normal(4, 3, 3, 3)), (0, 1), {"padding": 1}),
    ("conv2d", (normal(2, 4, 7, 6), normal(6, 2, 3, 3), normal(6)), (0, 1, 2),
     {"padding": 1, "stride": 2, "groups": 2}),
    ("conv2d", (normal(2, 3, 8, 8), normal(4, 3, 4, 4)), (0, 1), {"stride": 4}),
    ("conv2d", (normal(2, 4, 7, 6), normal(6, 2, 2, 3)), (0, 1),
     {"padding": "same", "dilation": (3, 2), "groups": 2}),
    ("conv2d", (normal(2, 3, 5, 6), normal(4, 3, 2, 1)), (0, 1), {"padding": (3, 2)}),
    ("conv2d", (normal(5, 16, 21, 24), normal(16, 16, 2, 3)), (0, 1),
     {"padding": 1, "stride": (5, 1)}),
    ("conv3d", (normal(1, 2, 4, 4, 4), normal(2, 2, 3, 3, 3)), (0, 1), {"padding": 1}),
    ("conv_transpose2d", (normal(2, 4, 5, 5), normal(4, 3, 4, 4), normal(3)), (0, 1, 2),
     {"stride": 2, "padding": 1}),
    ("max_pool2d", (normal(2, 3, 8, 8), 3, 2, 1), (0,), {}),
    ("avg_pool2d", (normal(2, 3, 8, 8), 3, 2, 1), (0,), {"count_include_pad": False}),
    ("lp_pool2d", (uniform(2, 3, 8, 8), 2, 2), (0,), {}),
    ("adaptive_avg_pool2d", (normal(2, 3, 7, 5), 3), (0,), {}),
    ("adaptive_max_pool2d", (normal(2, 3, 7, 5), 3), (0,), {}),
    ("unfold", (normal(2, 3, 6, 6), 3), (0,), {"stride": 2}),
    ("fold", (normal(2, 12, 25), (6, 6), 2), (0,), {}),
    *[("pad", (normal(2, 3, 6), (2, 1)), (0,), {"mode": mode})
      for mode in ("constant", "reflect", "replicate", "circular")],
    *[("interpolate", (normal(2, 3, 5, 5),), (0,), {"size": (7, 3), "mode": mode})
      for mode in ("nearest", "bilinear", "bicubic")],
    ("interpolate", (normal(2, 3, 5, 5),), (0,), {"scale_factor": 2}),
    ("interpolate", (normal(2, 3, 7, 7),), (0,),
     {"size": (3, 3), "mode": "bilinear", "antialias": True}),
    ("batch_norm", (normal(4, 3, 5), None, None, normal(3), normal(3)), (0, 3, 4),
     {"training": True}),
    ("instance_norm", (normal(4, 3, 5),), (0,), {}),
    ("group_norm", (normal(4, 6, 3), 2, normal(6), normal(6)), (0, 2, 3), {}),
    ("layer_norm", (normal(4, 6), (6,), normal(6), normal(6)), (0, 2, 3), {}),
    ("rms_norm", (normal(4, 6), (6,), normal(6)), (0, 2), {}),
    ("local_response_norm", (normal(2, 5, 3), 3), (0,), {}),
    ("scaled_dot_product_attention", (normal(2, 5, 8), normal(2, 7, 8), normal(2, 7, 3)),
     (0, 1, 2), {"is_causal": True}),
    ("embedding", (np.array([[1, 2], [0, 2]]), normal(6, 3), 2), (1,), {}),
    ("cross_entropy", (normal(3, 4), np.array([1, 2, -100])), (0,), {"label_smoothing": 0.1}),
    ("cross_entropy", (normal(3, 4), uniform(3, 4)), (0, 1), {}),
    ("nll_loss", (normal(3, 4), np.array([1, 2, -100])), (0,), {}),
    ("mse_loss", (normal(3, 4), normal(3, 4)), (0, 1), {}),
    ("l1_loss", (normal(3, 4), normal(3, 4)), (0, 1), {}),
    ("smooth_l1_loss", (normal(3, 4), normal(3, 4)), (0, 1), {"beta": 0.5}),
    ("huber_loss", (normal(3, 4), normal(3, 4)), (0, 1), {"delta": 0.5}),
    ("kl_div", (normal(3, 4), uniform(3, 4)), (0, 1), {"reduction": "batchmean"}),
    ("poisson_nll_loss", (normal(3, 4), uniform(3, 4)), (0,), {}),
    ("gaussian_nll_loss", (normal(3, 4), normal(3, 4), uniform(3, 4) / 2), (0, 1, 2),
     {"eps": 0.2}),
    ("binary_cross_entropy", (uniform(3, 4), uniform(3, 4)), (0,), {}),
    ("binary_cross_entropy_with_logits", (normal(3, 4), uniform(3, 4)), (0,), {}),
    ("soft_margin_loss", (normal(3, 4), np.sign(normal(3, 4))), (0,), {}),
    ("hinge_embedding_loss", (normal(3, 4), np.sign(normal(3, 4))), (0,), {}),
    ("cosine_embedding_loss", (normal(3, 4), normal(3, 4), np.sign(normal(3))), (0, 1), {}),
    ("multi_margin_loss", (normal(3, 4), np.array([1, 2, 0])), (0,), {}),
    ("multilabel_margin_loss", (normal(2, 4), np.array([[3, 0, -1, 1], [-1, 2, 1, 0]])), (0,), {}),
    ("multilabel_soft_margin_loss", (normal(3, 4), uniform(3, 4)), (0,), {}),
    ("triplet_margin_loss", (normal(3, 4), normal(3, 4), normal(3, 4)), (0, 1, 2), {}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "arguments", "wanted", "options"), CASES, ids=[f"{c[0]} {c[3]}" for c in CASES]
)
def test_gradients_agree_with_torch(
    name: str, arguments: Any, wanted: tuple[int, ...], options: dict[str, Any]
) -> None:
    agree_on_gradients(name, *arguments, wanted=wanted, **options)
