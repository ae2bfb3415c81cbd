"""What the ranks of `python -m benchmarks ranks` run: `rank_programs.py PART`, by `ogive launch`.

Rank 0 prints what was measured as a line of JSON. All times are seconds, the best of some rounds in
which all ranks begin together.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

import ogive
from ogive import Tensor, distributed, nn, optim

SIZES = (1 << 10, 8 << 10, 64 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20)
"""Bytes of the messages that are added up, all in float32."""

ROUNDS = 5
ROUND_SECONDS = 0.05
MOST_CALLS = 500
WIDTH, HEADS, BLOCKS, WORDS, TEXTS, LENGTH = 512, 8, 4, 4096, 16, 256
"""The GPT, and the batch that all ranks share."""


def measure_all_reduce() -> dict[str, Any]:
    """Ours and `Allreduce` of `mpi4py` into an array that is used again, by bytes."""
    from mpi4py import MPI

    distributed.init()
    found = {}
    for nbytes in SIZES:
        given = np.ones(nbytes // 4, np.float32)
        total = np.empty_like(given)
        tensor = Tensor(given)

        def directly(given: Any = given, total: Any = total) -> None:
            MPI.COMM_WORLD.Allreduce(given, total)

        def ours(tensor: Any = tensor) -> None:
            distributed.all_reduce(tensor)

        found[str(nbytes)] = dict(
            zip(("direct", "ours"), take_turns([directly, ours], begin_together), strict=True)
        )
    return found


def begin_together() -> None:
    """Wait for all ranks."""
    from mpi4py import MPI

    MPI.COMM_WORLD.Barrier()


def take_turns(
    functions: Sequence[Callable[[], None]], begin: Callable[[], None], rounds: int = ROUNDS
) -> list[float]:
    """The best seconds a call of each, round after round; all ranks make as many calls."""
    from mpi4py import MPI

    best = [float("inf")] * len(functions)
    counts = []
    for function in functions:
        function()
        begin()
        start = perf_counter()
        function()
        seconds = MPI.COMM_WORLD.allreduce(perf_counter() - start, MPI.MAX)
        counts.append(max(1, min(MOST_CALLS, int(ROUND_SECONDS / seconds))))
    for _ in range(rounds):
        for number, function in enumerate(functions):
            begin()
            start = perf_counter()
            for _ in range(counts[number]):
                function()
            seconds = (perf_counter() - start) / counts[number]
            best[number] = min(best[number], seconds)
    return best


class Gpt(nn.Module):
    """Words of texts to scores of the words that follow."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        layer = nn.TransformerEncoderLayer(
            WIDTH, HEADS, 4 * WIDTH, dropout=0.0, batch_first=True, norm_first=True
        )
        self.blocks = nn.TransformerEncoder(layer, BLOCKS)
        self.scores = nn.Linear(WIDTH, WORDS)

    def forward(self, words: Tensor) -> Tensor:
        x = self.words(words) + self.places.weight
        mask = nn.Transformer.generate_square_subsequent_mask(LENGTH)
        made: Tensor = self.scores(self.blocks(x, mask=mask, is_causal=True))
        return made


def measure_step() -> dict[str, Any]:
    """A step of a GPT on this rank's part of a batch."""
    return measure_steps(["step"])


def measure_overlap() -> dict[str, Any]:
    """That step, the same without the exchange of gradients, and the exchange alone."""
    return measure_steps(["step", "computing", "exchange"])


def measure_steps(names: Sequence[str]) -> dict[str, Any]:
    """The seconds of each of these."""
    model = Gpt()
    distributed.broadcast_parameters(model)
    optimizer = optim.AdamW(model.parameters(), lr=1e-4)
    count = TEXTS // distributed.size()
    texts = np.random.default_rng(distributed.rank()).integers(0, WORDS, (count, LENGTH + 1))
    words, following = Tensor(texts[:, :-1]), Tensor(texts[:, 1:])

    def make_step(exchanges: bool) -> Callable[[], None]:
        @ogive.jit
        def step() -> Any:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(
                model(words).reshape(-1, WORDS), following.reshape(-1)
            )
            loss.backward()
            if exchanges:
                distributed.average_gradients(model)
            optimizer.step()
            return loss.detach()

        return lambda: step().item() and None

    def exchange_alone() -> None:
        distributed.average_gradients(gradients)
        Tensor.realize_batch([each.grad for each in gradients if each.grad is not None])

    gradients = [ogive.zeros(*each.shape, requires_grad=True) for each in model.parameters()]
    for each in gradients:
        each.grad = ogive.ones(*each.shape)
    functions = {
        "step": make_step(exchanges=True),
        "computing": make_step(exchanges=False),
        "exchange": exchange_alone,
    }
    times = take_turns([functions[name] for name in names], distributed.barrier, rounds=4)
    return dict(zip(names, times, strict=True))


def check_collectives() -> dict[str, Any]:
    """Which exchanges of tensors on a GPU, shared by all ranks, give what they should."""
    rank, size = distributed.rank(), distributed.size()
    every = [np.arange(24.0, dtype=np.float32).reshape(4, 6) * (each + 1) for each in range(size)]
    given = Tensor(every[rank], device="CUDA")
    total = np.sum(every, axis=0)
    parts = [np.split(each, size) for each in every]
    expected: dict[str, tuple[Any, Any]] = {
        "all_reduce": (distributed.all_reduce(given), total),
        "all_reduce max": (distributed.all_reduce(given, "max"), np.max(every, axis=0)),
        "all_reduce in bfloat16": (
            distributed.all_reduce(given, compress="bfloat16"), total,
        ),
        "all_gather": (distributed.all_gather(given), np.concatenate(every)),
        "reduce_scatter": (distributed.reduce_scatter(given), np.split(total, size)[rank]),
        "broadcast": (distributed.broadcast(given, root=1), every[1]),
        "all_to_all": (
            distributed.all_to_all(given), np.concatenate([each[rank] for each in parts]),
        ),
    }  # fmt: skip

    @ogive.jit
    def captured(x: Tensor) -> Tensor:
        return distributed.all_reduce(x * 2) + 1

    expected["all_reduce, captured"] = captured(given), 2 * total + 1
    if rank == 0:
        distributed.send(given, to=1)
    elif rank == 1:
        expected["send and recv"] = distributed.recv(source=0), every[0]
    right = {
        name: bool(np.allclose(found.numpy(), wanted, rtol=1e-2 if "bfloat16" in name else 0))
        for name, (found, wanted) in expected.items()
    }
    right["results stay on the GPU"] = all(
        found.device.startswith("CUDA")
        for name, (found, _) in expected.items() if name != "send and recv"
    )  # fmt: skip
    return right


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "all_reduce": measure_all_reduce,
    "step": measure_step,
    "overlap": measure_overlap,
    "gpu": check_collectives,
}


def main(part: str) -> None:
    """Measure a part on all ranks. Of a check all have to say that it is right."""
    found = PARTS[part]()
    if part == "gpu":
        from mpi4py import MPI

        every = MPI.COMM_WORLD.allgather(found)
        found = {name: all(each.get(name, True) for each in every) for name in every[-1]}
    if distributed.rank() == 0:
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
