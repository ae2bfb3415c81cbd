"""Sources of the compiler that stay as they are, whoever edits them."""

from __future__ import annotations

from ogive.compiler.store.compiler_version import Sources


class SameSources(Sources):
    """Sources with one signature all through; None for some that cannot be told."""

    def __init__(self, signature: bytes | None) -> None:
        super().__init__()
        self.told = signature

    def signature(self) -> bytes | None:
        return self.told

    def within(self, folders: tuple[str, ...]) -> Sources:
        return self
