"""Kernels to search for, and a worker in which some placements are bad."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from ogive import Beam, Config, Tensor
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.pipeline.graph_passes import schedule_graph
from ogive.compiler.passes.pipeline.region_passes import loops_of
from ogive.compiler.passes.place.placement import Placement
from ogive.compiler.passes.regions.number_slots import Step
from ogive.compiler.search.placement_encoding import read_placement
from ogive.compiler.store.encoding import Reader
from tests.compiler.passes.parametric import normalize

CONFIG = Config(pack_operands=False, search=Beam())
TARGET = host_target()


def data(*shape: int) -> Tensor:
    generator = np.random.default_rng(sum(shape))
    return Tensor(generator.integers(-6, 7, shape).astype(np.float32))


def region_of(tensor: Tensor) -> UOp:
    """The region of a one-kernel computation."""
    (step,) = schedule_graph(normalize((tensor.node,)).sink, TARGET, CONFIG).steps
    assert isinstance(step, Step)
    return step.region.graph


def loops(tensor: Tensor) -> UOp:
    """The loop graph of a one-kernel computation."""
    return loops_of(region_of(tensor), TARGET, CONFIG)


def placement_from(data: bytes) -> Placement:
    """A placement from bytes that hold nothing else."""
    reader = Reader(data)
    placement = read_placement(reader)
    reader.finish()
    return placement


def faulty_command() -> list[str]:
    """What starts a worker in which the tiles of `faulty_worker.FAULTS` are bad."""
    script = Path(__file__).with_name("faulty_worker.py")
    return [sys.executable, str(script), json.dumps(sys.path)]
