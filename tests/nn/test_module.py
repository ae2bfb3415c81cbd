"""The tree of modules: names, state, modes, text and errors."""

from __future__ import annotations

import copy
from typing import Any, cast

import numpy
import pytest
import torch

import ogive
from ogive import Tensor, nn
from ogive.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    ShapeError,
    StateError,
    words_of,
)
from tests.raising import raises


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        self.attn = nn.Linear(width, width)
        self.parts = [nn.Linear(width, width), nn.ReLU()]
        self.named = {"out": nn.Linear(width, 2)}

    def forward(self, x: Tensor) -> Tensor:
        made: Tensor = self.named["out"](self.parts[1](self.parts[0](self.attn(x))))
        return made


class Model(nn.Module):
    def __init__(self) -> None:
        self.layers = nn.ModuleList([Block(4), Block(3)])
        self.register_buffer("scale", ogive.ones(2).realize())
        self.register_buffer("scratch", ogive.zeros(2).realize(), persistent=False)

    def forward(self, x: Tensor) -> Any:
        return [layer(x) for layer in self.layers]


def test_parameters_are_found_in_lists_and_dictionaries() -> None:
    names = [name for name, _ in Block(4).named_parameters()]
    assert names == [
        "attn.weight", "attn.bias", "parts.0.weight", "parts.0.bias",
        "named.out.weight", "named.out.bias",
    ]  # fmt: skip


def test_buffers_are_state_unless_they_are_not_persistent() -> None:
    model = Model()
    assert [name for name, _ in model.named_buffers()] == ["scale", "scratch"]
    assert "scale" in model.state_dict() and "scratch" not in model.state_dict()


def test_a_shared_parameter_is_listed_once_and_named_twice() -> None:
    block = Block(2)
    first: Any = block.parts[0]
    first.weight = block.attn.weight
    assert len(list(block.parameters())) == 5
    assert len(block.state_dict()) == 6


def test_a_copied_state_keeps_its_values_when_training_goes_on() -> None:
    layer = nn.Linear(2, 1)
    state = copy.deepcopy(layer.state_dict())
    before = layer.weight.numpy()
    with ogive.no_grad():
        layer.weight.assign(layer.weight + 1)
    layer.weight.realize()
    numpy.testing.assert_array_equal(state["weight"].numpy(), before)
    layer.load_state_dict(state)
    numpy.testing.assert_array_equal(layer.weight.numpy(), before)
    assert layer.weight.requires_grad


def test_a_state_of_other_names_is_refused_with_near_matches() -> None:
    model = nn.Sequential(nn.Linear(2, 3))
    before = model[0].weight.numpy()
    state = {"0.wieght": ogive.ones(3, 2), "0.bias": ogive.ones(3), "1.bias": ogive.ones(1)}
    with pytest.raises(StateError) as caught:
        model.load_state_dict(state)
    for words in (
        "missing key '0.weight' (there is '0.wieght')", "unexpected key '0.wieght'", "'1.bias'"
    ):
        assert words in words_of(caught.value)
    numpy.testing.assert_array_equal(model[0].weight.numpy(), before)


def test_a_state_of_other_shapes_changes_nothing() -> None:
    layer: Any = nn.Linear(2, 3)
    before = layer.bias.numpy()
    with raises(StateError, match=r"weight: expected the shape \(3, 2\), got \(2, 3\)"):
        layer.load_state_dict({"bias": ogive.ones(3), "weight": ogive.ones(2, 3)})
    numpy.testing.assert_array_equal(layer.bias.numpy(), before)


def test_loading_loosely_passes_over_what_is_not_there() -> None:
    layer: Any = nn.Linear(2, 3)
    layer.load_state_dict({"bias": numpy.ones(3), "other": numpy.ones(3)}, strict=False)
    assert layer.bias.tolist() == [1.0, 1.0, 1.0]


def test_an_error_names_the_path_to_the_layer() -> None:
    with raises(ShapeError, match=r"^layers\.1\.attn: expected \(\.\.\., 3\), got \(5, 4\)"):
        Model()(ogive.ones(5, 4))


def test_the_text_of_a_module_is_its_tree() -> None:
    model = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Linear(4, 2, bias=False))
    assert repr(model) == (
        "Sequential(\n"
        "  (0): Conv2d(1, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))\n"
        "  (1): ReLU()\n"
        "  (2): Linear(in_features=4, out_features=2, bias=False)\n"
        ")"
    )


def test_modes_reach_every_module() -> None:
    model = Model().eval()
    assert not any(module.training for module in model.modules())
    assert all(module.training for module in model.train().modules())


