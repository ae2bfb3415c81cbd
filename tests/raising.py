"""How tests match the words of an error."""

from __future__ import annotations

import re
from types import TracebackType
from typing import Generic, TypeVar

import pytest

from ogive.errors import words_of

Raised = TypeVar("Raised", bound=BaseException)


class Raises(Generic[Raised]):
    """The context that `raises` returns."""

    def __init__(
        self, expected: type[Raised] | tuple[type[Raised], ...], match: str, quoting: str
    ) -> None:
        self._raised = pytest.raises(expected)
        self._match = match
        self._quoting = quoting

    def __enter__(self) -> pytest.ExceptionInfo[Raised]:
        self._caught = self._raised.__enter__()
        return self._caught

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        if not self._raised.__exit__(kind, error, traceback):
            return False
        words, whole = words_of(self._caught.value), str(self._caught.value)
        assert re.search(self._match, words), f"no {self._match!r} in the message {words!r}"
        quoted = "\n".join(set(whole.split("\n")) - set(words.split("\n")))
        found = re.search(self._quoting, quoted)
        assert found, f"no {self._quoting!r} in the quoted line {quoted!r}"
        return True


def raises(
    expected: type[Raised] | tuple[type[Raised], ...], match: str, quoting: str = ""
) -> Raises[Raised]:
    """Like `pytest.raises`, but `match` has to be in the message itself, and `quoting` in the line
    of the user's program that it quotes.

    An error of Ogive quotes the line that raised it. In a test that line often holds the expected
    words too, so `pytest.raises` would find them whatever the message says.
    """
    return Raises(expected, match, quoting)
