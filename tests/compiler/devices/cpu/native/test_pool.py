"""The pool as a whole: who runs what, and what the process sees of it."""

from __future__ import annotations

import ctypes
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy
import pytest

from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.devices.cpu.native.link import Library, link_library
from ogive.compiler.devices.cpu.native.native_plan import NativePlan
from ogive.compiler.devices.cpu.native.pool import Pool
from ogive.compiler.devices.llvm.library.assembler import assemble
from ogive.compiler.devices.protocol import KernelStep
from ogive.errors import ArgumentError
from tests.raising import raises

KERNELS = Path(__file__).with_name("kernels.ll")

PRELUDE = f"""
import os, sys, threading, time
import numpy
from ogive.compiler.devices.llvm.library.assembler import assemble
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.devices.cpu.native.link import link_library
from ogive.compiler.devices.cpu.native.native_plan import NativePlan
from ogive.compiler.devices.protocol import HostStep, KernelStep
from ogive.compiler.devices.cpu.native.pool import Pool, default_pool

KERNELS = {str(KERNELS)!r}
kernels = link_library(assemble(open(KERNELS).read(), host_target()), ("count", "slow_count"))
default_pool().set_threads(3)

def say(text):
    print(text, flush=True)

def make_plan(counts, turns=0):
    kernel = kernels["slow_count"] if turns else kernels["count"]
    return NativePlan([KernelStep(kernel, (counts.ctypes.data, turns), counts.size)])

counts = numpy.zeros(5000, numpy.int64)
plan = make_plan(counts)

def check():
    counts[:] = 0
    assert plan.execute() is None
    assert (counts == 1).all()

check()
"""

Script = Callable[[str], "subprocess.Popen[str]"]