def test_a_module_changes_dtype_in_place() -> None:
    layer = nn.Linear(2, 2)
    weight = layer.weight
    layer.to("float64")
    assert layer.weight is weight and weight.dtype is ogive.float64 and weight.requires_grad
    assert layer(ogive.ones(1, 2, dtype="float64")).dtype is ogive.float64
    with raises(DtypeError, match="to a float dtype only, not int32"):
        layer.to("int32")


def test_sequences_can_be_named_and_sliced() -> None:
    model = nn.Sequential({"first": nn.Linear(2, 3), "second": nn.ReLU()})
    assert model.first is model[0]
    assert [name for name, _ in model[:1].named_parameters()] == ["first.weight", "first.bias"]


def test_modules_of_a_sequence_are_replaced_and_added_by_name() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    wider = nn.Linear(2, 5)
    setattr(model, "0", wider)  # as those do who walk over named_modules()
    assert model[0] is wider is getattr(model, "0") and len(model) == 2
    model.add_module("head", nn.Linear(5, 1))
    assert [name for name, _ in model.named_children()] == ["0", "1", "head"]
    assert model(ogive.ones(4, 2)).shape == (4, 1)
    del model.head, model[-1]
    assert [name for name, _ in model.named_children()] == ["0"]
    assert model(ogive.ones(4, 2)).shape == (4, 5)
    layers = nn.ModuleList([nn.ReLU()])
    layers.add_module("1", wider)
    assert layers[1] is wider and len(list(layers.parameters())) == 2
    with raises(ArgumentError, match="by position, and 'extra' is not the next"):
        layers.extra = nn.ReLU()


def test_a_module_given_to_a_dictionary_as_an_attribute_is_one_of_its_items() -> None:
    heads = nn.ModuleDict({"first": nn.Linear(2, 3)})
    heads.first = nn.Linear(2, 7)
    heads.second = nn.ReLU()
    assert next(heads["first"].parameters()).shape == (7, 2) and list(heads) == ["first", "second"]
    del heads.second
    assert list(heads) == ["first"] and len(list(heads.parameters())) == 2


def test_modules_by_name_are_attributes_too() -> None:
    heads = nn.ModuleDict({"first": nn.Linear(2, 3)})
    heads.update({"second": nn.Linear(3, 1)})
    assert heads.second is heads["second"] and next(iter(heads.state_dict())) == "first.weight"
    with raises(AttributeError, match=r"module 'fist' .did you mean 'first'"):
        _ = heads.fist
    assert heads.pop("first") not in heads.children()
    del heads["second"]
    assert len(heads) == 0


def test_replicas_have_parameters_of_their_own() -> None:
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2)
    assert len(list(encoder.parameters())) == 2 * 12
    first, second = list[Any](encoder.layers)
    numpy.testing.assert_array_equal(first.linear1.weight.numpy(), second.linear1.weight.numpy())
    assert first.linear1.weight is not second.linear1.weight


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: nn.MaxPool2d(), "MaxPool2d needs the argument 'kernel_size'"),
        (lambda: nn.GELU(aproximate="tanh"), "'aproximate' is not an argument .did you mean"),
        (lambda: nn.ReLU(1, 2), "ReLU takes at most 1 argument, got 2"),
        (lambda: nn.Sequential(cast(Any, nn.ReLU), nn.ReLU()), "Sequential holds modules"),
        (lambda: nn.MultiheadAttention(7, 2), "num_heads=2 must divide embed_dim=7"),
        (lambda: nn.GroupNorm(2, 3), "num_groups=2 must divide num_channels=3"),
        (lambda: nn.Dropout(1.5), "between 0 and 1, not 1.5"),
        (lambda: nn.Conv2d(3, 4, 3, groups=2), "groups=2 must divide in_channels=3"),
        (lambda: nn.init.calculate_gain("rely"), "unknown nonlinearity 'rely' .did you mean"),
    ],
)  # fmt: skip
def test_bad_arguments_are_named(make: Any, words: str) -> None:
    with raises((ArgumentError, ArgumentTypeError), match=words):
        make()


def test_work_in_place_changes_the_input() -> None:
    x = Tensor([-1.0, 2.0])
    assert nn.LeakyReLU(0.5, True)(x) is x
    assert x.tolist() == [-0.5, 2.0]
    assert nn.ReLU()(x).tolist() == [0.0, 2.0]
    assert x.tolist() == [-0.5, 2.0]
    nn.ReLU(inplace=True)(x)
    assert x.tolist() == [0.0, 2.0]
    assert nn.functional.elu(input=x - 1, inplace=True).shape == (2,)
    nn.Dropout(1.0, inplace=True)(x)
    assert x.tolist() == [0.0, 0.0]
    assert repr(nn.ReLU(True)) == "ReLU(inplace=True)"


