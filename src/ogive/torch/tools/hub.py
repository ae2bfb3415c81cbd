"""`torch.hub`: download files, and keep them in a folder."""

from __future__ import annotations

import hashlib
import os
import re
import runpy
import sys
import tempfile
import urllib.request
from typing import Any
from urllib.parse import urlparse

from ogive.errors import FileError
from ogive.torch.tools.files import load as _load

__all__ = [
    "HASH_REGEX", "_get_torch_home", "download_url_to_file", "get_dir", "load",
    "load_state_dict_from_url", "load_url", "set_dir", "tqdm", "urlparse",  # noqa: F822  (tqdm is found when asked for)
]  # fmt: skip

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")


class _Folder:
    """The folder that the program has set, if any."""

    def __init__(self) -> None:
        self.path: str | None = None


_folder = _Folder()


def _get_torch_home() -> str:
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch")))


def get_dir() -> str:
    """The folder of downloaded files."""
    return _folder.path or os.path.join(_get_torch_home(), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Set the folder of downloaded files."""
    _folder.path = os.path.expanduser(os.fspath(d))


def download_url_to_file(
    url: str, dst: str, hash_prefix: str | None = None, progress: bool = True
) -> None:
    """Download a file. Its SHA-256 must begin with `hash_prefix`.

    Raises `FileError` if it does not.
    """
    digest = hashlib.sha256()
    folder = os.path.dirname(os.path.abspath(dst))
    with (
        urllib.request.urlopen(url) as source,
        tempfile.NamedTemporaryFile(dir=folder, delete=False) as file,
    ):
        try:
            while part := source.read(1 << 20):
                digest.update(part)
                file.write(part)
            in_hex = digest.hexdigest()
            if hash_prefix and not in_hex.startswith(hash_prefix):
                raise FileError(f"{url}: the hash begins with {in_hex[:8]}, not {hash_prefix}")
        except BaseException:
            os.remove(file.name)
            raise
    os.replace(file.name, dst)


def load(
    repo_or_dir: str | os.PathLike[str],
    model: str,
    *args: Any,
    source: str = "github",
    trust_repo: Any = None,
    force_reload: bool = False,
    verbose: bool = True,
    skip_validation: bool = False,
    **kwargs: Any,
) -> Any:
    """What the function `model` of the folder's `hubconf.py` gives for the other arguments.

    `source` is "local". Raises `FileError` for repositories of GitHub, which are not downloaded.
    """
    if source != "local":
        raise FileError(
            f"hub.load runs code that is here only; clone {os.fspath(repo_or_dir)!r} and give its "
            "folder, with source='local'"
        )
    folder = os.path.expanduser(os.fspath(repo_or_dir))
    sys.path.insert(0, folder)
    try:
        found = runpy.run_path(os.path.join(folder, "hubconf.py"))
    finally:
        sys.path.remove(folder)
    if not callable(found.get(model)):
        raise FileError(f"{folder}/hubconf.py has no function {model!r}")
    return found[model](*args, **kwargs)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> Any:
    """Load a file from the network. It is downloaded once."""
    folder = model_dir or os.path.join(get_dir(), "checkpoints")
    os.makedirs(folder, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        sys.stderr.write(f'Downloading: "{url}" to {path}\n')
        named = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, path, named.group(1) if named else None, progress)
    return _load(path, map_location=map_location)


load_url = load_state_dict_from_url


def __getattr__(name: str) -> Any:
    """Give `tqdm`, if it is installed: PyTorch's programs import it from here."""
    if name == "tqdm":
        from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore]

        return tqdm
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
