"""Tables of vectors."""

from __future__ import annotations

from typing import Any

from ogive import random
from ogive.nn.layers.bags import embedding_bag
from ogive.nn.module import Module
from ogive.nn.parameter import Parameter
from ogive.tensor.tensor import Tensor


class Embedding(Module):
    """Row x of a table, for each entry x.

    Shapes: (...) of integers → (..., embedding_dim). The row `padding_idx` starts as zeros and
    gets no gradient. Raises `IndexRangeError` when a row is read that is not there.

    >>> nn.Embedding(10, 3)(Tensor([[1, 2], [4, 9]])).shape
    (2, 2, 3)
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        *,
        device: str | None = None,
        dtype: Any = None,
    ) -> None:
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = padding_idx
        table = random.randn(num_embeddings, embedding_dim, dtype=dtype, device=device)
        if padding_idx is not None:
            table[padding_idx] = 0.0
        self.weight = Parameter(table)

    def forward(self, x: Tensor) -> Tensor:
        return x.embedding(self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"

    @classmethod
    def from_pretrained(
        cls, embeddings: Any, freeze: bool = True, padding_idx: int | None = None
    ) -> Embedding:
        """A layer on a table that is there already; a frozen one is not trained."""
        made: Embedding = cls.__new__(cls)
        made.weight = Parameter(embeddings, requires_grad=not freeze)
        made.num_embeddings, made.embedding_dim = [int(size) for size in made.weight.shape]
        made.padding_idx = padding_idx
        return made


class EmbeddingBag(Embedding):
    """The sum, mean or greatest of the rows that a bag holds.

    Shapes: (bags, n) of integers, or (count,) with `offsets` (bags,) → (bags, embedding_dim). Rows
    `padding_idx` count as absent.

    >>> nn.EmbeddingBag(10, 3, mode="sum")(Tensor([1, 2, 4]), Tensor([0, 2])).shape
    (2, 3)
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        mode: str = "mean",
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_embeddings, embedding_dim, padding_idx, device=device, dtype=dtype)
        self.mode = mode
        self.include_last_offset = include_last_offset

    def forward(
        self,
        x: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:
        return embedding_bag(
            x, self.weight, offsets, mode=self.mode, per_sample_weights=per_sample_weights,
            include_last_offset=self.include_last_offset, padding_idx=self.padding_idx,
        )  # fmt: skip

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, mode={self.mode!r}"

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Any,
        freeze: bool = True,
        padding_idx: int | None = None,
        mode: str = "mean",
        include_last_offset: bool = False,
    ) -> EmbeddingBag:
        """A layer on a table that is there already; a frozen one is not trained."""
        made = super().from_pretrained(embeddings, freeze, padding_idx)
        assert isinstance(made, EmbeddingBag), "made by this class"
        made.mode = mode
        made.include_last_offset = include_last_offset
        return made
