"""Every layer against PyTorch's: the same state dictionary, the same output, the same gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy
import pytest
import torch

import ogive
from ogive import nn

Array = numpy.ndarray[Any, Any]


@dataclass(frozen=True)
class Layer:
    """A layer of both libraries by one name and the same arguments, and shapes of its inputs."""

    name: str
    args: tuple[Any, ...] = ()
    kwargs: tuple[tuple[str, Any], ...] = ()
    inputs: tuple[tuple[int, ...], ...] = ((4, 6),)
    error: float = 1e-9

    def __str__(self) -> str:
        settings = [*map(repr, self.args), *[f"{key}={value!r}" for key, value in self.kwargs]]
        return f"{self.name}({', '.join(settings)})"


def layer(name: str, *args: Any, inputs: Any = ((4, 6),), **kwargs: Any) -> Layer:
    return Layer(name, args, tuple(kwargs.items()), inputs)


PLAIN = [
    "ReLU", "ReLU6", "ELU", "CELU", "SELU", "GELU", "SiLU", "Mish", "Sigmoid", "LogSigmoid", "Tanh",
    "Tanhshrink", "Softplus", "Softsign", "Softshrink", "Hardshrink", "Hardtanh", "Hardswish",
    "LeakyReLU", "GLU", "PReLU", "Identity",
]  # fmt: skip
ACTIVATIONS = [layer(name) for name in PLAIN] + [
    layer("LeakyReLU", 0.2), layer("ELU", alpha=0.5), layer("GELU", approximate="tanh"),
    layer("Threshold", 0.1, 20.0), layer("Softmax", dim=0), layer("LogSoftmax", dim=-1),
    layer("Softmin", dim=1), layer("PReLU", 6),
    layer("Softmax2d", inputs=((2, 3, 4, 5),)), layer("ChannelShuffle", 2, inputs=((1, 6, 3, 2),)),
    layer("CosineSimilarity", dim=0, inputs=((4, 6), (4, 6))),
    layer("PairwiseDistance", 3.0, keepdim=True, inputs=((4, 6), (4, 6))),
    Layer("Hardsigmoid", error=1e-7),  # PyTorch divides by 6 in single precision
]  # fmt: skip

LAYERS = [
    *ACTIVATIONS,
    layer("Linear", 6, 3), layer("Linear", 6, 3, bias=False), layer("Linear", 6, 3, inputs=((6,),)),
    layer("Bilinear", 3, 4, 2, inputs=((5, 3), (5, 4))),
    layer("Flatten", inputs=((2, 3, 4),)), layer("Unflatten", 1, (2, 3)),
    layer("Conv1d", 4, 6, 3, padding=1, stride=2, inputs=((2, 4, 9),)),
    layer("Conv2d", 4, 6, 3, inputs=((2, 4, 7, 6),)),
    layer("Conv2d", 4, 6, (3, 2), padding="same", groups=2, dilation=2, inputs=((2, 4, 7, 6),)),
    layer("Conv2d", 4, 4, 3, padding=1, padding_mode="reflect", inputs=((2, 4, 7, 6),)),
    layer("Conv3d", 2, 3, 2, bias=False, inputs=((1, 2, 4, 4, 3),)),
    layer("ConvTranspose1d", 4, 6, 3, stride=2, output_padding=1, inputs=((2, 4, 5),)),
    layer("ConvTranspose2d", 4, 6, 3, stride=2, padding=1, groups=2, inputs=((2, 4, 5, 4),)),
    layer("ConvTranspose3d", 2, 3, 2, inputs=((1, 2, 3, 3, 2),)),
    layer("BatchNorm1d", 6), layer("BatchNorm1d", 5, inputs=((3, 5, 4),)),
    layer("BatchNorm2d", 3, momentum=None, inputs=((4, 3, 5, 2),)),
    layer("BatchNorm2d", 3, affine=False, track_running_stats=False, inputs=((4, 3, 5, 2),)),
    layer("InstanceNorm2d", 3, affine=True, inputs=((4, 3, 5, 2),)),
    layer("LayerNorm", 6), layer("LayerNorm", (4, 6), inputs=((2, 4, 6),)),
    layer("GroupNorm", 2, 4, inputs=((3, 4, 5),)), layer("RMSNorm", 6),
    layer("LocalResponseNorm", 3, inputs=((2, 5, 4),)),
    layer("MaxPool1d", 2, inputs=((2, 3, 7),)),
    layer("MaxPool2d", 3, 2, padding=1, inputs=((2, 3, 7, 8),)),
    layer("AvgPool2d", 2, ceil_mode=True, inputs=((2, 3, 7, 7),)),
    layer("AdaptiveAvgPool2d", 3, inputs=((2, 3, 7, 8),)),
    layer("AdaptiveMaxPool2d", (2, 3), inputs=((2, 3, 7, 8),)),
    layer("Upsample", scale_factor=2, mode="bilinear", inputs=((1, 2, 3, 4),)),
    layer("UpsamplingBilinear2d", (5, 4), inputs=((1, 2, 3, 4),)),
    layer("UpsamplingNearest2d", scale_factor=2, inputs=((1, 2, 3, 4),)),
    layer("PixelShuffle", 2, inputs=((1, 8, 3, 2),)),
    layer("ZeroPad2d", 1, inputs=((1, 2, 3, 4),)), layer("ReflectionPad1d", 2),
    layer("ConstantPad1d", (1, 2), 3.5), layer("CircularPad1d", 2, inputs=((1, 2, 6),)),
    layer("RNN", 5, 4, 2, inputs=((6, 3, 5),)),
    layer("RNN", 5, 4, nonlinearity="relu", bidirectional=True, inputs=((6, 3, 5),)),
    layer("LSTM", 5, 4, 2, bidirectional=True, batch_first=True, inputs=((3, 6, 5),)),
    layer("LSTM", 5, 4, proj_size=3, inputs=((6, 3, 5),)),
    layer("GRU", 5, 4, 2, bias=False, inputs=((6, 3, 5),)), layer("GRU", 5, 4, inputs=((6, 5),)),
    layer("RNNCell", 5, 4, inputs=((3, 5),)), layer("LSTMCell", 5, 4, inputs=((3, 5),)),
    layer("GRUCell", 5, 4, inputs=((3, 5),)),
    layer("MultiheadAttention", 8, 2, inputs=((5, 3, 8),) * 3),
    layer("MultiheadAttention", 8, 2, batch_first=True, kdim=4, vdim=6,
          inputs=((3, 5, 8), (3, 7, 4), (3, 7, 6))),
    layer("MultiheadAttention", 8, 2, add_bias_kv=True, add_zero_attn=True,
          inputs=((5, 3, 8),) * 3),
    layer("TransformerEncoderLayer", 8, 2, 16, 0.0, inputs=((5, 3, 8),)),
    layer("TransformerEncoderLayer", 8, 2, 16, 0.0, "gelu", norm_first=True, batch_first=True,
          inputs=((5, 3, 8),)),
    layer("TransformerDecoderLayer", 8, 2, 16, 0.0, inputs=((5, 3, 8), (4, 3, 8))),
    layer("Transformer", 8, 2, 2, 1, 16, 0.0, inputs=((5, 3, 8), (4, 3, 8))),
]  # fmt: skip


def build(case: Layer) -> tuple[nn.Module, torch.nn.Module]:
    torch.manual_seed(7)
    theirs = getattr(torch.nn, case.name)(*case.args, **dict(case.kwargs)).double()
    ours = getattr(nn, case.name)(*case.args, **dict(case.kwargs)).to("float64")
    ours.load_state_dict(theirs.state_dict())
    return ours, theirs


def flat(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [leaf for entry in value for leaf in flat(entry)]
    return [] if value is None else [value]


def compare(ours: Any, theirs: Any, what: str, error: float = 1e-9) -> None:
    assert len(ours) == len(theirs), what
    for mine, other in zip(ours, theirs, strict=True):
        numpy.testing.assert_allclose(
            mine.numpy(), other.detach().numpy(), rtol=error, atol=error / 100, err_msg=what
        )


@pytest.mark.parametrize("case", LAYERS, ids=str)
def test_a_layer_gives_what_pytorch_gives(case: Layer) -> None:
    ours, theirs = build(case)
    random = numpy.random.default_rng(3)
    arrays = [random.normal(size=shape) for shape in case.inputs]
    mine = [ogive.Tensor(array, requires_grad=True) for array in arrays]
    other = [torch.tensor(array, requires_grad=True) for array in arrays]
    our_results, their_results = flat(ours(*mine)), flat(theirs(*other))
    compare(our_results, their_results, "output")
    weights = [random.normal(size=tuple(result.shape)) for result in their_results]
    loss = sum((r * ogive.Tensor(w)).sum() for r, w in zip(our_results, weights, strict=True))
    loss.backward()
    sum((r * torch.tensor(w)).sum() for r, w in zip(their_results, weights, strict=True)).backward()
    compare([x.grad for x in mine], [x.grad for x in other], "input's gradient", case.error)
    wanted = dict(theirs.named_parameters())
    assert [name for name, _ in ours.named_parameters()] == list(wanted)
    for name, parameter in ours.named_parameters():
        compare([parameter.grad], [wanted[name].grad], f"gradient of {name}")
    compare(list(ours.state_dict().values()), list(theirs.state_dict().values()), "state")
    compare(flat(ours.eval()(*mine)), flat(theirs.eval()(*other)), "output in evaluation")


def test_the_names_of_a_state_are_pytorchs() -> None:
    for case in LAYERS:
        ours, theirs = build(case)
        assert list(ours.state_dict()) == list(theirs.state_dict()), str(case)


LOSSES: list[tuple[str, dict[str, Any], Callable[[Any], tuple[Array, ...]]]] = [
    ("MSELoss", {}, lambda r: (r.normal(size=(4, 5)), r.normal(size=(4, 5)))),
    ("L1Loss", {"reduction": "sum"}, lambda r: (r.normal(size=(4, 5)), r.normal(size=(4, 5)))),
    ("SmoothL1Loss", {"beta": 0.5}, lambda r: (r.normal(size=(4, 5)), r.normal(size=(4, 5)))),
    ("HuberLoss", {"delta": 0.5}, lambda r: (r.normal(size=(4, 5)), r.normal(size=(4, 5)))),
    ("CrossEntropyLoss", {"label_smoothing": 0.1},
     lambda r: (r.normal(size=(4, 5)), r.integers(0, 5, 4))),
    ("NLLLoss", {"ignore_index": 2}, lambda r: (r.normal(size=(4, 5)), r.integers(0, 5, 4))),
    ("BCELoss", {}, lambda r: (r.uniform(0.1, 0.9, (4, 5)), r.uniform(size=(4, 5)))),
    ("BCEWithLogitsLoss", {}, lambda r: (r.normal(size=(4, 5)), r.uniform(size=(4, 5)))),
    ("KLDivLoss", {"reduction": "batchmean"},
     lambda r: (r.normal(size=(4, 5)), r.uniform(size=(4, 5)))),
    ("SoftMarginLoss", {}, lambda r: (r.normal(size=(4, 5)), r.choice([-1.0, 1.0], (4, 5)))),
    ("HingeEmbeddingLoss", {}, lambda r: (r.normal(size=(4, 5)), r.choice([-1.0, 1.0], (4, 5)))),
    ("TripletMarginWithDistanceLoss", {"margin": 0.5}, lambda r: tuple(r.normal(size=(3, 4, 5)))),
    ("TripletMarginLoss", {"swap": True}, lambda r: tuple(r.normal(size=(3, 4, 5)))),
]  # fmt: skip


@pytest.mark.parametrize(("name", "settings", "make"), LOSSES, ids=[case[0] for case in LOSSES])
def test_a_loss_gives_what_pytorch_gives(
    name: str, settings: dict[str, Any], make: Callable[[Any], tuple[Array, ...]]
) -> None:
    arrays = make(numpy.random.default_rng(5))
    ours = getattr(nn, name)(**settings)(*[ogive.Tensor(array) for array in arrays])
    theirs = getattr(torch.nn, name)(**settings)(*[torch.tensor(array) for array in arrays])
    compare([ours], [theirs], name)


def test_embedding_gathers_rows_and_scatters_gradients() -> None:
    theirs = torch.nn.Embedding(10, 3, padding_idx=2).double()
    ours = nn.Embedding(10, 3, padding_idx=2).to("float64")
    ours.load_state_dict(theirs.state_dict())
    indices = numpy.array([[1, 2, 9], [1, 0, 2]])
    weights = numpy.random.default_rng(1).normal(size=(2, 3, 3))
    mine, other = ours(ogive.Tensor(indices)), theirs(torch.tensor(indices))
    compare([mine], [other], "output")
    (mine * ogive.Tensor(weights)).sum().backward()
    (other * torch.tensor(weights)).sum().backward()
    compare([ours.weight.grad], [theirs.weight.grad], "gradient")


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_of_rows_are_reduced(mode: str) -> None:
    theirs = torch.nn.EmbeddingBag(10, 3, mode=mode, padding_idx=2).double()
    ours = nn.EmbeddingBag(10, 3, mode=mode, padding_idx=2).to("float64")
    ours.load_state_dict(theirs.state_dict())
    rows, offsets = numpy.array([1, 2, 9, 1, 0, 2, 7]), numpy.array([0, 3, 3, 5])
    mine = ours(ogive.Tensor(rows), ogive.Tensor(offsets))
    other = theirs(torch.tensor(rows), torch.tensor(offsets))
    compare([mine], [other], "output")
    weights = numpy.random.default_rng(1).normal(size=(4, 3))
    (mine * ogive.Tensor(weights)).sum().backward()
    (other * torch.tensor(weights)).sum().backward()
    compare([ours.weight.grad], [theirs.weight.grad], "gradient")


def test_what_was_pooled_is_put_back() -> None:
    x = numpy.random.default_rng(4).normal(size=(2, 3, 7, 6))
    pooled = ogive.Tensor(x).max_pool2d(2, return_indices=True)
    other = torch.nn.functional.max_pool2d(torch.tensor(x), 2, return_indices=True)
    compare([nn.MaxUnpool2d(2)(*pooled)], [torch.nn.MaxUnpool2d(2)(*other)], "values")
    whole = nn.MaxUnpool2d(2)(*pooled, (7, 6))
    compare([whole], [torch.nn.MaxUnpool2d(2)(*other, output_size=(7, 6))], "with a size")


def test_attention_takes_masks_as_pytorch_does() -> None:
    ours, theirs = build(layer("MultiheadAttention", 8, 2, batch_first=True))
    random = numpy.random.default_rng(2)
    x = random.normal(size=(3, 5, 8))
    padding = numpy.zeros((3, 5), bool)
    padding[1, 3:] = True
    causal = numpy.triu(numpy.ones((5, 5), bool), 1)
    mine = ours(*[ogive.Tensor(x)] * 3, ogive.Tensor(padding), attn_mask=ogive.Tensor(causal))
    other = theirs(
        *[torch.tensor(x)] * 3,
        key_padding_mask=torch.tensor(padding),
        attn_mask=torch.tensor(causal),
        average_attn_weights=True,
    )
    compare(mine, other, "masked attention")
    plain = ours(*[ogive.Tensor(x)] * 3, attn_mask=ogive.Tensor(causal), need_weights=False)[0]
    compare([plain], [theirs(*[torch.tensor(x)] * 3, attn_mask=torch.tensor(causal))[0]], "plain")


@pytest.mark.parametrize(
    "settings",
    [
        {"max_norm": 1.0},
        {"max_norm": 0.5, "norm_type": 1.0},
        {"scale_grad_by_freq": True},
        {"padding_idx": 1, "max_norm": 1.0, "scale_grad_by_freq": True},
    ],
)
def test_an_embedding_shortens_rows_and_scales_gradients(settings: dict[str, Any]) -> None:
    table = numpy.random.default_rng(3).normal(size=(5, 3)).astype("float32")
    rows = [[0, 1, 1], [3, 3, 3]]
    ours, theirs = nn.Embedding(5, 3, **settings), torch.nn.Embedding(5, 3, **settings)
    ours.weight.data.assign(table)
    theirs.weight.data.copy_(torch.from_numpy(table))
    ours(ogive.Tensor(rows)).square().sum().backward()
    theirs(torch.tensor(rows)).square().sum().backward()
    assert ours.weight.grad is not None and theirs.weight.grad is not None
    pairs = ((ours.weight.detach(), theirs.weight.detach()), (ours.weight.grad, theirs.weight.grad))
    for mine, other in pairs:
        numpy.testing.assert_allclose(mine.numpy(), other.numpy(), rtol=1e-5, atol=1e-6)
