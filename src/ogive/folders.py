"""The folders of Ogive's own files and of LLVM, and checks whether they can be used."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

CACHE_VARIABLE = "OGIVE_CACHE_DIR"


def cache_folder(environment: Mapping[str, str] | None = None) -> Path:
    """The folder of the caches on disk, which need not exist.

    `OGIVE_CACHE_DIR` if it is set, else `ogive` in the user's own cache folder.

    >>> cache_folder({"OGIVE_CACHE_DIR": "/tmp/mine"}).as_posix()
    '/tmp/mine'
    """
    from pathlib import Path

    return Path(cache_place(environment))


def cache_place(environment: Mapping[str, str] | None = None) -> str:
    """The path of the cache folder as a string, which saves importing `pathlib`."""
    variables = os.environ if environment is None else environment
    chosen = variables.get(CACHE_VARIABLE)
    if chosen:
        return os.path.expanduser(chosen)
    return os.path.join(_user_cache(variables), "ogive")


def _user_cache(variables: Mapping[str, str]) -> str:
    home = os.path.expanduser("~")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Caches")
    # The XDG specification says that relative paths must be ignored.
    named = variables.get("XDG_CACHE_HOME", "")
    return named if os.path.isabs(named) else os.path.join(home, ".cache")


def folder_problem(folder: str | Path, user: int | None = None) -> str | None:
    """Why code from `folder` must not be run; None if it may, or if there is no folder yet.

    It must be a folder that belongs to `user` (the present one by default) and that no other user
    may enter (mode 0700).
    """
    user = os.geteuid() if user is None else user
    try:
        status = os.stat(folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"it cannot be looked at: {error.strerror}"
    if not stat.S_ISDIR(status.st_mode):
        return "it is not a folder; move it away"
    if status.st_uid != user:
        return f"it belongs to user {status.st_uid} and we are {user}; choose another"
    mode = stat.S_IMODE(status.st_mode)
    if mode != 0o700:
        return f"its mode is {mode:04o}, not 0700; chmod 700 {folder}"
    return None


def folder_bytes(folder: Path) -> int:
    """The bytes of all files below a folder."""
    total = 0
    for root, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.lstat(os.path.join(root, name)).st_size
            except OSError:
                continue  # deleted after it was listed
    return total


def llvm_folder() -> str | None:
    """The folder in which llvmlite is installed, found without importing it."""
    # It is nearly always on the path. The general search takes longer to load.
    spec = PathFinder.find_spec("llvmlite")
    if spec is None:
        import importlib.util

        try:
            spec = importlib.util.find_spec("llvmlite")
        except (ImportError, ValueError):
            return None
    return None if spec is None or spec.origin is None else os.path.dirname(spec.origin)
