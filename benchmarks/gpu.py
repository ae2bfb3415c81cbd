"""`python -m benchmarks gpu`: rates on an NVIDIA GPU, beside PyTorch in one process.

All share the GPU's memory, so each has the same inputs, and a result is compared with PyTorch's.
Ogive executes a plan over and over; PyTorch's calls are replayed in a CUDA graph, which is the
fastest it has. A time is the best of some rounds between two events of the GPU.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

ROUNDS = 5
SECONDS = 0.03
"""How long a round runs, about."""
GRAPH_CALLS = 10
LIBRARIES = ("ogive", "torch", "torch.compile")
TOLERANCES = {"torch.bfloat16": 1e-2, "torch.float16": 2e-3, "torch.float32": 1e-4}
"""By how much results may differ, of their norm."""


@dataclass
class GpuRow:
    """One computation: by Ogive and by PyTorch, of the same tensors."""

    name: str
    work: float
    unit: str
    inputs: tuple[Any, ...]
    ogive: Callable[..., Any]
    torch: Callable[..., Any]


def measure_gpu(tell: Callable[[str], None], patterns: Sequence[str] = ()) -> dict[str, Any]:
    """Seconds by row and library, and what GPU it was. Raises `RuntimeError` without one."""
    import torch

    if not torch.cuda.is_available():
        raise RuntimeError("there is no GPU that PyTorch sees, and nothing to compare with")
    found: list[dict[str, Any]] = []
    for row in _rows():
        if patterns and not any(pattern in row.name for pattern in patterns):
            continue
        tell(row.name)
        entry = {"name": row.name, "work": row.work, "unit": row.unit, **_measure(row)}
        found.append(entry)
        torch.cuda.empty_cache()
    tell("a launch")
    return {"device": torch.cuda.get_device_name(), "rows": [*found, *_launches(patterns)]}


def _measure(row: GpuRow) -> dict[str, Any]:
    import torch

    import ogive

    expected = row.torch(*row.inputs)
    taken = [ogive.from_dlpack(each) for each in row.inputs]
    result = row.ogive(*taken)
    plan = result.prepare()
    plan.execute()
    torch.cuda.synchronize()
    given = torch.from_dlpack(result).double()
    error = float((given - expected.double()).norm() / expected.double().norm())
    compiled = torch.compile(row.torch)
    return {
        "error": error,
        "wrong": not error <= TOLERANCES[str(expected.dtype)],
        "ogive": _seconds(plan.execute),
        "torch": _seconds(_replayed(lambda: row.torch(*row.inputs)), GRAPH_CALLS),
        "torch.compile": _seconds(_replayed(lambda: compiled(*row.inputs)), GRAPH_CALLS),
    }


def _replayed(function: Callable[[], Any]) -> Callable[[], Any]:
    """Some calls as one CUDA graph."""
    import torch

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            function()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        for _ in range(GRAPH_CALLS):
            function()
    replay: Callable[[], Any] = graph.replay
    return replay


def _seconds(function: Callable[[], Any], calls: int = 1) -> float:
    """The time of a call, of so many that `function` makes."""
    import torch

    begin, end = [torch.cuda.Event(enable_timing=True) for _ in range(2)]

    def run(count: int) -> float:
        torch.cuda.synchronize()
        begin.record()
        for _ in range(count):
            function()
        end.record()
        torch.cuda.synchronize()
        return float(begin.elapsed_time(end)) * 1e-3 / count

    run(2)
    count = max(3, min(400, int(SECONDS / run(3))))
    return min([run(count) for _ in range(ROUNDS)]) / calls


def _launches(patterns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """What a call from Python takes until it returns, and a kernel of many in one call."""
    import torch

    import ogive

    x = torch.ones(64, device="cuda")
    chain = taken = ogive.from_dlpack(x)
    for _ in range(100):
        chain = (chain.flip(0) + 1).contiguous()
    one, many = (taken + 1).prepare(), chain.prepare()
    replay = _replayed(lambda: x + 1)
    count = len(many.kernels)
    cases = [
        ("one tiny kernel, from Python", _host_seconds(one.execute), _host_seconds(lambda: x + 1)),
        ("a tiny kernel of many", _seconds(many.execute, count), _seconds(replay, GRAPH_CALLS)),
    ]
    for name, own, theirs in cases:
        if not patterns or any(pattern in name for pattern in patterns):
            yield {"name": name, "work": 0.0, "unit": "µs", "ogive": own, "torch": theirs,
                   "torch.compile": None, "error": 0.0, "wrong": False}  # fmt: skip


def _host_seconds(function: Callable[[], Any], count: int = 2000) -> float:
    import torch

    times = []
    for _ in range(ROUNDS):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(count):
            function()
        times.append((time.perf_counter() - begin) / count)
    return min(times)


def _rows() -> Iterator[GpuRow]:
    yield from _products()
    yield from _passes_over_memory()
    yield from _layers()


def _products() -> Iterator[GpuRow]:
    import torch

    def draw(*shape: int, dtype: Any = torch.bfloat16) -> Any:
        return torch.randn(*shape, device="cuda", dtype=dtype)

    def product(name: str, m: int, n: int, k: int, dtype: Any, by_rows: bool) -> GpuRow:
        second = draw(k, n, dtype=dtype) if by_rows else draw(n, k, dtype=dtype)

        def multiply(a: Any, b: Any) -> Any:
            return a @ (b if by_rows else b.T)

        return GpuRow(name, 2.0 * m * n * k, "TFLOP/s", (draw(m, k, dtype=dtype), second),
                      multiply, multiply)  # fmt: skip

    for size in (1024, 1536, 2048, 4096, 5120, 8192):
        for by_rows in (True, False):
            layout = "by rows" if by_rows else "by columns"
            name = f"bf16 product {size}, right operand {layout}"
            yield product(name, size, size, size, torch.bfloat16, by_rows)
    yield product("bf16 product 16×4096×4096", 16, 4096, 4096, torch.bfloat16, False)
    yield product("bf16 product 1024×1024×8192", 1024, 1024, 8192, torch.bfloat16, False)
    yield product("bf16 product 4001×3001×2000", 4001, 3001, 2000, torch.bfloat16, False)
    yield product("f16 product 4096", 4096, 4096, 4096, torch.float16, False)
    yield product("f32 product 4096", 4096, 4096, 4096, torch.float32, True)
    yield GpuRow(
        "bf16 product 4096 with bias and gelu", 2.0 * 4096**3, "TFLOP/s",
        (draw(4096, 4096), draw(4096, 4096), draw(4096)),
        lambda a, b, c: (a @ b + c).gelu(),
        lambda a, b, c: torch.nn.functional.gelu(a @ b + c),
    )  # fmt: skip
    yield GpuRow(
        "bf16 matrix-vector 8192", 2.0 * 8192**2, "TB/s", (draw(8192, 8192), draw(8192)),
        lambda a, b: a @ b, lambda a, b: a @ b,
    )  # fmt: skip


def _passes_over_memory() -> Iterator[GpuRow]:
    import torch

    long = [torch.randn(1 << 27, device="cuda") for _ in range(2)]
    functional = torch.nn.functional
    yield GpuRow(
        "chain, 128M", 12.0 * 2**27, "TB/s", tuple(long),
        lambda a, b: (a * b + 1).gelu() * 0.5 + (-a * a).exp(),
        lambda a, b: functional.gelu(a * b + 1) * 0.5 + torch.exp(-a * a),
    )  # fmt: skip
    yield GpuRow("sum, 128M", 4.0 * 2**27, "TB/s", (long[0],), lambda a: a.sum(), lambda a: a.sum())
    rows, weight = torch.randn(16384, 4096, device="cuda"), torch.randn(4096, device="cuda")
    twice = 8.0 * 16384 * 4096
    for name, work, own, theirs in (
        ("softmax", twice, lambda a, w: a.softmax(-1), lambda a, w: a.softmax(-1)),
        ("layer norm", twice, lambda a, w: a.layer_norm((4096,), w, w),
         lambda a, w: functional.layer_norm(a, (4096,), w, w)),
        ("column sum", twice / 2, lambda a, w: a.sum(0), lambda a, w: a.sum(0)),
        ("row sum", twice / 2, lambda a, w: a.sum(1), lambda a, w: a.sum(1)),
        ("transpose", twice, lambda a, w: a.T.contiguous(), lambda a, w: a.T.contiguous()),
        ("cumsum of rows", twice, lambda a, w: a.cumsum(1), lambda a, w: a.cumsum(1)),
    ):  # fmt: skip
        yield GpuRow(f"{name}, 16384×4096", work, "TB/s", (rows, weight), own, theirs)


def _layers() -> Iterator[GpuRow]:
    import torch

    from ogive.nn import functional as ours

    theirs = torch.nn.functional
    for length, causal in ((1024, True), (4096, True), (4096, False)):
        work = 4.0 * 4 * 16 * length**2 * 128 / (2 if causal else 1)
        given = tuple([
            torch.randn(4, 16, length, 128, device="cuda", dtype=torch.bfloat16) for _ in range(3)
        ])  # fmt: skip
        kind = "causal attention" if causal else "attention"
        yield GpuRow(
            f"{kind} 4×16×{length}×128, bf16", work, "TFLOP/s", given,
            lambda q, k, v, c=causal: ours.scaled_dot_product_attention(q, k, v, is_causal=c),
            lambda q, k, v, c=causal: theirs.scaled_dot_product_attention(q, k, v, is_causal=c),
        )  # fmt: skip
    images = torch.randn(64, 64, 56, 56, device="cuda", dtype=torch.bfloat16)
    filters = torch.randn(64, 64, 3, 3, device="cuda", dtype=torch.bfloat16)
    yield GpuRow(
        "convolution 3×3 of 64 channels, 56², batch 64, bf16", 2.0 * 64 * 64 * 64 * 9 * 56 * 56,
        "TFLOP/s", (images, filters),
        lambda x, w: ours.conv2d(x, w, padding=1), lambda x, w: theirs.conv2d(x, w, padding=1),
    )  # fmt: skip


def gpu_lines(measured: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """A header and lines: rates of each library, and the best peer's time over Ogive's."""
    lines = []
    for row in measured["rows"]:
        rates = [_rate(row, library) for library in LIBRARIES]
        peers = [row[name] for name in LIBRARIES[1:] if row[name] is not None]
        ratio = "wrong" if row["wrong"] else f"{min(peers) / row['ogive']:.2f}"
        lines.append([row["name"], row["unit"], *rates, ratio])
    return [measured["device"], "", *LIBRARIES, "peer ÷ ogive"], lines


def _rate(row: dict[str, Any], library: str) -> str:
    seconds = row[library]
    if seconds is None:
        return "–"
    value = seconds * 1e6 if row["unit"] == "µs" else row["work"] / seconds * 1e-12
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
