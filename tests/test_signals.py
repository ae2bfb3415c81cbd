"""The suite sets the handlers that it needs."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUN = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
os.execv(sys.executable, [sys.executable, "-m", "pytest", "-n", "0", "-q", *sys.argv[1:]])
"""


def test_tests_of_interrupts_pass_where_ctrl_c_was_ignored_when_the_suite_began() -> None:
    asked = ["tests/compiler/engine/test_interrupts.py", "-k", "after_the_last_step"]
    asked += ["tests/test_signals.py", "-k", "after_the_last_step or handler_is_pythons"]
    done = subprocess.run(
        [sys.executable, "-c", RUN, *asked], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_the_handler_is_pythons_here_and_in_processes() -> None:
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    program = "import signal; assert signal.getsignal(2) is signal.default_int_handler"
    subprocess.run([sys.executable, "-c", program], check=True)
