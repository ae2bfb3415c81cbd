"""Describes in words what graph search found.

    A[256, 256] @ B @ v, once: 2 kernels, about 4557 µs → 2 kernels, about 24 µs, by
        (a · b) · c → a · (b · c), where that is less work
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ogive.compiler.targets.findings import Finding

_MOVEMENT = ("reshape", "permute", "expand", "shrink", "flip")

LinesOf = Callable[[Finding], Sequence[str]]
"""Gives the lines of the user's program for a finding."""


def explain_findings(findings: Sequence[Finding], exactness: str, lines_of: LinesOf) -> str:
    """A description of all findings: the values computed in another way, and those unchanged."""
    taken = [finding for finding in findings if finding.is_taken]
    left = [finding for finding in findings if not finding.is_taken and finding.rules]
    text = []
    if taken:
        text.append(f"graph search (exactness={exactness!r}) found faster ways:")
        for finding in taken:
            text.extend(_describe(finding, lines_of))
    else:
        text.append(f"graph search (exactness={exactness!r}) found nothing faster.")
    if left:
        text.append("looked at, and no faster by the cost model:")
        for finding in left:
            text.extend(_describe(finding, lines_of))
    if exactness == "exact":
        text.append('exactness="rounding" also allows what changes rounding.')
    return "\n".join(text)


def _describe(finding: Finding, lines_of: LinesOf) -> list[str]:
    times = "once" if finding.times == 1 else f"{finding.times} times alike"
    before = f"{_kernels(finding.kernels_before)}, about {_time(finding.time_before)}"
    after = f"{_kernels(finding.kernels_after)}, about {_time(finding.time_after)}"
    text = [f"  {times}: {before} → {after}, by"]
    named = [rule for rule in finding.rules if not rule.startswith(_MOVEMENT)]
    text.extend([f"    {rule}" for rule in named or finding.rules])
    before_bound, after_bound = finding.roundings
    if finding.is_taken and before_bound != after_bound:
        text.append(
            f"    a result is rounded at most {after_bound} times on its way, not {before_bound}"
        )
    text.extend([f"    at {line}" for line in lines_of(finding)])
    return text


def _kernels(count: int) -> str:
    return "1 kernel" if count == 1 else f"{count} kernels"


def _time(nanoseconds: float) -> str:
    return f"{nanoseconds / 1e3:.3g} µs" if nanoseconds < 1e6 else f"{nanoseconds / 1e6:.3g} ms"
