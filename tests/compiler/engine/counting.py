"""How the counters changed."""

from __future__ import annotations

from ogive import counters


class Count:
    """The counters' change over a `with` block; compares with a dict of all that is not 0."""

    def __enter__(self) -> Count:
        self._before = counters()
        return self

    def __exit__(self, *_: object) -> None:
        after = counters()
        self.changes = {
            name: after[name] - before
            for name, before in self._before.items()
            if not name.startswith("bytes")
        }

    def __getitem__(self, name: str) -> int:
        return self.changes[name]

    def __eq__(self, other: object) -> bool:
        return {name: value for name, value in self.changes.items() if value} == other

    def __repr__(self) -> str:
        return repr(self.changes)
