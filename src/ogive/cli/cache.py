"""`ogive cache`: show the disk cache, print its folder, or clear it."""

from __future__ import annotations

import sys

from ogive.compiler.store.open_stores import open_stores
from ogive.compiler.store.rows import Kind
from ogive.compiler.store.store import StoreInfo
from ogive.config import current_config
from ogive.folders import cache_place
from ogive.journal import show_bytes

NOUNS = {
    Kind.GRAPH: "compiled graphs",
    Kind.KERNEL: "kernels",
    Kind.CODE: "pieces of code",
    Kind.NOTE: "measurements of this machine",
    Kind.TRACE: "captured functions",
}


def run(action: str = "info") -> int:
    """`info`, `clear` or `path`; 1 if the folder cannot be used."""
    if action == "path":
        print(cache_place())
        return 0
    store = open_stores.store_in(cache_place())
    info = store.info()
    if info.problem is not None:
        print(f"ogive: {store.folder} cannot be used: {info.problem}", file=sys.stderr)
        return 1
    if action == "clear":
        store.clear()
        left = store.info()
        print(f"Deleted {_count(info)} entries and freed {show_bytes(info.nbytes - left.nbytes)}.")
        return 0
    print(store.folder)
    limit = show_bytes(current_config().disk_cache_bytes)
    print(f"  {show_bytes(info.nbytes)} used of {limit}")
    for kind, noun in NOUNS.items():
        print(f"  {info.entries.get(kind, 0)} {noun}")
    if not current_config().disk_cache:
        print("  not in use: disk_cache is off")
    return 0


def _count(info: StoreInfo) -> int:
    return sum(info.entries.values())