BUILT = [
    ("Linear", (3, 4)), ("Bilinear", (3, 4, 2)), ("Conv2d", (3, 4, 3)),
    ("ConvTranspose1d", (3, 4, 3)), ("Embedding", (5, 3)), ("EmbeddingBag", (5, 3)),
    ("BatchNorm1d", (3,)), ("InstanceNorm2d", (3, 1e-5, 0.1, True, True)), ("LayerNorm", (3,)),
    ("RMSNorm", (3,)), ("GroupNorm", (1, 3)), ("PReLU", (3,)), ("RNN", (3, 4)), ("LSTM", (3, 4)),
    ("GRUCell", (3, 4)), ("MultiheadAttention", (4, 2, 0.0, True, True)),
    ("TransformerDecoderLayer", (4, 2, 6)), ("Transformer", (4, 2, 1, 1, 6)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args"), BUILT, ids=[case[0] for case in BUILT])
def test_layers_are_built_with_a_dtype_and_on_a_device(name: str, args: tuple[Any, ...]) -> None:
    ours = getattr(nn, name)(*args, device="cpu", dtype=ogive.float64)
    theirs = getattr(torch.nn, name)(*args, device="cpu", dtype=torch.float64)
    found = {key: tensor.dtype.name for key, tensor in ours.state_dict().items()}
    wanted = {key: str(tensor.dtype)[6:] for key, tensor in theirs.state_dict().items()}
    assert found == wanted
    with raises(ogive.errors.DeviceError, match="unknown device 'xpu'"):
        getattr(nn, name)(*args, device="xpu")


@pytest.mark.parametrize(
    ("layer", "shape", "words"),
    [
        (nn.Conv2d(3, 4, 3), (1, 2, 8, 8), r"expected \(N, 3, H, W\) or \(3, H, W\), got"),
        (nn.BatchNorm2d(3), (1, 2, 8, 8), "axis 1 of 3 channels"),
        (nn.LayerNorm((2, 3)), (5, 3), r"expected \(\.\.\., 2, 3\), got \(5, 3\)"),
        (nn.LSTM(3, 4), (5, 2, 2), "the last of length 3"),
        (nn.GroupNorm(2, 4), (5, 3), r"expected \(N, 4, \.\.\.\), got \(5, 3\)"),
    ],
)
def test_wrong_shapes_are_named(layer: nn.Module, shape: tuple[int, ...], words: str) -> None:
    with raises(ShapeError, match=words):
        layer(ogive.ones(*shape))


@pytest.mark.parametrize(
    ("fill", "deviation"),
    [
        (lambda w: nn.init.xavier_uniform_(w), (2 / 500) ** 0.5),
        (lambda w: nn.init.xavier_normal_(w, 2.0), 2 * (2 / 500) ** 0.5),
        (lambda w: nn.init.kaiming_uniform_(w, nonlinearity="relu"), (2 / 200) ** 0.5),
        (lambda w: nn.init.kaiming_normal_(w, mode="fan_out"), (2 / 300) ** 0.5),
        (lambda w: nn.init.normal_(w, 1.0, 0.3), 0.3),
        (lambda w: nn.init.trunc_normal_(w, std=0.5, a=-1.0, b=1.0), 0.5 * 0.8796),
        (lambda w: nn.init.orthogonal_(w), (1 / 300) ** 0.5),
    ],
)
def test_initial_values_have_their_deviation(fill: Any, deviation: float) -> None:
    ogive.manual_seed(0)
    weight = nn.Parameter(ogive.zeros(300, 200))
    fill(weight)
    assert weight.requires_grad
    assert abs(float(weight.numpy().std()) - deviation) < 0.02 * deviation


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_initial_values_are_those_of_a_draw_with_the_same_bounds(dtype: str) -> None:
    ogive.manual_seed(5)
    drawn = ogive.random.uniform(7, 13, low=-0.1, high=0.7, dtype=dtype)
    drawn_normal = ogive.randn(7, 13, dtype=dtype) * 0.3 + 1.5
    ogive.manual_seed(5)
    weight = nn.init.uniform_(ogive.zeros(7, 13, dtype=dtype), -0.1, 0.7)
    weight_normal = nn.init.normal_(ogive.zeros(7, 13, dtype=dtype), 1.5, 0.3)
    assert weight.numpy().tobytes() == drawn.numpy().tobytes()
    assert weight_normal.numpy().tobytes() == drawn_normal.numpy().tobytes()


def test_layers_of_all_sizes_start_from_one_kernel() -> None:
    nn.Linear(8, 4)
    nn.init.normal_(ogive.zeros(4, 3), 0.2, 0.7)
    before = ogive.counters()["kernels_compiled"]
    nn.Linear(80, 30)
    nn.Conv2d(5, 7, 3)
    nn.init.normal_(ogive.zeros(6, 5), 0.5, 0.1)
    assert ogive.counters()["kernels_compiled"] == before


def test_layers_start_as_pytorchs_do() -> None:
    ogive.manual_seed(0)
    linear: Any = nn.Linear(400, 300)
    for values in (linear.weight.numpy(), linear.bias.numpy()):
        assert 0.97 / 20 < abs(values).max() <= 1 / 20
    assert abs(float(nn.Embedding(100, 100).weight.numpy().std()) - 1) < 0.02


def test_a_jitted_step_notices_the_mode() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.9))
    step = ogive.jit(lambda x: model(x))
    x = ogive.ones(64, 3)
    assert (step(x).numpy() == 0).any()
    model.eval()
    assert not (step(x).numpy() == 0).any()


