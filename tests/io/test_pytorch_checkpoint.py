"""PyTorch's checkpoints: everything that is data comes in, and nothing runs."""

from __future__ import annotations

import os
import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

import ogive
from ogive import Tensor
from ogive.compiler.ir import dtype as dtypes
from ogive.errors import AllocateError, FileError, words_of
from ogive.io.pytorch_checkpoint import DTYPES
from tests.io import pickles
from tests.io.pickles import storage, text
from tests.raising import raises


def saved(path: Path, value: Any, **options: Any) -> Any:
    torch.save(value, path, **options)
    return ogive.io.load_torch(path)


def raw_bytes(tensor: torch.Tensor) -> bytes:
    return bytes(tensor.contiguous().view(torch.uint8).numpy().tobytes())


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_comes_in(name: str, tmp_path: Path) -> None:
    if not hasattr(torch, name):
        pytest.skip("PyTorch has it not")
    theirs = (torch.rand(3, 5) * 9).to(getattr(torch, name))
    ours = saved(tmp_path / "x.pt", theirs)
    assert ours.dtype is DTYPES[name] and ours.shape == (3, 5) and ours.device == "DISK"
    assert ours.numpy().tobytes() == raw_bytes(theirs)


VIEWS = {
    "rows": lambda x: x[2:5],
    "one row": lambda x: x[3],
    "columns": lambda x: x[:, 1:4],
    "transposed": lambda x: x.t(),
    "part, transposed": lambda x: x[1:4, 2:].t(),
    "steps": lambda x: x[::2, ::3],
    "expanded": lambda x: x[:, :1].expand(6, 4),
    "expanded in front": lambda x: x[0].expand(3, 8),
    "three axes": lambda x: x.reshape(2, 3, 8).permute(2, 0, 1)[1::2],
    "windows": lambda x: x.reshape(-1).unfold(0, 5, 2),
    "diagonal": lambda x: x.diagonal(),
    "scalar": lambda x: x[2, 3],
    "empty": lambda x: x[3:3],
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_views_show_their_part_of_the_storage(view: Any, tmp_path: Path) -> None:
    theirs = view(torch.randn(6, 8))
    ours = saved(tmp_path / "x.pt", theirs)
    assert ours.shape == tuple(theirs.shape)
    assert numpy.array_equal(ours.numpy(), theirs.numpy())


def test_views_of_one_storage_read_it_once(tmp_path: Path) -> None:
    base = torch.arange(12.0)
    ours = saved(tmp_path / "x.pt", {"all": base, "part": base[3:9], "again": base})
    assert ours["all"].node is ours["again"].node
    assert (ours["all"][3:9] + ours["part"]).tolist() == (base[3:9] * 2).tolist()


def test_a_state_dict_comes_in_as_it_is_nested(tmp_path: Path) -> None:
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    optimizer = torch.optim.Adam(module.parameters())
    module(torch.randn(5, 3)).sum().backward()
    optimizer.step()
    state = {"model": module.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}
    ours = saved(tmp_path / "x.pt", state)
    assert type(ours["model"]) is OrderedDict
    for name, theirs in module.state_dict().items():
        assert numpy.array_equal(ours["model"][name].numpy(), theirs.numpy())
    moments = optimizer.state_dict()["state"][0]["exp_avg"]
    assert numpy.array_equal(ours["optimizer"]["state"][0]["exp_avg"].numpy(), moments.numpy())
    assert ours["optimizer"]["param_groups"][0]["betas"] == (0.9, 0.999) and ours["epoch"] == 3


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_plain_data_is_what_it_was(protocol: int, tmp_path: Path) -> None:
    long = "x" * 300
    value = {
        "numbers": [0, -1, 255, 65_536, -(1 << 40), 1 << 100, 1.5, float("inf")],
        "words": ["", "ä", long, b"", b"\x00\xff", b"y" * 300],
        "others": (None, True, False, {1, 2}, frozenset({"a"}), (), (1,), (1, 2, 3, 4)),
        ("a", 1): OrderedDict([("z", 1), ("a", [])]),
        2: {},
    }
    assert saved(tmp_path / "x.pt", value, pickle_protocol=protocol) == value


def test_objects_of_torch_become_plain_ones(tmp_path: Path) -> None:
    value = [torch.float16, torch.float8_e4m3fn, torch.Size([2, 3]), torch.device("cpu")]
    expected = [dtypes.float16, dtypes.float8_e4m3, (2, 3), "cpu"]
    assert saved(tmp_path / "x.pt", value) == expected


def test_a_parameter_is_its_tensor(tmp_path: Path) -> None:
    ours = saved(tmp_path / "x.pt", torch.nn.Parameter(torch.ones(2)))
    assert isinstance(ours, Tensor) and ours.tolist() == [1.0, 1.0]


def test_the_same_object_twice_is_one_object(tmp_path: Path) -> None:
    shared = [torch.ones(2)]
    ours = saved(tmp_path / "x.pt", [shared, shared])
    assert ours[0] is ours[1]


def repacked(path: Path, change: Any) -> Path:
    """The checkpoint with other members: `change` takes and gives a dictionary."""
    with zipfile.ZipFile(path) as opened:
        members = {name: opened.read(name) for name in opened.namelist()}
    with zipfile.ZipFile(path, "w") as opened:
        for name, content in change(members).items():
            opened.writestr(name, content)
    return path


def test_the_other_byte_order_is_turned_around(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    theirs = torch.randn(4, 3, dtype=torch.float64)
    torch.save({"x": theirs, "t": theirs.t()}, path)

    def turn(members: dict[str, bytes]) -> dict[str, bytes]:
        array = numpy.frombuffer(members["x/data/0"], "<f8").astype(">f8")
        return members | {"x/data/0": array.tobytes(), "x/byteorder": b"big"}

    ours = ogive.io.load_torch(repacked(path, turn))
    assert numpy.array_equal(ours["x"].numpy(), theirs.numpy())
    assert numpy.array_equal(ours["t"].numpy(), theirs.t().numpy())


def test_a_stride_of_0_takes_no_memory(tmp_path: Path) -> None:
    shape, strides = pickles.tupled(pickles.integer(1 << 40), b"K\x02"), b"K\x00K\x01\x86"
    program = pickles.tensor(storage(), b"K\x00", shape, strides) + b"."
    content = numpy.array([1, 2], "<f4").tobytes()
    (tmp_path / "x.pt").write_bytes(pickles.checkpoint(program, {"0": content}))
    ours = ogive.load(tmp_path / "x.pt")
    assert ours.shape == (1 << 40, 2) and ours[1 << 39].tolist() == [1, 2]
    with raises(AllocateError, match="cannot allocate 8,796,093,022,208 bytes"):
        ours.numpy()


# What is refused


class Evil:
    def __reduce__(self) -> Any:
        return os.system, ("touch /tmp/ogive-was-here",)


class Custom:
    pass


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (Evil(), "posix.system"),
        (Custom(), "tests.io.test_pytorch_checkpoint.Custom"),
        (torch.nn.Linear(2, 2), "torch.nn.modules.linear.Linear"),
        (numpy.float64(1), "scalar"),
        (torch.eye(2).to_sparse(), "torch._utils._rebuild_sparse_tensor"),
    ],
)
def test_other_names_are_refused_and_never_called(value: Any, name: str, tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    torch.save(value, path)
    with raises(FileError, match=f"it needs '.*{name}.*nothing in a file is run"):
        ogive.io.load_torch(path)
    assert not os.path.exists("/tmp/ogive-was-here")


def test_the_old_format_is_refused_with_advice(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    torch.save(torch.ones(2), path, _use_new_zipfile_serialization=False)
    with raises(FileError, match=r"before PyTorch 1.6; .*torch.save\(torch.load"):
        ogive.load(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    path.write_bytes(pickle.dumps({"a": 1}))
    with raises(FileError, match="not a zip archive or cut off"):
        ogive.load(path)
    numpy.savez(tmp_path / "x.npz", a=numpy.ones(2))
    with raises(FileError, match=r"0 members \*/data.pkl"):
        ogive.io.load_torch(tmp_path / "x.npz")


def with_pickle(path: Path, program: bytes) -> Path:
    torch.save(torch.ones(2), path)
    return repacked(path, lambda members: members | {"x/data.pkl": program})


def tensor(place: bytes, offset: bytes, size: bytes, stride: bytes) -> bytes:
    return pickles.tensor(place, offset, size, stride) + b"."


TWO, ONE = b"K\x02\x85", b"K\x01\x85"
LONGEST = b"\x8a\x08" + b"\xff" * 7 + b"\x7f\x85"
NESTED = b"K\x00" + b"\x85" + b"q\x00h\x00\x86" * 200


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (b"", "it ends where 1 more bytes"),
        (b"\x80\x06.", "its protocol is 6"),
        (b".", "takes from an empty stack"),
        (b"\xf0.", "unknown operation 0xf0"),
        (b"K", "it ends where 1 more bytes"),
        (b"t.", "a mark that is not there"),
        (b"(K\x01(0.", "takes from an empty stack"),
        (b"h\x05.", "nothing was kept under 5"),
        (b"X\xff\xff\xff\x7f.", "2147483647 more bytes"),
        (b"\x8d" + b"\xff" * 8 + b".", "more bytes are needed"),
        (b"X\x01\x00\x00\x00\xff.", "can't decode byte 0xff"),
        (b"\x8b\x00\x00\x00\x7f.", "an integer of 2130706432 bytes"),
        (b"K\x01K\x02a.", "adds to a int"),
        (b"}K\x01K\x02a.", "adds to a int"),
        (b"}(K\x01u.", "a key without a value"),
        (b"}]K\x01s.", "a list as a key"),
        (b"}" + NESTED + b"K\x01s.", "a tuple as a key"),
        (b"\x8f(" + NESTED + b"\x90.", "a tuple as a key"),
        (b"K\x01)R.", "calls a int"),
        (b"ctorch\nfloat32\n)R.", "calls a DType"),
        (b"ccollections\nOrderedDict\nK\x01R.", "calls a Function"),
        (b"ccollections\nOrderedDict\n]K\x01a\x85R.", "not made of pairs"),
        (b"ccollections\nOrderedDict\n)RK\x01b.", "the state of a OrderedDict is a int"),
        (b"}}b.", "adds to a dict"),
        (b"cos\nsystem\n.", "it needs 'os.system'"),
        (b"cos", "ends inside a name"),
        (NESTED + b"K\x01\x93.", "a name that is not text"),
        (b"c_codecs\nencode\n" + text("a") + text("rot13") + b"\x86R.", "encoded as rot13"),
        (NESTED + b"Q.", "a persistent id"),
        (storage(key="9") + b".", "storage '9' are missing"),
        (storage(key="../0") + b".", "storage '../0' are missing"),
        (storage(count=b"K\x03") + b".", "storage '0' of 12 bytes has 8"),
        (storage(count=b"J\xff\xff\xff\xff") + b".", "of -4 bytes has 8"),
        (tensor(b"K\x00", b"K\x00", TWO, ONE), "without a typed storage"),
        (tensor(storage("UntypedStorage"), b"K\x00", TWO, ONE), "without a typed storage"),
        (tensor(storage(), b"K\x01", TWO, ONE), "elements 1 to 3 of a storage of 2"),
        (tensor(storage(), b"K\x00", TWO, TWO), "elements 0 to 3 of a storage of 2"),
        (tensor(storage(), b"J\xff\xff\xff\xff", TWO, ONE), "lengths \\(-1\\)"),
        (tensor(storage(), b"K\x00", TWO, b"J\xff\xff\xff\xff\x85"), "lengths \\(-1\\)"),
        (tensor(storage(), b"K\x00", TWO, b")"), "with strides"),
        (tensor(storage(), b"K\x00", b"G" + b"\0" * 8 + b"\x85", ONE), "a length is 0 to"),
        (tensor(storage(), b"K\x00", LONGEST, ONE), "elements 0 to"),
        (b"ctorch._utils\n_rebuild_tensor_v2\n)R.", "is given 0"),
        (b"ctorch\ndevice\n" + NESTED + b"\x85R.", "a device \\(..., ...\\)"),
        (b"}" + pickles.integer(1 << 64) + b"Ns.", "of more than 64 bits as a key"),
        (b"ctorch._utils\n_rebuild_parameter\nK\x01K\x01K\x01\x87R.", "a parameter made of a int"),
    ],
)
def test_a_malformed_pickle_is_refused(program: bytes, words: str, tmp_path: Path) -> None:
    path = with_pickle(tmp_path / "x.pt", program)
    with raises(FileError, match=words) as caught:
        ogive.io.load_torch(path)
    assert str(path) in words_of(caught.value) and "a PyTorch checkpoint" in words_of(caught.value)


def test_an_unknown_byte_order_is_refused(tmp_path: Path) -> None:
    torch.save(torch.ones(2), tmp_path / "x.pt")
    path = repacked(tmp_path / "x.pt", lambda members: members | {"x/byteorder": b"middle"})
    with raises(FileError, match="its byte order is b'middle'"):
        ogive.io.load_torch(path)
