"""What starts over in a forked child."""

from __future__ import annotations

import os
import threading

from ogive.after_fork import Locked, RenewedAfterFork


class Counted:
    renewals = 0

    def renew(self) -> None:
        self.renewals += 1


def test_each_object_that_lives_is_renewed_in_a_child_and_not_in_its_parent() -> None:
    alive = RenewedAfterFork(Counted.renew)
    first, second = Counted(), Counted()
    alive.add(first)
    alive.add(second)
    alive.add(Counted())
    assert {*alive} == {first, second}  # the third is gone
    child = os.fork()
    if child == 0:
        os._exit(0 if first.renewals == second.renewals == 1 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert first.renewals == second.renewals == 0


class Guarded(Locked):
    def is_free(self) -> bool:
        return self._lock.acquire(blocking=False)


def test_a_lock_that_another_thread_holds_at_a_fork_is_free_in_the_child() -> None:
    guarded = Guarded()
    holder = threading.Thread(target=guarded.is_free)
    holder.start()
    holder.join()
    assert not guarded.is_free()
    child = os.fork()
    if child == 0:
        os._exit(0 if guarded.is_free() else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert not guarded.is_free()
