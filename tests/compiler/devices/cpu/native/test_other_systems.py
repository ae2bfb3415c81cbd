"""Machines that we have none of: their code is assembled here, and looked at."""

from __future__ import annotations

import pytest

from ogive.compiler.devices.cpu.native.driver import driver_object
from ogive.compiler.devices.cpu.native.layout import EXPORTS
from ogive.compiler.devices.llvm.library.assembler import assemble
from ogive.compiler.targets.target import describe_cpu
from ogive.errors import CompileError
from tests.compiler.devices.cpu.native.object_symbols import read_object
from tests.compiler.devices.llvm.test_goldens import KERNELS, emitted
from tests.raising import raises

TRIPLES = {
    "x86_64-unknown-linux-gnu": ("x86-64-v3", "+avx,+avx2,+fma", {2, 4}),
    "aarch64-unknown-linux-gnu": ("generic", "+neon", {275, 277, 282, 283, 284, 285, 286, 299}),
    "x86_64-apple-darwin": ("x86-64-v3", "+avx,+avx2,+fma", {0, 1, 2, 6, 7, 8}),
    "arm64-apple-darwin": ("apple-m1", "+neon", {2, 3, 4, 5, 6}),
}
"""Processor, features, and the kinds of relocation that hold wherever the code lies: distances and
jumps. Absolute addresses are none of them."""

POSIX = {
    "clock_gettime", "getpid", "memcpy", "pthread_cond_broadcast", "pthread_cond_destroy",
    "pthread_cond_init", "pthread_cond_signal", "pthread_cond_wait", "pthread_create",
    "pthread_join", "pthread_mutex_destroy", "pthread_mutex_init", "pthread_mutex_lock",
    "pthread_mutex_unlock", "pthread_sigmask", "sched_yield", "sigfillset",
}  # fmt: skip
LINUX = {"pthread_setaffinity_np", "sched_getaffinity", "sched_getcpu"}


@pytest.mark.parametrize("triple", TRIPLES)
def test_the_driver_wants_only_functions_that_the_system_has(triple: str) -> None:
    cpu, features, relocations = TRIPLES[triple]
    facts = read_object(driver_object(describe_cpu(triple, cpu, features)))
    assert facts.defined == set(EXPORTS)
    assert facts.undefined >= {"clock_gettime", "pthread_create"}
    assert facts.undefined <= (POSIX | LINUX if "linux" in triple else POSIX)
    assert facts.relocations <= relocations


@pytest.mark.parametrize("triple", TRIPLES)
def test_kernels_are_assembled_and_want_nothing_but_to_move_memory(triple: str) -> None:
    cpu, features, relocations = TRIPLES[triple]
    target = describe_cpu(triple, cpu, features)
    for build in KERNELS.values():
        text = emitted(build(), target)
        facts = read_object(assemble(text, target))
        assert len(facts.defined) == 1
        assert facts.undefined <= {"memcpy", "memset", "bzero"}
        assert facts.relocations <= relocations


def test_the_driver_is_assembled_for_processors_that_it_knows_nothing_of() -> None:
    target = describe_cpu("riscv64-unknown-linux-gnu", "generic-rv64", "+m,+a,+f,+d,+c")
    facts = read_object(driver_object(target))
    assert facts.defined == set(EXPORTS) and facts.undefined <= POSIX | LINUX


@pytest.mark.parametrize("triple", ["x86_64-pc-windows-msvc", "x86_64-unknown-freebsd"])
def test_a_system_without_a_driver_is_refused(triple: str) -> None:
    with raises(CompileError, match=f"no driver for '{triple}': Ogive runs on Linux"):
        driver_object(describe_cpu(triple))
