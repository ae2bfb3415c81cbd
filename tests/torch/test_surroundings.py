"""What surrounds programs: processes, profiles, logs, whole files, trees."""

from __future__ import annotations

import argparse
import collections
import copy
import io
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch as pytorch

import ogive.torch as torch
from ogive.errors import DeviceError, FileError
from tests.raising import raises


def test_one_process_is_a_world_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = torch.distributed
    assert distributed.is_available()
    assert not distributed.is_initialized()
    with raises(ValueError, match="init_process_group"):
        distributed.get_rank()
    with raises(DeviceError, match="a world of 4 processes"):
        distributed.init_process_group("gloo", rank=0, world_size=4)
    distributed.init_process_group("gloo", rank=0, world_size=1)
    try:
        assert (distributed.get_rank(), distributed.get_world_size()) == (0, 1)
        x = torch.ones(2)
        distributed.all_reduce(x)
        gathered = [torch.zeros(2)]
        distributed.all_gather(gathered, x)
        assert gathered[0].tolist() == [1.0, 1.0]
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
        assert list(model.state_dict()) == ["module.weight", "module.bias"]
        with model.no_sync():
            model(x).sum().backward()
        sampler = torch.utils.data.distributed.DistributedSampler(range(5), shuffle=False)
        assert list(sampler) == [0, 1, 2, 3, 4]
    finally:
        distributed.destroy_process_group()