@pytest.mark.parametrize(
    ("shape", "groups"), [((4, 2, 3), 2), ((2, 3, 3, 4), 1), ((3, 3, 2, 1, 3), 1)]
)
def test_a_dirac_weight_is_pytorchs(shape: tuple[int, ...], groups: int) -> None:
    made = nn.init.dirac_(ogive.ones(*shape), groups)
    assert made.tolist() == torch.nn.init.dirac_(torch.ones(*shape), groups).tolist()
    with raises(ShapeError, match="dirac_ takes weights of convolutions in 3 groups"):
        nn.init.dirac_(ogive.ones(4, 2, 3), 3)


def test_a_sparse_weight_has_zeros_in_each_column() -> None:
    weight = nn.init.sparse_(nn.Parameter(ogive.ones(20, 5)), 0.33, 2.0)
    assert (weight == 0).sum(0).tolist() == [7] * 5
    assert 1 < weight[weight != 0].std().item() < 3 and weight.requires_grad
    with raises(ShapeError, match="sparse_ takes a matrix"):
        nn.init.sparse_(ogive.ones(3), 0.5)


def test_a_modules_own_tensors_are_told_from_those_below() -> None:
    block = Block(3)
    block.scale = nn.Parameter(ogive.ones(1))
    block.register_buffer("seen", ogive.zeros(1))
    assert [name for name, _ in block.named_parameters(recurse=False)] == ["scale"]
    assert len(list(block.parameters(recurse=False))) == len(list(block.buffers(False))) == 1
    assert len(list(block.attn.parameters(False))) == 2
    block.attn.bias = block.attn.weight
    everything = [name for name, _ in block.attn.named_parameters(remove_duplicate=False)]
    assert everything == ["weight", "bias"] and len(list(block.attn.parameters())) == 1


def test_gradients_are_made_zero_or_forgotten() -> None:
    layer = nn.Linear(2, 1)
    layer(ogive.ones(1, 2)).sum().backward()
    layer.zero_grad(set_to_none=False)
    assert layer.weight.grad is not None and layer.weight.grad.tolist() == [[0.0, 0.0]]
    layer.zero_grad()
    assert layer.weight.grad is None


def test_a_copied_parameter_has_no_gradient_yet() -> None:
    layer = nn.Linear(2, 2)
    layer(Tensor([[1.0, 2.0]])).sum().backward()
    made = copy.deepcopy(layer)
    assert layer.weight.grad is not None
    assert made.weight.grad is None
    assert made.weight.requires_grad
    assert made.weight.tolist() == layer.weight.tolist()


def test_a_state_is_read_when_it_is_loaded() -> None:
    """Its owner may write to the memory afterwards. A view lets the parameter be assigned to."""
    source = torch.nn.Linear(40, 30)
    expected = source.weight.detach().clone().numpy()
    layer = nn.Linear(40, 30)
    view = layer.weight.detach()
    layer.load_state_dict(source.state_dict())
    with torch.no_grad():
        source.weight.zero_()
    assert numpy.array_equal(layer.weight.numpy(), expected)
    assert numpy.array_equal(view.numpy(), expected)
