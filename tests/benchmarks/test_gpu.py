"""The table of the GPU's benchmark."""

from __future__ import annotations

from typing import Any

from benchmarks.gpu import gpu_lines


def row(name: str, **more: Any) -> dict[str, Any]:
    return {
        "name": name, "work": 4e12, "unit": "TFLOP/s", "ogive": 0.01, "torch": 0.02,
        "torch.compile": 0.012, "error": 1e-3, "wrong": False, **more,
    }  # fmt: skip


def test_rates_stand_beside_each_other_and_the_best_peer_counts() -> None:
    launch = row("launch", unit="µs", ogive=5e-6, torch=1e-5, **{"torch.compile": None})
    rows = [row("product"), launch, row("sum", wrong=True)]
    header, lines = gpu_lines({"device": "H200", "rows": rows})
    assert header[0] == "H200"
    assert lines == [
        ["product", "TFLOP/s", "400", "200", "333", "1.20"],
        ["launch", "µs", "5", "10", "–", "2.00"],
        ["sum", "TFLOP/s", "400", "200", "333", "wrong"],
    ]