@pytest.fixture
def script() -> Iterator[Script]:
    """Starts a Python process on a script that has a plan and `check()`, which executes it."""
    processes: list[subprocess.Popen[str]] = []

    def start(text: str) -> subprocess.Popen[str]:
        # Python from 3.12 on warns of each fork of a process with threads, which is what is tested.
        quiet = ["-W", "ignore::DeprecationWarning"]
        processes.append(
            subprocess.Popen(
                [sys.executable, *quiet, "-c", PRELUDE + textwrap.dedent(text)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def finish(process: subprocess.Popen[str]) -> str:
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    return output


def test_several_threads_run_a_long_step(
    kernels: Library, make_pool: Callable[[int], Pool]
) -> None:
    threads = numpy.zeros(100, numpy.int64)
    step = KernelStep(kernels["identify"], (threads.ctypes.data, 100_000), threads.size)
    plan = NativePlan([step], make_pool(2))
    seen: set[int] = set()
    for _ in range(100):
        plan.execute()
        seen |= set(threads.tolist())
        if len(seen) > 1:
            break
    assert len(seen) == 2


def test_a_thread_begins_with_its_own_span_and_helps_others_when_it_is_done(
    kernels: Library, make_pool: Callable[[int], Pool]
) -> None:
    seen = numpy.zeros(100, numpy.int64)
    step = KernelStep(kernels["identify"], (seen.ctypes.data, 20_000), seen.size)
    plan = NativePlan([step], make_pool(2))
    own, other = numpy.split(seen, 2)
    shared = 0
    for _ in range(200):
        plan.execute()
        assert own[0] == threading.get_ident()
        # The caller is here only if it is done with its own, in which nobody has helped it so far.
        assert other[0] != own[0] or (own == own[0]).all()
        shared += other[0] != own[0]
        if shared > 20:
            break
    assert shared


def test_a_serial_step_runs_on_the_caller_alone(
    kernels: Library, make_pool: Callable[[int], Pool]
) -> None:
    threads = numpy.zeros(100, numpy.int64)
    step = KernelStep(
        kernels["identify"], (threads.ctypes.data, 10_000), threads.size, parallel=False
    )
    plan = NativePlan([step], make_pool(3))
    for _ in range(5):
        plan.execute()
        assert len(set(threads.tolist())) == 1


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_no_more_threads_run_a_step_than_it_is_worth(
    kernels: Library, make_pool: Callable[[int], Pool], threads: int
) -> None:
    seen = numpy.zeros(60, numpy.int64)
    step = KernelStep(kernels["identify"], (seen.ctypes.data, 10_000), seen.size, threads=threads)
    pool = make_pool(6)
    plan = NativePlan([step], pool)
    most = 0
    for runs in range(200):
        plan.execute()
        most = max(most, len(set(seen.tolist())))
        assert most <= threads
        if runs > 30 and most > 1:
            break
    assert (most > 1) == (threads > 1)
    assert (pool.jobs > 0) == (threads > 1)


FLOAT_MODE = """
define i32 @swap_mode(i32 %new) nounwind {
  %word = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %word)
  %old = load i32, ptr %word
  store i32 %new, ptr %word
  call void @llvm.x86.sse.ldmxcsr(ptr %word)
  ret i32 %old
}
define void @halve(ptr %arguments, i64 %begin, i64 %end, ptr %fault) nounwind {
  %value.at = load ptr, ptr %arguments
  %value = load volatile float, ptr %value.at
  %half = fmul float %value, 5.0e-01
  store volatile float %half, ptr %value.at
  ret void
}
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)
"""


@pytest.mark.skipif(host_target().architecture != "x86_64", reason="sets an x86 register")
def test_kernels_keep_denormals_whatever_the_caller_has_set() -> None:
    library = link_library(assemble(FLOAT_MODE, host_target()), ("swap_mode", "halve"))
    swap = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32)(library["swap_mode"].address)
    value = numpy.array([numpy.finfo(numpy.float32).tiny], numpy.float32)
    plan = NativePlan([KernelStep(library["halve"], (value.ctypes.data,))])
    flushing = 0x9FC0
    before = swap(flushing)
    plan.execute()
    during = swap(before)
    assert during & flushing == flushing
    assert value.view(numpy.uint32)[0] == 0x00400000


def test_a_pool_of_no_threads_is_refused() -> None:
    with raises(ArgumentError, match="pool of 0 threads"):
        Pool(0)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_dropped_pool_takes_its_threads_along(script: Script) -> None:
    finish(
        script(
            """
            def threads():
                return len(os.listdir("/proc/self/task"))
            default_pool().set_threads(1)
            before = threads()
            for _ in range(20):
                pool = Pool(4)
                step = KernelStep(kernels["count"], (counts.ctypes.data,), counts.size)
                assert NativePlan([step], pool).execute() is None
            del pool
            while threads() > before:  # the system takes a moment to forget one that has ended
                time.sleep(0.001)
            """
        )
    )


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_workers_block_signals(script: Script) -> None:
    finish(
        script(
            """
            import signal
            tasks = set(os.listdir("/proc/self/task"))
            tasks -= {str(thread.native_id) for thread in threading.enumerate()}
            pool = Pool(4)
            NativePlan([KernelStep(kernels["count"], (counts.ctypes.data,), 99)], pool).execute()
            workers = set(os.listdir("/proc/self/task")) - tasks - {str(os.getpid())}
            assert len(workers) == 3
            for worker in workers:
                status = open(f"/proc/self/task/{worker}/status").read()
                blocked = int(status.partition("SigBlk:")[2].split()[0], 16)
                assert blocked >> signal.SIGINT - 1 & 1
            """
        )
    )


def test_ctrl_c_interrupts_a_long_execute_and_the_plan_stays_usable(script: Script) -> None:
    process = script(
        """
        counts = numpy.zeros(100_000, numpy.int64)
        plan = make_plan(counts, 10_000_000)
        def announce():
            while not counts.any():
                time.sleep(0.001)
            say("running")
        try:
            threading.Thread(target=announce).start()
            plan.execute()
        except KeyboardInterrupt:
            assert (counts == 0).any()
            plan.words[1], plan.tiles[0] = 1, 50
            counts[:] = 0
            assert plan.execute() is None
            assert (counts[:50] == 1).all() and not counts[50:].any()
            say("interrupted")
        """
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    process.send_signal(signal.SIGINT)
    assert finish(process) == "interrupted\n"


def test_a_forked_child_has_its_own_pool(script: Script) -> None:
    output = finish(
        script(
            """
            for _ in range(3):
                child = os.fork()
                if child == 0:
                    for _ in range(20):
                        check()
                    say("child")
                    os._exit(0)
                check()
                assert os.waitpid(child, 0)[1] == 0
            """
        )
    )
    assert output == "child\n" * 3


def test_a_fork_while_other_threads_execute_leaves_the_plan_usable(script: Script) -> None:
    output = finish(
        script(
            """
            stop = False
            def work():
                while not stop:
                    plan.execute()
            threads = [threading.Thread(target=work) for _ in range(3)]
            for thread in threads:
                thread.start()
            for _ in range(10):
                child = os.fork()
                if child == 0:
                    for _ in range(20):
                        check()
                    os._exit(0)
                assert os.waitpid(child, 0)[1] == 0
            stop = True
            for thread in threads:
                thread.join()
            check()
            say("done")
            """
        )
    )
    assert output == "done\n"


def test_a_fork_while_other_threads_compile_leaves_the_compiler_usable(script: Script) -> None:
    output = finish(
        script(
            """
            text = open(KERNELS).read()
            def compile():
                link_library(assemble(text, host_target()), ("count",))
            stop = False
            def work():
                while not stop:
                    compile()
            thread = threading.Thread(target=work)
            thread.start()
            for _ in range(10):
                child = os.fork()
                if child == 0:
                    compile()
                    os._exit(0)
                assert os.waitpid(child, 0)[1] == 0
            stop = True
            thread.join()
            say("done")
            """
        )
    )
    assert output == "done\n"


@pytest.mark.parametrize("asleep", [False, True])
def test_the_process_exits_while_workers_live(script: Script, asleep: bool) -> None:
    assert finish(script(f"check()\ntime.sleep({0.05 if asleep else 0})\nsay('bye')")) == "bye\n"


@pytest.mark.parametrize("turns", [0, 1000, 1_000_000])
def test_the_process_exits_while_a_daemon_thread_executes(script: Script, turns: int) -> None:
    output = finish(
        script(
            f"""
            counts = numpy.zeros(5000, numpy.int64)
            def work():
                plan = make_plan(counts, {turns})
                started.set()
                while True:
                    plan.execute()
            started = threading.Event()
            threading.Thread(target=work, daemon=True).start()
            started.wait()
            time.sleep(0.02)
            say("bye")
            """
        )
    )
    assert output == "bye\n"
