"""The results as `docs/conformance.md`."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import torch

from tests.conformance.absent import GROUPS, OTHERS, group_of
from tests.conformance.check import Result
from tests.conformance.database import DTYPES

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"

PASSES, DIFFERS, FAILS, ABSENT = "pass", "pass, with stated differences", "fail", "absent"

HEAD = """# Conformance

PyTorch has a database of its operators with sample inputs for each, which its own tests use. We run
the same samples: for each one, our result is compared with PyTorch's in shape, dtype and values.
The gradients of a weighted sum of the results are compared as well; no gradient counts as zeros.
The options `layout`, `memory_format` and `pin_memory` are left out, because our tensors show no
strides.

    python -m tests.conformance            # all of it; names select single operators
    python -m tests.conformance --write    # also write this page

The test suite runs a few samples of each operator, so that what passes here keeps passing. An
operator passes if all its samples pass. PyTorch lists some operators several times, once for each
kind of sample.
"""


def status_of(result: Result | None) -> str:
    """Where an operator is counted."""
    if result is None:
        return ABSENT
    if result.unexplained:
        return FAILS
    return DIFFERS if result.reasons else PASSES


def family_of(label: str) -> str:
    """The part of the namespace that an operator is in."""
    head, _, _ = label.partition(" ")[0].rpartition(".")
    return head or "tensors"


def page(results: dict[str, Result | None], limit: int) -> str:
    """The whole document, about at most `limit` samples per operator and dtype."""
    parts = [HEAD, *_counts(results, limit), *_differences(results), *_failures(results)]
    return "\n".join([*parts, *_absent(results)])


def summary(results: dict[str, Result | None]) -> str:
    """The counts in a line."""
    counts = Counter(status_of(result) for result in results.values())
    return ", ".join(f"{counts[status]} {status}" for status in (PASSES, DIFFERS, FAILS, ABSENT))


def _counts(results: dict[str, Result | None], limit: int) -> list[str]:
    run = [result for result in results.values() if result is not None]
    forward = sum(result.forward for result in run)
    gradients = sum(result.gradients for result in run)
    families: dict[str, Counter[str]] = defaultdict(Counter)
    for label, result in results.items():
        families[family_of(label)][status_of(result)] += 1
    everything: Counter[str] = sum(families.values(), Counter())
    columns = (PASSES, DIFFERS, FAILS, ABSENT)
    rows = [("all", everything), *sorted(families.items(), key=lambda item: -item[1].total())]
    return [
        "## Counts",
        "",
        f"PyTorch {torch.__version__.partition('+')[0]}, {len(results)} operators, at most {limit} "
        "samples for each operator and dtype:",
        f"{forward:,} samples in {', '.join(DTYPES)}, and the gradients of {gradients:,} samples",
        "in float64.",
        "",
        f"| operators | {' | '.join(columns)} | in all |",
        f"|---|{'---:|' * (len(columns) + 1)}",
        *[
            f"| {name} | {' | '.join(str(counts[column]) for column in columns)} "
            f"| {counts.total()} |"
            for name, counts in rows
        ],
        "",
    ]


def _differences(results: dict[str, Result | None]) -> list[str]:
    reasons: dict[str, list[str]] = defaultdict(list)
    for label, result in results.items():
        for reason in result.reasons if result is not None else ():
            reasons[reason].append(label)
    lines = ["## Stated differences", ""]
    for reason in sorted(reasons):
        lines += [f"- {reason} {_names(reasons[reason])}"]
    return [*lines, ""]


def _failures(results: dict[str, Result | None]) -> list[str]:
    failed = [result for result in results.values() if result is not None and result.unexplained]
    if not failed:
        return []
    return ["## Failures", "", *[f"- `{result.unexplained[0]}`" for result in failed], ""]


def _absent(results: dict[str, Result | None]) -> list[str]:
    groups: dict[str, list[str]] = defaultdict(list)
    for label in absent_names(results):
        groups[group_of(label)].append(label)
    lines = ["## Absent", ""]
    for title in [*[title for title, _ in GROUPS], OTHERS]:
        if title in groups:
            lines += [f"- {title}: {_names(groups[title])}"]
    return [*lines, ""]


def absent_names(results: dict[str, Result | None]) -> list[str]:
    """The operators that we do not have, once each."""
    return sorted({label.partition(" ")[0] for label, found in results.items() if found is None})


def _names(labels: list[str]) -> str:
    return ", ".join(f"`{label}`" for label in sorted(labels))
