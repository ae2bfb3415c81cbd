"""Activation functions as modules. Shapes: unchanged, but for `GLU`, which halves an axis."""

from __future__ import annotations

from typing import Any

from ogive.nn.drawn_layer import DrawnLayer
from ogive.nn.init import constant_
from ogive.nn.layers.wrapped import Wrapped, wrap_function
from ogive.nn.parameter import Parameter
from ogive.tensor.creation.constructors import full
from ogive.tensor.method_functions import created
from ogive.tensor.tensor import Tensor

ReLU = wrap_function("ReLU", "relu", "max(x, 0)", "inplace", inplace=False)
ReLU6 = wrap_function("ReLU6", "relu6", "x between 0 and 6", "inplace", inplace=False)
LeakyReLU = wrap_function(
    "LeakyReLU", "leaky_relu", "x, or slope·x below 0", "negative_slope inplace",
    negative_slope=0.01, inplace=False,
)  # fmt: skip
ELU = wrap_function(
    "ELU", "elu", "x, or alpha·(exp(x) - 1) below 0", "alpha inplace", alpha=1.0, inplace=False
)
CELU = wrap_function(
    "CELU", "celu", "x, or alpha·(exp(x / alpha) - 1) below 0", "alpha inplace",
    alpha=1.0, inplace=False,
)  # fmt: skip
SELU = wrap_function(
    "SELU", "selu", "a scaled `ELU` that keeps mean 0 and variance 1", "inplace", inplace=False
)
GELU = wrap_function("GELU", "gelu", "x·Φ(x)", "approximate", approximate="none")
SiLU = wrap_function("SiLU", "silu", "x·sigmoid(x)", "inplace", inplace=False)
Mish = wrap_function("Mish", "mish", "x·tanh(softplus(x))", "inplace", inplace=False)
Sigmoid = wrap_function("Sigmoid", "sigmoid", "1 / (1 + exp(-x))")
LogSigmoid = wrap_function("LogSigmoid", "logsigmoid", "log(sigmoid(x))")
Tanh = wrap_function("Tanh", "tanh", "tanh(x)")
Tanhshrink = wrap_function("Tanhshrink", "tanhshrink", "x - tanh(x)")
Softplus = wrap_function(
    "Softplus", "softplus", "log(1 + exp(beta·x)) / beta", "beta threshold",
    beta=1.0, threshold=20.0,
)  # fmt: skip
Softsign = wrap_function("Softsign", "softsign", "x / (1 + |x|)")
Hardtanh = wrap_function(
    "Hardtanh", "hardtanh", "x between two values", "min_val max_val inplace",
    min_val=-1.0, max_val=1.0, inplace=False,
)  # fmt: skip
Hardsigmoid = wrap_function(
    "Hardsigmoid", "hardsigmoid", "x/6 + 1/2 between 0 and 1", inplace=False
)
Hardswish = wrap_function("Hardswish", "hardswish", "x·hardsigmoid(x)", inplace=False)
Threshold = wrap_function(
    "Threshold", "threshold", "x, or a value where it is not above a threshold",
    "threshold value inplace", threshold=0.0, value=0.0, inplace=False,
)  # fmt: skip
GLU = wrap_function("GLU", "glu", "a·sigmoid(b), for the halves a and b of an axis", "dim", dim=-1)
Softmax = wrap_function("Softmax", "softmax", "exp(x) over its sum along an axis", "dim", dim=-1)
Softmax2d = wrap_function("Softmax2d", "softmax", "softmax over the channels", dim=-3)
Softmin = wrap_function("Softmin", "softmin", "softmax of -x", "dim", dim=-1)
LogSoftmax = wrap_function(
    "LogSoftmax", "log_softmax", "log(softmax(x)) along an axis", "dim", dim=-1
)


class Shrink(Wrapped):
    """The base of activations that map values near 0 to 0."""

    defaults = {"lambd": 0.5}

    def extra_repr(self) -> str:
        return str(self.settings()["lambd"])


class Softshrink(Shrink):
    """x moved towards 0 by `lambd`; 0 within ±lambd.

    >>> nn.Softshrink()(Tensor([-2.0, 0.25])).tolist()
    [-1.5, 0.0]
    """

    function = "softshrink"


class Hardshrink(Shrink):
    """x; 0 within ±lambd.

    >>> nn.Hardshrink()(Tensor([-2.0, 0.25])).tolist()
    [-2.0, 0.0]
    """

    function = "hardshrink"


class RReLU(Wrapped):
    """x; below 0, slope·x. The slope is random in training, and the mean of the bounds otherwise.

    >>> nn.RReLU(0.25, 0.75).eval()(Tensor([-2.0, 2.0])).tolist()
    [-1.0, 2.0]
    """

    function = "rrelu"
    defaults = {"lower": 1 / 8, "upper": 1 / 3, "inplace": False}
    shown = ("lower", "upper", "inplace")

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), "training": self.training}


class PReLU(DrawnLayer):
    """x, or weight·x below 0, the weight being trained: one for all channels, or one for each.

    >>> nn.PReLU()(Tensor([-1.0, 2.0])).tolist()
    [-0.25, 2.0]
    """

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        device: str | None = None,
        dtype: Any = None,
    ) -> None:
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(created(full, (num_parameters,), init, dtype=dtype, device=device))
        self._finish()

    def _set_values(self) -> None:
        constant_(self.weight, self.init)

    def forward(self, x: Tensor) -> Tensor:
        return x.prelu(self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"
