"""The open stores of this process: one per folder, closed at exit and before a fork."""

from __future__ import annotations

import os
import threading

from ogive.compiler.store.store import Store


class OpenStores:
    """Owns the stores of a process, and closes them while the process forks."""

    def __init__(self) -> None:
        self._stores: dict[str, Store] = {}
        self._lock = threading.Lock()
        self._held: list[Store] = []
        os.register_at_fork(
            before=self._hold, after_in_parent=self._let_go, after_in_child=self._renew
        )

    def store_in(self, folder: str) -> Store:
        """The store of a folder, of which there is only one."""
        store = self._stores.get(folder)
        if store is None:
            with self._lock:
                store = self._stores.setdefault(folder, Store(folder))
            if len(self._stores) == 1:
                import atexit

                atexit.register(self.close_all)
        return store

    def close_all(self) -> None:
        """Write all pending rows and close all files."""
        for store in list(self._stores.values()):
            store.close()

    def _hold(self) -> None:
        for store in list(self._stores.values()):
            store.hold()
            self._held.append(store)

    def _let_go(self) -> None:
        while self._held:
            self._held.pop().let_go()

    def _renew(self) -> None:
        self._held.clear()
        self._lock = threading.Lock()
        for store in self._stores.values():
            store.renew()


open_stores = OpenStores()
