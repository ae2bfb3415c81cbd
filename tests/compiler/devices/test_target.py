"""Descriptions of CPUs."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ogive.compiler.devices.cpu.host import cgroup_quota, host_caches, host_cores, host_target
from ogive.compiler.targets.target import DEFAULT_CACHE_BYTES, describe_cpu
from tests.new_process import output_of

AVX512 = "+avx,+avx2,+avx512bw,+avx512f,+avx512vl"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("triple", "features", "vector_bytes", "masked", "registers"),
    [
        ("x86_64-linux-gnu", "+sse2", 16, False, 16),
        ("x86_64-linux-gnu", "+avx,+avx2,-avx512f", 32, False, 16),
        ("x86_64-linux-gnu", AVX512, 64, True, 32),
        ("x86_64-linux-gnu", "+avx2,+avx512f", 64, False, 32),
        ("aarch64-linux-gnu", "+neon", 16, False, 32),
        ("arm64-apple-darwin", "+neon", 16, False, 32),
    ],
)
def test_vectors_follow_from_the_features(
    triple: str, features: str, vector_bytes: int, masked: bool, registers: int
) -> None:
    target = describe_cpu(triple, features=features)
    assert target.vector_bytes == vector_bytes
    assert target.masked is masked
    assert target.vector_registers == registers


def test_registers_are_scaled_where_an_instruction_does_it() -> None:
    wide = describe_cpu("x86_64-linux-gnu", features=AVX512)
    assert [(each.dtype, each.lanes) for each in wide.scalings] == [("f32", 16), ("f64", 8)]
    assert describe_cpu("x86_64-linux-gnu", features="+avx,+avx2").scalings == ()
    assert describe_cpu("aarch64-linux-gnu", features="+neon").scalings == ()
    assert replace(wide, vector_bytes=32).scalings == ()


def test_the_order_of_features_does_not_matter() -> None:
    one = describe_cpu("x86_64-linux-gnu", features="+avx2,-sse4a,+avx")
    other = describe_cpu("x86_64-linux-gnu", features="-sse4a,+avx,+avx2")
    assert one == other
    assert one.features == "+avx,+avx2,-sse4a"


def test_the_key_ignores_the_core_count() -> None:
    target = host_target()
    other = replace(target, cores=target.cores + 5)
    assert other == target
    assert other.key == target.key


@pytest.mark.parametrize(
    "change", [{"cpu": "other"}, {"features": "+avx"}, {"l2_bytes": 1}, {"masked": None}]
)
def test_the_key_covers_what_affects_code(change: dict[str, object]) -> None:
    target = host_target()
    assert replace(target, **change).key != target.key  # type: ignore[arg-type]


def test_the_key_is_the_same_in_another_process() -> None:
    code = "from ogive.compiler.devices.cpu.host import host_target; print(host_target().key)"
    output = output_of(code)
    assert output.strip() == host_target().key


def test_devices_are_imported_without_llvmlite() -> None:
    code = (
        "import sys, ogive.compiler.devices.buffer, ogive.compiler.devices.llvm.library.assembler; "
        "from ogive.compiler.devices.cpu.native import link, native_plan; "
        "from ogive.compiler.devices.cpu import host; host.host_cores(); host.host_caches(); "
        "assert 'llvmlite' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_host_has_cores_and_caches() -> None:
    assert host_cores() >= 1
    assert all(size > 0 for size in host_caches().values())


@pytest.mark.parametrize(
    ("text", "quota"),
    [
        ("max 100000", None),
        ("150000 100000", 1.5),
        ("50000 100000", 0.5),
        ("", None),
        ("x y", None),
    ],
)
def test_a_quota_is_read_from_cgroup_v2(tmp_path: Path, text: str, quota: float | None) -> None:
    write(tmp_path / "proc/self/cgroup", "0::/a/b\n")
    write(tmp_path / "sys/fs/cgroup/a/b/cpu.max", text)
    assert cgroup_quota(tmp_path) == quota


def test_the_tightest_quota_of_all_ancestors_counts(tmp_path: Path) -> None:
    write(tmp_path / "proc/self/cgroup", "0::/a/b\n")
    write(tmp_path / "sys/fs/cgroup/a/b/cpu.max", "800000 100000")
    write(tmp_path / "sys/fs/cgroup/a/cpu.max", "300000 100000")
    assert cgroup_quota(tmp_path) == 3.0


def test_a_quota_at_the_mount_counts_where_our_path_is_outside(tmp_path: Path) -> None:
    write(tmp_path / "proc/self/cgroup", "0::/outside/the/container\n")
    write(tmp_path / "sys/fs/cgroup/cpu.max", "200000 100000")
    assert cgroup_quota(tmp_path) == 2.0


@pytest.mark.parametrize(("quota", "expected"), [("250000", 2.5), ("-1", None)])
def test_a_quota_is_read_from_cgroup_v1(tmp_path: Path, quota: str, expected: float | None) -> None:
    write(tmp_path / "proc/self/cgroup", "5:memory:/x\n4:cpu,cpuacct:/x\n")
    write(tmp_path / "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", quota)
    write(tmp_path / "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000")
    assert cgroup_quota(tmp_path) == expected


def test_cache_sizes_are_read_by_level(tmp_path: Path) -> None:
    folder = tmp_path / "sys/devices/system/cpu/cpu0/cache"
    caches = [(1, "Data", "48K"), (1, "Instruction", "64K"), (2, "Unified", "2M")]
    for index, (level, kind, size) in enumerate(caches):
        write(folder / f"index{index}/level", f"{level}\n")
        write(folder / f"index{index}/type", f"{kind}\n")
        write(folder / f"index{index}/size", f"{size}\n")
    assert host_caches(tmp_path) == {1: 48 << 10, 2: 2 << 20}


def test_unknown_caches_have_usual_sizes(tmp_path: Path) -> None:
    assert host_caches(tmp_path) == {}
    target = describe_cpu("x86_64-linux-gnu", caches={2: 3 << 20})
    assert target.l2_bytes == 3 << 20
    assert (target.l1_bytes, target.l3_bytes) == (DEFAULT_CACHE_BYTES[1], DEFAULT_CACHE_BYTES[3])
