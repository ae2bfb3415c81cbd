"""Tables of vectors."""

from __future__ import annotations

from typing import Any

from ogive import random
from ogive.autograd.mode import no_grad
from ogive.errors import ArgumentError
from ogive.nn.drawn_layer import DrawnLayer
from ogive.nn.init import normal_
from ogive.nn.layers.bags import embedding, embedding_bag
from ogive.nn.parameter import Parameter
from ogive.tensor.method_functions import created
from ogive.tensor.tensor import Tensor


class _Table(DrawnLayer):
    """A matrix of vectors, one of which may be padding."""

    max_norm: float | None
    norm_type: float
    scale_grad_by_freq: bool

    def _draw_table(
        self, rows: int, columns: int, padding_idx: int | None, dtype: Any, device: str | None
    ) -> None:
        """Fill the table with normal draws, and the row `padding_idx` with zeros."""
        table = created(random.randn, rows, columns, dtype=dtype, device=device)
        if padding_idx is not None:
            table[padding_idx] = 0.0
        self._set_table(table, True, padding_idx)

    def _set_values(self) -> None:
        normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx] = 0.0

    def _set_table(self, table: Any, is_trained: bool, padding_idx: int | None) -> None:
        self.weight = Parameter(table, requires_grad=is_trained)
        self.num_embeddings, self.embedding_dim = [int(size) for size in self.weight.shape]
        self.padding_idx = padding_idx

    def _set_norms(
        self, max_norm: float | None, norm_type: float, scale_grad_by_freq: bool
    ) -> None:
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq = scale_grad_by_freq

    def _size(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}"

    def _norm_settings(self) -> list[str]:
        norm = [] if self.max_norm is None else [f"max_norm={self.max_norm}"]
        if self.norm_type != 2:
            norm.append(f"norm_type={self.norm_type}")
        return [*norm, *(["scale_grad_by_freq=True"] if self.scale_grad_by_freq else [])]

    def _padding_setting(self) -> list[str]:
        return [] if self.padding_idx is None else [f"padding_idx={self.padding_idx}"]


class Embedding(_Table):
    """The row x of a table for each entry x.

    Shapes: (...) of integers → (..., embedding_dim). The row `padding_idx` starts as zeros and
    gets no gradient. Rows that are read and have a norm of order `norm_type` above `max_norm` are
    scaled down to it, in place. With `scale_grad_by_freq`, gradients are divided by how often their
    row is read. Gradients are dense, even with `sparse`.
    Raises `IndexRangeError` when a row is read that is not there.

    >>> nn.Embedding(10, 3)(Tensor([[1, 2], [4, 9]])).shape
    (2, 2, 3)
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        *,
        device: str | None = None,
        dtype: Any = None,
    ) -> None:
        self._draw_table(num_embeddings, embedding_dim, padding_idx, dtype, device)
        self._set_norms(max_norm, norm_type, scale_grad_by_freq)
        self.sparse = sparse
        self._finish()

    def forward(self, x: Tensor) -> Tensor:
        return embedding(
            x, self.weight, self.padding_idx, self.max_norm, self.norm_type,
            self.scale_grad_by_freq,
        )  # fmt: skip

    def extra_repr(self) -> str:
        return ", ".join([self._size(), *self._padding_setting(), *self._norm_settings()])

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Any,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """A layer on an existing table, which is not trained if `freeze` is set."""
        layer: Embedding = cls.__new__(cls)
        layer._set_table(embeddings, not freeze, padding_idx)
        layer._set_norms(max_norm, norm_type, scale_grad_by_freq)
        layer.sparse = sparse
        return layer


class EmbeddingBag(_Table):
    """The sum, mean or maximum of the rows of each bag.

    Shapes: (bags, n) of integers, or (count,) with `offsets` (bags,) → (bags, embedding_dim). The
    row `padding_idx` is skipped. `max_norm`, `norm_type`, `scale_grad_by_freq` and `sparse` are
    those of `Embedding`. Raises `ArgumentError` for `scale_grad_by_freq` with the mode "max".

    >>> nn.EmbeddingBag(10, 3, mode="sum")(Tensor([1, 2, 4]), Tensor([0, 2])).shape
    (2, 3)
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        *,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: str | None = None,
        dtype: Any = None,
    ) -> None:
        _check_scaled(scale_grad_by_freq, mode)
        self._draw_table(num_embeddings, embedding_dim, padding_idx, dtype, device)
        self._set_norms(max_norm, norm_type, scale_grad_by_freq)
        self.mode = mode
        self.include_last_offset = include_last_offset
        self.sparse = sparse
        self._finish()

    def forward(
        self,
        x: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:
        return embedding_bag(
            x, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq,
            self.mode, per_sample_weights=per_sample_weights,
            include_last_offset=self.include_last_offset, padding_idx=self.padding_idx,
        )  # fmt: skip

    def extra_repr(self) -> str:
        return ", ".join(
            [self._size(), *self._norm_settings(), f"mode={self.mode!r}", *self._padding_setting()]
        )

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Any,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """A layer on an existing table, which is not trained if `freeze` is set."""
        _check_scaled(scale_grad_by_freq, mode)
        layer: EmbeddingBag = cls.__new__(cls)
        layer._set_table(embeddings, not freeze, padding_idx)
        layer._set_norms(max_norm, norm_type, scale_grad_by_freq)
        layer.sparse = sparse
        layer.mode = mode
        layer.include_last_offset = include_last_offset
        return layer


def _check_scaled(scale_grad_by_freq: bool, mode: str) -> None:
    if scale_grad_by_freq and mode == "max":
        raise ArgumentError("EmbeddingBag: scale_grad_by_freq needs mode 'sum' or 'mean'")
