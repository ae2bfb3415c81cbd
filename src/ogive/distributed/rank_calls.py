"""Descriptions of a rank's next exchange, by which all see whether they do the same."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence

from ogive.errors import DistributedError, Origin, describe_origin, origin_line, user_origin
from ogive.ir.dtype import DType
from ogive.named import record

DIGEST_BYTES = 32
TEXT_BYTES = 1024
"""How long a call's description may be: messages about calls have one size."""


@record(frozen=True)
class Call:
    """`text` says what is done, with which shapes and dtypes; `origin` is the user's line.

    Calls are the same if they do the same at the same line; with `any_line`, at whatever line.
    """

    text: str
    origin: Origin | None
    any_line: bool = False

    @property
    def digest(self) -> bytes:
        """Equal for equal calls. Of a file's path the name counts: machines keep it elsewhere."""
        path, line = origin_line(self.origin) or ("", 0)
        place = "" if self.any_line else f"\n{os.path.basename(path)}:{line}"
        return hashlib.blake2b((self.text + place).encode(), digest_size=DIGEST_BYTES).digest()

    @property
    def description(self) -> str:
        """The call and its line, in at most `TEXT_BYTES`."""
        place = describe_origin(self.origin)
        where = f", at {place}"[: TEXT_BYTES // 4] if place else ""
        room = TEXT_BYTES // 4 * 3 - len(where)  # in characters, some of which take more bytes
        text = self.text if len(self.text) <= room else f"{self.text[: room - 1]}…"
        return f"{text}{where}".encode()[:TEXT_BYTES].decode(errors="ignore")


def call_of(
    name: str, shape: Sequence[int], dtype: DType, any_line: bool = False, /, **options: object
) -> Call:
    """The call of the function `name` with a tensor, at the user's line."""
    given = ", ".join([f"{option}={value!r}" for option, value in options.items()])
    return Call(f"{name}({given}) of {dtype.name} {tuple(shape)}", user_origin(2), any_line)


def divergence(descriptions: Mapping[int, str], origin: Origin | None) -> DistributedError:
    """The error of ranks that are about to do different things, each with its description."""
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
    """`rank 3`, or `ranks 0, 1`."""
    return f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))}"
