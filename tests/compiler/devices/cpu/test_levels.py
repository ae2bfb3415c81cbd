"""Code for a level of processors: what it may use, and where it may be made."""

from __future__ import annotations

import numpy
import pytest

import ogive
from ogive import Config, Tensor
from ogive.compiler.devices.cpu.levels import target_of_level
from ogive.compiler.devices.known_devices import host
from ogive.compiler.targets.target import describe_cpu
from ogive.errors import ConfigError
from tests.raising import raises

FULL = describe_cpu(
    "x86_64-unknown-linux-gnu", "znver5",
    "+cx16,+popcnt,+sahf,+sse3,+sse4.1,+sse4.2,+ssse3,+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,"
    "+movbe,+xsave,+avx512bw,+avx512cd,+avx512dq,+avx512f,+avx512vl,+avx512vnni",
    caches={1: 1 << 15, 2: 1 << 21, 3: 1 << 26},
)  # fmt: skip


def test_a_level_has_its_features_and_usual_caches() -> None:
    third, fourth = (target_of_level(level, FULL) for level in ("x86-64-v3", "x86-64-v4"))
    assert (third.vector_bytes, fourth.vector_bytes) == (32, 64)
    assert "avx512f" not in third.present and "avx512vnni" not in fourth.present
    assert third.l3_bytes != FULL.l3_bytes


def test_the_machine_must_have_the_level() -> None:
    small = describe_cpu("x86_64-unknown-linux-gnu", "haswell", "+avx,+avx2,+fma")
    with raises(ConfigError, match="this processor has no"):
        target_of_level("x86-64-v4", small)
    arm = describe_cpu("aarch64-unknown-linux-gnu", "generic", "+neon")
    with raises(ConfigError, match="this processor has no"):
        target_of_level("x86-64-v3", arm)
    with raises(ConfigError, match="did you mean 'x86-64-v3'"):
        target_of_level("x86-64-v33", FULL)


@pytest.mark.skipif("avx2" not in host().target(Config()).present, reason="needs AVX2")
def test_results_of_a_level_are_right_and_have_a_schedule_of_their_own() -> None:
    array = numpy.random.default_rng(3).standard_normal((33, 47)).astype(numpy.float32)
    config = Config(cpu="x86-64-v3")
    x = Tensor(array)
    own = x.softmax(-1).realize(config=config).numpy()
    before = ogive.counters()["schedules_created"] + ogive.counters()["schedule_disk_hits"]
    numpy.testing.assert_allclose(own, x.softmax(-1).numpy(), rtol=1e-5, atol=1e-7)
    assert ogive.counters()["schedules_created"] + ogive.counters()["schedule_disk_hits"] > before
