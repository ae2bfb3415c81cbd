"""Descriptions of exchanges, which the ranks compare before each exchange."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence

from ogive.compiler.ir.dtype import DType
from ogive.errors import DistributedError, Origin, describe_origin, origin_line, user_origin
from ogive.named import record

DIGEST_BYTES = 32
TEXT_BYTES = 1024
"""The size of the messages with descriptions of calls."""


@record(frozen=True)
class Call:
    """A call of an exchange. `text` has its arguments, shapes and dtypes; `origin` the user's line.

    Calls are equal if their texts and lines are. With `any_line`, the lines may differ.
    """

    text: str
    origin: Origin | None
    any_line: bool = False

    @property
    def digest(self) -> bytes:
        """The digest of a call, equal for equal calls.

        Only the name of the user's file counts, since its folder may differ between machines.
        """
        path, line = origin_line(self.origin) or ("", 0)
        place = "" if self.any_line else f"\n{os.path.basename(path)}:{line}"
        return hashlib.blake2b((self.text + place).encode(), digest_size=DIGEST_BYTES).digest()

    @property
    def description(self) -> str:
        """The call and its line, in at most `TEXT_BYTES`."""
        place = describe_origin(self.origin)
        where = f", at {place}"[: TEXT_BYTES // 4] if place else ""
        room = TEXT_BYTES // 4 * 3 - len(where)  # in characters, some of which take several bytes
        text = self.text if len(self.text) <= room else f"{self.text[: room - 1]}…"
        return f"{text}{where}".encode()[:TEXT_BYTES].decode(errors="ignore")


def call_of(
    name: str, shape: Sequence[int], dtype: DType, any_line: bool = False, /, **options: object
) -> Call:
    """Return the call of the function `name` with a tensor, at the user's line."""
    given = ", ".join([f"{option}={value!r}" for option, value in options.items()])
    return Call(f"{name}({given}) of {dtype.name} {tuple(shape)}", user_origin(2), any_line)


def divergence(descriptions: Mapping[int, str], origin: Origin | None) -> DistributedError:
    """Return the error of ranks that make different calls, given the description of each call."""
    ranks: dict[str, list[int]] = {}
    for rank, text in descriptions.items():
        ranks.setdefault(text, []).append(rank)
    lines = [f"\n  {_name(same)}: {text}" for text, same in ranks.items()]
    return DistributedError(
        "the ranks do not do the same; each has to come to the same calls in the same order:"
        + "".join(lines),
        origin,
    )


def _name(ranks: Sequence[int]) -> str:
    """Return `rank 3`, or `ranks 0, 1`."""
    return f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))}"
