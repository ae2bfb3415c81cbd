"""Random values: methods that fill a tensor in place, and draws whose parameters are tensors.

The draws themselves are in `ogive.random`, which is loaded at the first draw.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ogive.compat.methods.keywords import also
from ogive.errors import ShapeError
from ogive.tensor.build import show
from ogive.tensor.core import Core

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def _random() -> Any:
    from ogive import random

    return random


def _discrete() -> Any:
    from ogive.random import discrete

    return discrete


def _fill(tensor: Core, drawn: Tensor) -> Tensor:
    return cast("Tensor", tensor).assign(drawn)


def uniform_(
    self: Tensor, low: float = 0.0, high: float = 1.0, *, key: Any = None, generator: Any = None
) -> Tensor:
    """Fill with uniform numbers of [low, high). Returns the tensor itself.

    >>> x = ogive.zeros(3).uniform_(2, 3)
    >>> bool((x >= 2).all())
    True
    """
    return _fill(
        self,
        _random().uniform(
            *self.shape, low=low, high=high, dtype=self.dtype, key=key, generator=generator
        ),
    )


def normal_(
    self: Tensor, mean: float = 0.0, std: float = 1.0, *, key: Any = None, generator: Any = None
) -> Tensor:
    """Fill with numbers of the normal distribution. Returns the tensor itself.

    >>> ogive.zeros(3).normal_(std=0).tolist()
    [0.0, 0.0, 0.0]
    """
    return _fill(
        self,
        _random().normal(mean, std, self.shape, dtype=self.dtype, key=key, generator=generator),
    )


@also(lambd="rate")
def exponential_(
    self: Tensor, rate: float = 1.0, *, key: Any = None, generator: Any = None
) -> Tensor:
    """Fill with numbers of the exponential distribution. Returns the tensor itself.

    >>> bool((ogive.zeros(3).exponential_() > 0).all())
    True
    """
    return _fill(
        self,
        _random().exponential(
            *self.shape, rate=rate, dtype=self.dtype, key=key, generator=generator
        ),
    )


def cauchy_(
    self: Tensor, median: float = 0.0, sigma: float = 1.0, *, key: Any = None, generator: Any = None
) -> Tensor:
    """Fill with numbers of the Cauchy distribution. Returns the tensor itself.

    >>> ogive.zeros(3).cauchy_().shape
    (3,)
    """
    return _fill(
        self,
        _random().cauchy(
            *self.shape, median=median, sigma=sigma, dtype=self.dtype, key=key,
            generator=generator,
        ),
    )  # fmt: skip


def log_normal_(
    self: Tensor, mean: float = 1.0, std: float = 2.0, *, key: Any = None, generator: Any = None
) -> Tensor:
    """Fill with numbers whose logarithms are normally distributed. Returns the tensor itself.

    >>> bool((ogive.zeros(3).log_normal_() > 0).all())
    True
    """
    return _fill(
        self,
        _random().log_normal(
            *self.shape, mean=mean, std=std, dtype=self.dtype, key=key, generator=generator
        ),
    )


def geometric_(self: Tensor, p: float, *, key: Any = None, generator: Any = None) -> Tensor:
    """Fill with numbers of trials up to the first success, which has probability `p` in each.

    Returns the tensor itself.

    >>> ogive.zeros(3).geometric_(1.0).tolist()
    [1.0, 1.0, 1.0]
    """
    return _fill(
        self,
        _random().geometric(*self.shape, p=p, dtype=self.dtype, key=key, generator=generator),
    )


def bernoulli_(self: Tensor, p: Any = 0.5, *, key: Any = None, generator: Any = None) -> Tensor:
    """Fill with 1 with probability `p`, else 0. `p` is a number or a tensor that broadcasts.

    Returns the tensor itself.

    >>> ogive.zeros(3, dtype="int32").bernoulli_(1).tolist()
    [1, 1, 1]
    """
    if isinstance(p, Core):
        return _fill(
            self,
            _random().bernoulli(cast("Tensor", p).expand(self.shape), key=key, generator=generator),
        )
    return _fill(self, _discrete().chances(self, p, key=key, generator=generator))


def random_(self: Tensor, *bounds: int, key: Any = None, generator: Any = None) -> Tensor:
    """Fill with integers of [low, high): `random_()`, `random_(high)` or `random_(low, high)`.

    `low` is 0 by default. Without `high`, the integers go up to the greatest that the dtype holds;
    for a float dtype, to the greatest up to which it holds every integer.

    Returns the tensor itself.

    >>> bool((ogive.zeros(9, dtype="uint8").random_(10) < 10).all())
    True
    """
    return _fill(self, _discrete().integers_for(self, bounds, key, generator))


def bernoulli(
    self: Tensor, p: float | None = None, *, key: Any = None, generator: Any = None
) -> Tensor:
    """Draw 0 or 1 for each element: 1 with probability `p`, or without `p`, that of the element.

    Shapes and dtype: unchanged.

    >>> Tensor([0.0, 1.0]).bernoulli().tolist()
    [0.0, 1.0]
    """
    if p is None:
        drawn: Tensor = _random().bernoulli(self, key=key, generator=generator)
        return drawn
    drawn = _discrete().chances(self, p, key=key, generator=generator)
    return drawn.cast(self.dtype)


def multinomial(
    self: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    key: Any = None,
    generator: Any = None,
) -> Tensor:
    """Draw positions with probabilities in proportion to the elements; see `ogive.multinomial`.

    Shapes: (n,) → (num_samples,), (rows, n) → (rows, num_samples).

    >>> Tensor([0.0, 1.0]).multinomial(1).tolist()
    [1]
    """
    drawn: Tensor = _random().multinomial(
        self, num_samples, replacement, key=key, generator=generator
    )
    return drawn


def dropout(
    self: Tensor,
    p: float = 0.5,
    training: bool = True,
    *,
    key: Any = None,
    generator: Any = None,
) -> Tensor:
    """Set elements to 0 with probability `p`, and scale the others by 1 / (1 - p), in training.

    Shapes: unchanged. Unless `training` is set, the tensor itself is returned.

    >>> ogive.ones(3).dropout(1).tolist()
    [0.0, 0.0, 0.0]
    """
    dropped: Tensor = _random().dropout(self, p, training, key=key, generator=generator)
    return dropped


def alpha_dropout(
    self: Tensor,
    p: float = 0.5,
    training: bool = True,
    *,
    key: Any = None,
    generator: Any = None,
) -> Tensor:
    """Apply dropout that keeps mean 0 and deviation 1; see `ogive.random.alpha_dropout`.

    >>> ogive.ones(3).alpha_dropout(1).tolist()
    [0.0, 0.0, 0.0]
    """
    dropped: Tensor = _random().alpha_dropout(self, p, training, key=key, generator=generator)
    return dropped


def feature_alpha_dropout(
    self: Tensor,
    p: float = 0.5,
    training: bool = False,
    *,
    key: Any = None,
    generator: Any = None,
) -> Tensor:
    """Apply `alpha_dropout` to whole channels, in training only. Shapes: (N, C, ...), unchanged.

    >>> ogive.ones(2, 3, 4).feature_alpha_dropout(0.5, True).shape
    (2, 3, 4)
    """
    drop = _random().feature_alpha_dropout
    dropped: Tensor = drop(self, p, training, key=key, generator=generator)
    return dropped


def dropout1d(
    self: Tensor,
    p: float = 0.5,
    training: bool = True,
    *,
    key: Any = None,
    generator: Any = None,
) -> Tensor:
    """Apply dropout to whole channels. Shapes: (N, C, L) or (C, L), unchanged.

    >>> ogive.ones(2, 3, 4).dropout1d(0.5).shape
    (2, 3, 4)
    """
    return _by_channel(self, "dropout1d", (2, 3), p, training, key, generator)


def dropout2d(
    self: Tensor,
    p: float = 0.5,
    training: bool = True,
    *,
    key: Any = None,
    generator: Any = None,
) -> Tensor:
    """Apply dropout to whole channels. Shapes: (N, C, H, W), (N, C, L) or (N, C), unchanged.

    >>> ogive.ones(2, 3, 4, 4).dropout2d(0.5).shape
    (2, 3, 4, 4)
    """
    return _by_channel(self, "dropout2d", (2, 3, 4), p, training, key, generator)


def dropout3d(
    self: Tensor,
    p: float = 0.5,
    training: bool = True,
    *,
    key: Any = None,
    generator: Any = None,
) -> Tensor:
    """Apply dropout to whole channels. Shapes: (N, C, D, H, W) or (C, D, H, W), unchanged.

    >>> ogive.ones(2, 3, 2, 2, 2).dropout3d(0.5).shape
    (2, 3, 2, 2, 2)
    """
    return _by_channel(self, "dropout3d", (4, 5), p, training, key, generator)


def _by_channel(
    x: Core, name: str, ranks: tuple[int, ...], p: float, training: bool, key: Any, generator: Any
) -> Tensor:
    if x.ndim not in ranks:
        counts = f"{', '.join(map(str, ranks[:-1]))} or {ranks[-1]}"
        raise ShapeError(f"{name} takes {counts} axes, not {show(x.shape)}")
    # The fewest axes mean no batch axis. But dropout2d reads them as (N, C, ...), as in PyTorch.
    is_unbatched = x.ndim == ranks[0] and name != "dropout2d"
    batch = cast("Tensor", x).unsqueeze(0) if is_unbatched else x
    dropped: Tensor = _random().feature_dropout(batch, p, training, key=key, generator=generator)
    return dropped.squeeze(0) if is_unbatched else dropped
