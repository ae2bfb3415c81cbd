"""Threads that help, and processes that end all the same."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import threading
from ogive.engine.helpers import new_helper, start, wait_for

helper = new_helper("helper", print, "began")
enter = threading.Condition.__enter__

def interrupted(self):
    enter(self)
    if self is helper._started._cond:
        threading.Condition.__enter__ = enter
        raise KeyboardInterrupt  # with the lock that the new thread needs to say that it began
    return True

threading.Condition.__enter__ = interrupted
try:
    start(helper)
except KeyboardInterrupt:
    print("interrupted")
wait_for(helper)
"""


def test_a_helper_whose_start_is_interrupted_does_not_keep_the_process_from_ending() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split()[0] == "interrupted"


def test_a_helper_that_works_is_waited_for_when_the_process_ends() -> None:
    program = """
import time
from ogive.engine.helpers import new_helper, start

def work():
    time.sleep(0.3)
    print("done")

start(new_helper("helper", work))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "done\n"