class Tied(torch.nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(2, 2)
        self.second = torch.nn.Linear(2, 2)
        self.second.weight = self.first.weight

    def forward(self, x: Any) -> Any:
        return self.second(self.first(x))


@pytest.mark.parametrize("by_path", [False, True])
def test_small_checkpoints_are_read_and_written_at_once(tmp_path: Path, by_path: bool) -> None:
    own = torch.arange(6).reshape(2, 3).float()
    saved = {
        "own": own, "part": own.T[1:], "half": own.half(), "mask": own > 2, "empty": own[:0],
        "scalar": torch.tensor(2.0, dtype=torch.float64), "step": 3,
    }  # fmt: skip
    file: Any = tmp_path / "saved.pt" if by_path else io.BytesIO()
    torch.save(saved, file)
    read = []
    for library in (torch, pytorch):
        if not by_path:
            file.seek(0)
        read.append(library.load(file))
    for name, expected in read[1].items():
        if name == "step":
            assert read[0][name] == expected
            continue
        assert read[0][name].is_eager, name
        assert str(read[0][name].dtype) == str(expected.dtype)
        numpy.testing.assert_array_equal(read[0][name].numpy(), expected.numpy(), strict=True)
    read[0]["own"][0, 0] = 9.0
    assert own[0, 0] == 0


def test_views_of_one_storage_that_pytorch_saved_share_memory_again() -> None:
    whole = pytorch.arange(8.0)
    file = io.BytesIO()
    pytorch.save([whole, whole[2:6].reshape(2, 2).T], file)
    file.seek(0)
    first, part = torch.load(file)
    assert part.tolist() == [[2.0, 4.0], [3.0, 5.0]]
    first[2] = 7.0
    assert part[0, 0] == 7.0


def test_a_whole_model_is_saved_and_loaded_by_who_trusts_it(tmp_path: Path) -> None:
    model, x = Tied(), torch.ones(1, 2)
    torch.save(model, tmp_path / "model.pth")
    with raises(FileError, match="weights_only=False"):
        torch.load(tmp_path / "model.pth")
    found = torch.load(tmp_path / "model.pth", weights_only=False)
    assert found.first.weight is found.second.weight
    assert found(x).tolist() == model(x).tolist()


def test_objects_beside_weights_are_read_from_pytorchs_files(tmp_path: Path) -> None:
    kept = {"args": argparse.Namespace(lr=0.1), "w": pytorch.ones(2), "size": pytorch.Size([2])}
    pytorch.save(kept, tmp_path / "state.pt")
    found = torch.load(tmp_path / "state.pt", weights_only=False)
    assert (found["args"].lr, found["w"].tolist(), found["size"]) == (0.1, [1.0, 1.0], (2,))
    with torch.serialization.safe_globals([argparse.Namespace]):
        assert torch.load(tmp_path / "state.pt")["args"].lr == 0.1
    with raises(FileError, match="argparse"):
        torch.load(tmp_path / "state.pt")


def test_copies_that_are_made_together_share_as_they_did() -> None:
    for library in (pytorch, torch):
        x = library.arange(6)
        whole, part = copy.deepcopy([x, x[2:]])
        part[0] = 99
        assert whole.tolist() == [0, 1, 99, 3, 4, 5]
        assert x.tolist() == [0, 1, 2, 3, 4, 5]


def test_named_parts_are_timed() -> None:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as seen:
        for _ in range(2):
            with torch.profiler.record_function("forward"):
                torch.ones(2).sum().item()
            seen.step()
    (forward,) = [row for row in seen.key_averages() if row.key == "forward"]
    assert forward.count == 2
    assert "forward" in seen.key_averages().table()


def test_schedules_of_profiles_are_pytorchs() -> None:
    given = {"wait": 2, "warmup": 1, "active": 2, "repeat": 2, "skip_first": 1}
    wanted, found = (library.profiler.schedule(**given) for library in (pytorch, torch))
    assert [found(step).name for step in range(14)] == [wanted(step).name for step in range(14)]


def test_logs_of_training_are_records_with_checksums(tmp_path: Path) -> None:
    with torch.utils.tensorboard.SummaryWriter(str(tmp_path)) as writer:
        writer.add_scalar("loss", torch.tensor(0.5), 3)
        writer.add_text("note", "hello")
        writer.add_histogram("weights", torch.arange(10.0), 1)
    (file,) = tmp_path.iterdir()
    data = file.read_bytes()
    assert b"brain.Event:2" in data
    assert b"loss" in data
    at, records = 0, 0
    while at < len(data):
        at += 16 + int.from_bytes(data[at : at + 8], "little")
        records += 1
    assert (at, records) == (len(data), 4)


def test_trees_are_taken_apart_as_in_pytorch() -> None:
    from torch.utils import _pytree as theirs

    tree = {"a": [1, (2, 3)], "b": {"c": 4}}
    ours = torch.utils._pytree
    assert ours.tree_leaves(tree) == theirs.tree_leaves(tree) == [1, 2, 3, 4]
    leaves, shape = ours.tree_flatten(tree)
    assert ours.tree_unflatten(leaves, shape) == tree
    assert ours.tree_map(lambda x: x + 1, tree) == theirs.tree_map(lambda x: x + 1, tree)


def test_functions_over_lists_are_pytorchs() -> None:
    def run(library: Any) -> list[Any]:
        values = [library.tensor([1.0, -2.0]), library.tensor([3.0])]
        library._foreach_mul_(values, 2.0)
        library._foreach_add_(values, [library.tensor([1.0, 1.0]), library.tensor([1.0])], alpha=3)
        library._foreach_addcdiv_(values, values, values, value=2)
        library._foreach_maximum_(values, 0.0)
        made = library._foreach_sqrt(values)
        return [each.tolist() for each in (*values, *made)]

    assert run(torch) == run(pytorch)


def test_a_whole_module_is_read_where_its_classes_are_said_to_be_safe(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    torch.save(Tied(), path)
    with pytest.raises(FileError):
        torch.load(path)
    with torch.serialization.safe_globals([Tied, torch.nn.Linear]):
        assert list(torch.load(path).state_dict()) == list(Tied().state_dict())


def test_a_log_takes_a_number_in_an_array(tmp_path: Path) -> None:
    with torch.utils.tensorboard.SummaryWriter(str(tmp_path)) as writer:
        writer.add_scalar("return", numpy.array([0.5]), 1)
    with raises(ValueError, match="size 1"), torch.utils.tensorboard.SummaryWriter(
        str(tmp_path)
    ) as writer:
        writer.add_scalar("returns", numpy.array([0.5, 1.0]), 1)


def test_hooks_of_a_programs_own_are_taken_out() -> None:
    hooks: Any = collections.OrderedDict()
    kinds: Any = collections.OrderedDict()
    with torch.utils.hooks.RemovableHandle(hooks, extra_dict=kinds) as handle:
        other = torch.utils.hooks.RemovableHandle(hooks)
        hooks[handle.id], hooks[other.id], kinds[handle.id] = "first", "second", True
    assert list(hooks.values()) == ["second"]
    assert not kinds
    other.remove()
    assert not hooks


def test_libraries_find_what_they_import() -> None:
    assert torch.torch is torch
    data = torch.utils.data
    assert data.distributed.DistributedSampler is data.DistributedSampler
    assert torch.__config__.show().startswith("Ogive")
    assert str(torch.get_num_threads()) in torch.__config__.parallel_info()
    x = torch.arange(3.0)
    assert torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x)).tolist() == x.tolist()
    with torch.distributed.algorithms.join.Join([]):
        pass
    seen: list[Any] = []

    class Doubled(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            seen.append(isinstance(ctx, torch.autograd.function.FunctionCtx))
            return x * 2

    Doubled.apply(x)
    assert seen == [True]
