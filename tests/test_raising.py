"""Tests of errors match the words of the message, never the line that it quotes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import ogive
from tests.raising import raises

TESTS = Path(__file__).parent


def test_words_of_the_quoted_line_are_not_words_of_the_message() -> None:
    x = ogive.zeros(2)
    with raises(ogive.errors.ShapeError, match="do not broadcast", quoting="some words"):
        x + ogive.zeros(3)  # some words
    with (
        pytest.raises(AssertionError) as refused,
        raises(ogive.errors.ShapeError, match="some words"),
    ):
        x + ogive.zeros(3)  # some words
    assert str(refused.value).startswith("no 'some words' in the message")
    with (
        pytest.raises(AssertionError) as refused,
        raises(ogive.errors.ShapeError, match="do not", quoting="broadcast"),
    ):
        x + ogive.zeros(3)
    assert str(refused.value).startswith("no 'broadcast' in the quoted line")


def matched_whole(tree: ast.Module) -> Iterator[int]:
    """The lines that match a whole error: `pytest.raises(…, match=…)`, `… in str(error.value)`."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name("pytest"), attr="raises")):
                if any(keyword.arg == "match" for keyword in node.keywords):
                    yield node.lineno
            case ast.Compare(
                ops=[ast.In()],
                comparators=[ast.Call(func=ast.Name("str"), args=[ast.Attribute(attr="value")])],
            ):
                yield node.lineno


def test_no_test_matches_whole_errors() -> None:
    whole = [
        f"{path.relative_to(TESTS)}:{line}"
        for path in sorted(TESTS.rglob("*.py"))
        if "pytest.raises" in (text := path.read_text())
        for line in matched_whole(ast.parse(text))
    ]
    assert not whole, f"{whole}: use `raises` of tests/raising.py, which leaves the line out"
