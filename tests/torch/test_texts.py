"""What programs print under `ogive.torch` reads as under PyTorch: tensors, modules, names."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import torch

import ogive
import ogive.torch as ours
from ogive.torch.texts.speaking import speak_ogive, speak_pytorch


def cases(text: str) -> list[str]:
    return text.split()


VALUES = cases("""
torch.tensor(3)  torch.tensor(-0.0)  torch.tensor(True)  torch.tensor(1e-8)  torch.tensor(2.5)
torch.zeros(0)  torch.zeros(0,3)  torch.zeros(2,0,dtype=torch.int64)
torch.zeros(2,dtype=torch.half)
torch.tensor([1,2],dtype=torch.int32)  torch.tensor([1+2j,3.5-1j])  torch.tensor([1e-8,1.])
torch.tensor([float('nan'),float('inf'),1.])  torch.tensor([1e10,1.])  torch.arange(10000.)
torch.arange(2000).reshape(2,1000)  torch.zeros(30,40,5)  torch.arange(100.)/7  torch.eye(3)*1e5
torch.arange(24.).reshape(2,3,4)  torch.tensor([[True,False]])  torch.tensor([-1,100])
torch.tensor([0.1,0.22,123.456])  torch.tensor([1.,2.]).double()  torch.tensor([1.]).bfloat16()
torch.tensor([1e-5])  torch.tensor([12345.678])  torch.tensor([100000.5,1.5])
torch.full((2,2),7.25)
torch.tensor([255],dtype=torch.uint8)  torch.ones(2,3).shape  torch.ones(2,3).shape[1:]
torch.ones(2,3).shape+(1,)  (1,)+torch.ones(2).shape  torch.ones(2,3).size()  torch.Size([1])
torch.ones(1).dtype  torch.ones(1).device  torch.device('cpu')  torch.device('cuda:1')
torch.float8_e4m3fn  torch.channels_last  torch.strided  torch.finfo(torch.float32)
torch.finfo(torch.float16)  torch.finfo(torch.bfloat16)  torch.iinfo(torch.int8)
torch.iinfo(torch.int64)  torch.ones(2,requires_grad=True)  nn.Parameter(torch.ones(2,2))
type(torch.ones(1))  torch.Tensor  torch.LongTensor  type(nn.Parameter(torch.ones(1)))
torch.ones(1).type()  [torch.ones(1),torch.tensor(2)]  {'a':torch.ones(1)}  (torch.float32,)
torch.ones(1,2).stride()  torch.get_default_dtype()  torch.ones(2,3,requires_grad=True).t().shape
torch.linspace(-1,1,7)  torch.linspace(0,1,11)  torch.arange(0,1,0.1)  torch.logspace(0,2,5)
torch.nn.utils.rnn.pack_sequence([torch.ones(2),torch.ones(1)])
torch.distributions.Normal(0.,1.)  torch.distributions.Normal(torch.zeros(2),torch.ones(2))
torch.distributions.Categorical(torch.ones(3)/3)  torch.distributions.Uniform(0.,1.)
torch.distributions.constraints.positive  torch.distributions.constraints.interval(0,1)
""")

MODULES = cases("""
Linear(2,3)  Linear(2,3,bias=False)  Bilinear(2,3,4)  Identity()  LazyLinear(3)  Conv1d(2,4,3)
Conv2d(2,4,3,stride=2,padding=1)  Conv2d(2,4,(3,5),padding='same',dilation=2,groups=2,bias=False)
Conv2d(2,2,3,padding_mode='reflect',padding=1)  ConvTranspose2d(2,4,3,2,1,1)  LazyConv2d(3,3)
BatchNorm1d(3)  BatchNorm2d(3,eps=1e-3,momentum=0.01,affine=False)  LazyBatchNorm1d()
InstanceNorm2d(3)  LayerNorm(3)  LayerNorm((2,3),elementwise_affine=False)  LayerNorm(3,bias=False)
RMSNorm(3)  GroupNorm(2,4)  LocalResponseNorm(2)  Dropout()  Dropout(0.3,inplace=True)
Dropout2d(0.1)
AlphaDropout(0.1)  ReLU()  ReLU(inplace=True)  ReLU6()  LeakyReLU()  LeakyReLU(0.2,inplace=True)
PReLU()  PReLU(3)  ELU()  SELU()  CELU()  GELU()  GELU('tanh')  SiLU()  SiLU(inplace=True)  Mish()
Softplus()  Softplus(2,10)  Softsign()  Softmax(dim=-1)  Softmax2d()  Softmin(1)  LogSoftmax(dim=1)
Sigmoid()  LogSigmoid()  Tanh()  Tanhshrink()  Hardtanh()  Hardtanh(-2,2)  Hardsigmoid()
Hardswish()
Hardswish(inplace=True)  Hardshrink()  Softshrink(0.3)  Threshold(0.1,20)  GLU()  RReLU()
MaxPool1d(2)  MaxPool2d(2)  MaxPool2d(3,stride=2,padding=1)  MaxPool2d((2,3),ceil_mode=True)
AvgPool1d(2)  AvgPool2d(2)  AvgPool2d(3,2,1)  AvgPool3d(2)  AdaptiveAvgPool1d(1)
AdaptiveAvgPool2d((2,None))  AdaptiveMaxPool2d((1,1))  LPPool2d(2,3)  MaxUnpool2d(2)
FractionalMaxPool2d(2,output_size=3)  Flatten()  Flatten(0,1)  Unflatten(1,(2,3))  Embedding(5,3)
Embedding(5,3,padding_idx=0)  Embedding(5,3,max_norm=1.0)  Embedding(5,3,scale_grad_by_freq=True)
EmbeddingBag(5,3,mode='sum')  RNN(2,3)  RNN(2,3,2,batch_first=True)  LSTM(2,3)
LSTM(2,3,num_layers=2,batch_first=True,dropout=0.1,bidirectional=True)
LSTM(2,4,proj_size=2,bias=False)
GRU(2,3,2)  RNNCell(2,3)  LSTMCell(2,3)  GRUCell(2,3,bias=False)  MultiheadAttention(4,2)
TransformerEncoderLayer(4,2,8)  TransformerDecoderLayer(4,2,8,batch_first=True)
TransformerEncoder(nn.TransformerEncoderLayer(4,2,8),2,enable_nested_tensor=False)
Transformer(4,2,1,1,8)  Sequential(nn.Linear(1,2),nn.Sequential(nn.Conv2d(1,1,1),nn.Flatten()))
Sequential()  Sequential(nn.ReLU(),nn.ReLU())  ModuleList([nn.Linear(1,2),nn.Linear(1,2)])
ModuleList([nn.Linear(1,2),nn.Linear(2,2),nn.Linear(2,2),nn.ReLU()])  ModuleList()
ModuleList([nn.Sequential(nn.Linear(1,1),nn.ReLU())]*3)
ModuleDict({'a':nn.Linear(1,2),'b':nn.ReLU()})
ParameterList([nn.Parameter(torch.zeros(2)),nn.Parameter(torch.zeros(2,3))])
ParameterDict({'w':nn.Parameter(torch.zeros(2,3))})  CrossEntropyLoss(label_smoothing=0.1)
MSELoss(reduction='sum')  CosineSimilarity(dim=2)  PixelShuffle(2)  PixelUnshuffle(2)
ChannelShuffle(2)  Upsample(scale_factor=2)  Upsample(size=(4,4),mode='bilinear',align_corners=True)
UpsamplingNearest2d(scale_factor=2)  UpsamplingBilinear2d(scale_factor=2)  ZeroPad2d(1)
ConstantPad1d(2,3.5)  ReflectionPad2d(1)  ReplicationPad2d((1,2,3,4))  CircularPad2d(1)
Fold((4,5),(2,2))  Unfold(2,padding=1)  utils.parametrizations.weight_norm(nn.Linear(2,3))
utils.parametrizations.spectral_norm(nn.Linear(2,3))  Module()
""")

GRADIENTS = [
    lambda t, x: x + 1, lambda t, x: 1 - x, lambda t, x: 2 / x, lambda t, x: x**2,
    lambda t, x: x**0.5, lambda t, x: 2**x, lambda t, x: -x, lambda t, x: x @ x,
    lambda t, x: x @ x[0], lambda t, x: x[0] @ x[0], lambda t, x: x[None] @ x,
    lambda t, x: x.sum(), lambda t, x: x.sum(0), lambda t, x: x.mean(), lambda t, x: x.mean(0),
    lambda t, x: x.std(), lambda t, x: x.max(), lambda t, x: x.max(1)[0],
    lambda t, x: x.max(1).values, lambda t, x: x.norm(), lambda t, x: x.exp(),
    lambda t, x: x.relu(), lambda t, x: x.clamp(0, 1), lambda t, x: x.t(), lambda t, x: x.T,
    lambda t, x: x.transpose(0, 1), lambda t, x: x.permute(1, 0), lambda t, x: x.view(-1),
    lambda t, x: x.flatten(), lambda t, x: x.unsqueeze(0), lambda t, x: x.squeeze(),
    lambda t, x: x[0],
    lambda t, x: x[:, 1:], lambda t, x: x[x > 0], lambda t, x: x.expand(2, 3, 3),
    lambda t, x: x.repeat(2, 1), lambda t, x: t.cat([x, x]), lambda t, x: t.stack([x, x]),
    lambda t, x: x.softmax(-1), lambda t, x: t.nn.functional.log_softmax(x, -1),
    lambda t, x: t.nn.functional.gelu(x), lambda t, x: t.nn.functional.linear(x, x, x[0]),
    lambda t, x: t.nn.functional.linear(x[None], x, x[0]),
    lambda t, x: t.nn.functional.cross_entropy(x, t.tensor([0, 1, 2])),
    lambda t, x: t.nn.functional.mse_loss(x, x.detach()),
    lambda t, x: t.nn.functional.layer_norm(x, (3,)), lambda t, x: x.double(),
    lambda t, x: x.cumsum(0), lambda t, x: t.where(x > 0, x, x),
    lambda t, x: x.masked_fill(x > 0, 0.0),
    lambda t, x: x.gather(1, t.tensor([[0], [1], [2]])), lambda t, x: x.sort()[0],
    lambda t, x: t.einsum("ij,jk->ik", x, x), lambda t, x: x.log1p(), lambda t, x: t.maximum(x, x),
    lambda t, x: x.split(2)[0], lambda t, x: x.mul(2).add(1), lambda t, x: x.detach(),
    lambda t, x: x.trace(), lambda t, x: x.diagonal(), lambda t, x: x.view(9)[0],
    lambda t, x: t.nn.Linear(3, 2)(x), lambda t, x: t.nn.Embedding(4, 2)(t.tensor([1])),
]  # fmt: skip

RESULTS = [
    lambda t, x: t.max(x, 1), lambda t, x: x.min(0), lambda t, x: t.sort(x), lambda t, x: x.topk(1),
    lambda t, x: x.median(0), lambda t, x: t.aminmax(x), lambda t, x: t.linalg.slogdet(x),
    lambda t, x: t.cummax(x, 0), lambda t, x: t.frexp(x),
]  # fmt: skip


def evaluate(expression: str, namespace: Any) -> Any:
    return eval(expression, {"torch": namespace, "nn": namespace.nn})


@pytest.mark.parametrize("expression", VALUES)
def test_a_value_prints_as_pytorchs(expression: str) -> None:
    found, wanted = evaluate(expression, ours), evaluate(expression, torch)
    assert (repr(found), str(found), f"{found}") == (repr(wanted), str(wanted), f"{wanted}")


@pytest.mark.parametrize("expression", MODULES)
def test_a_module_prints_as_pytorchs(expression: str) -> None:
    assert repr(evaluate("nn." + expression, ours)) == repr(evaluate("nn." + expression, torch))


@pytest.mark.parametrize("case", GRADIENTS)
def test_a_gradient_function_has_pytorchs_name(case: Any) -> None:
    texts = []
    for namespace in (ours, torch):
        x = namespace.eye(3, requires_grad=True) * 0.5 + 0.5
        texts.append(case(namespace, x).sum().grad_fn is not None and _name(case(namespace, x)))
    assert texts[0] == texts[1]


def _name(tensor: Any) -> str | None:
    return None if tensor.grad_fn is None else str(tensor.grad_fn.name())


@pytest.mark.parametrize("case", RESULTS)
def test_several_results_print_as_pytorchs(case: Any) -> None:
    wanted, found = [case(each, each.eye(2) + 0.5) for each in (torch, ours)]
    assert repr(found) == repr(wanted)


def test_a_tensor_with_history_names_its_function() -> None:
    texts = [repr(each.ones(2, requires_grad=True) * 2) for each in (torch, ours)]
    assert texts[0] == texts[1]


def test_print_options_are_kept() -> None:
    try:
        changes: list[dict[str, Any]] = [
            {"precision": 2}, {"profile": "full"}, {"sci_mode": True}, {"linewidth": 40}
        ]  # fmt: skip
        for options in changes:
            for namespace in (torch, ours):
                namespace.set_printoptions(profile="default")
                namespace.set_printoptions(**options)
            assert repr(ours.arange(1200.0) / 8) == repr(torch.arange(1200.0) / 8)
    finally:
        for namespace in (torch, ours):
            namespace.set_printoptions(profile="default")


def test_a_format_is_that_of_the_number() -> None:
    for namespace in (torch, ours):
        assert f"{namespace.tensor(2.5):.2f} {namespace.tensor(3):>4}" == "2.50    3"
        with pytest.raises(TypeError):
            f"{namespace.ones(2):.2f}"


def test_sizes_are_sizes() -> None:
    x = ours.ones(2, 3)
    assert isinstance(x.shape, ours.Size) and x.shape == (2, 3) and x.shape.numel() == 6
    assert copy.deepcopy(x.shape) == pickle.loads(pickle.dumps(x.shape)) == x.shape
    assert not isinstance((2, 3), ours.Size)


def test_graphs_hold_plain_tuples() -> None:
    x = ours.ones(4, 3)
    made = (x.reshape(x.shape[::-1]).expand(ours.Size([2, 3, 4])) + 1).sum(0)
    assert all(type(node.arg) is not ours.Size for node in made.node.walk())


def test_the_class_of_a_tensor_equals_pytorchs() -> None:
    x = ours.ones(1)
    assert type(x) == ours.Tensor and type(x) in (int, ours.Tensor)  # noqa: E721
    assert type(x) != ours.LongTensor  # noqa: E721


def test_ogive_alone_keeps_its_own_texts() -> None:
    speak_ogive()
    try:
        x = ogive.ones(2)
        assert repr(x.shape) == "(2,)" and type(x.shape) is tuple
        assert repr(x.dtype) == "ogive.float32" and str(x.device) == "CPU"
        assert repr(x).startswith("Tensor(")
    finally:
        speak_pytorch()
