"""`load` and `save` find the format; files that are damaged anywhere never do harm."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import ogive
from ogive import Tensor
from ogive.errors import ArgumentError, FileError
from tests.io.fuzz_files import FORMATS, read_all
from tests.raising import raises


@pytest.mark.parametrize("suffix", FORMATS)
def test_the_format_shows_in_the_content_whatever_the_name(suffix: str, tmp_path: Path) -> None:
    FORMATS[suffix](tmp_path / f"x{suffix}")
    other = tmp_path / "model.bin"
    (tmp_path / f"x{suffix}").rename(other)
    read_all(ogive.load(other))


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_file_that_is_cut_off_anywhere_is_refused(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"x{suffix}"
    FORMATS[suffix](path)
    whole = path.read_bytes()
    end = len(whole) - 31 if suffix == ".gguf" else len(whole)  # which ends in padding
    for length in {*range(0, end, 7), end - 1}:
        path.write_bytes(whole[:length])
        with raises(FileError, match=r"is not .* that can be read"):
            ogive.load(path)


@pytest.mark.parametrize("raw", [b"", b"hello", b"\x00" * 100])
def test_an_unknown_file_is_refused_by_what_it_begins_with(raw: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(raw)
    with raises(FileError, match=r"begins with b'.*known are .safetensors"):
        ogive.load(tmp_path / "x.bin")


def test_the_name_says_what_was_expected(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"something else")
    with raises(FileError, match="is not a GGUF file that can be read: it begins with"):
        ogive.load(tmp_path / "x.gguf")


@pytest.mark.parametrize("name", ["x.gguf", "x"])
def test_what_cannot_be_written_is_refused(name: str, tmp_path: Path) -> None:
    with raises(ArgumentError, match=r"one of .safetensors, .npy, .npz"):
        ogive.save({"x": Tensor([1])}, tmp_path / name)


def test_import_ogive_does_not_load_the_formats() -> None:
    program = "import sys, ogive; print(any(name.startswith('ogive.io') for name in sys.modules))"
    done = subprocess.check_output([sys.executable, "-c", program], text=True)
    assert done.strip() == "False"


def test_threads_that_save_to_one_path_load_whole_files(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    errors: list[str] = []

    def work(number: int) -> None:
        try:
            for _ in range(10):
                ogive.save({"x": ogive.full((5000,), number)}, path)
                found = ogive.load(path)["x"].to("CPU").numpy()
                assert found.min() == found.max()
        except BaseException as error:
            errors.append(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors[0]
    assert [each.name for each in tmp_path.iterdir()] == ["x.safetensors"]


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.npy")
    with raises(FileError, match="it is not a regular file"):
        ogive.load(tmp_path / "x.npy")
