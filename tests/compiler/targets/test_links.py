"""What exchanges take, against messages that are played through one by one."""

from __future__ import annotations

import math

import numpy
import pytest

from ogive.compiler.targets.links import ALL_REDUCE, Link, Network, all_reduce, fit_link, gather

INSIDE, ACROSS = Link(1e9, 1e-5), Link(1e8, 1e-4)


class Play:
    """Devices with values, and the time by which each has sent and received so far."""

    def __init__(self, devices: int, length: int, network: Network) -> None:
        rng = numpy.random.default_rng(0)
        self.values = rng.integers(0, 9, (devices, length)).astype("float64")
        self.total = self.values.sum(0)
        self.sends, self.receives = [0.0] * devices, [0.0] * devices
        self.network = network

    def send(self, at: float, sender: int, receiver: int, count: int, sharing: int = 1) -> float:
        """A message that can be sent `at` a time; gives when it has arrived."""
        size = self.network.size
        near = sender // size == receiver // size
        link = self.network.inside if near else self.network.across
        begin = max(at, self.sends[sender], self.receives[receiver])
        end = begin + link.latency + 8 * count * sharing / link.bandwidth
        self.sends[sender] = self.receives[receiver] = end
        return end


def play_direct(play: Play) -> float:
    count, length = play.values.shape
    ends = [play.send(0.0, device, 0, length) for device in range(1, count)]
    return max([play.send(max(ends), 0, device, length) for device in range(1, count)])


def play_ring(
    play: Play, line: list[int], start: int, length: int, at: float, sharing: int
) -> float:
    """Two rounds of parts along a line of devices; each ends with the total of that stretch."""
    count = len(line)
    step = length // count
    for turn in range(2 * (count - 1)):
        messages = []
        for place, device in enumerate(line):
            first = start + (place - turn) % count * step
            messages.append((device, line[(place + 1) % count], slice(first, first + step)))
        held = [play.values[device, part].copy() for device, _, part in messages]
        ends = []
        for (device, to, part), value in zip(messages, held, strict=True):
            ends.append(play.send(at, device, to, step, sharing))
            if turn < count - 1:
                play.values[to, part] += value
            else:
                play.values[to, part] = value
        at = max(ends)
    return at


def play_tree(play: Play) -> float:
    count, length = play.values.shape
    at, distance, turns = 0.0, 1, []
    while distance < count:
        turns.append(distance)
        ends = [at]
        for device in range(0, count - distance, 2 * distance):
            play.values[device] += play.values[device + distance]
            ends.append(play.send(at, device + distance, device, length))
        at, distance = max(ends), 2 * distance
    for distance in reversed(turns):
        at = max([play.send(at, device, device + distance, length)
                  for device in range(0, count - distance, 2 * distance)])  # fmt: skip
    return at


@pytest.mark.parametrize("devices", [2, 3, 4, 8])
def test_one_device_that_adds_and_sends_back(devices: int) -> None:
    network = Network(INSIDE, ACROSS, 8)
    play = Play(devices, 240, network)
    assert play_direct(play) == pytest.approx(ALL_REDUCE["direct"](1920, devices, network))


@pytest.mark.parametrize("devices", [2, 3, 4, 8])
@pytest.mark.parametrize("machine", [1, 8])
def test_a_ring(devices: int, machine: int) -> None:
    network = Network(INSIDE, ACROSS, machine)
    play = Play(devices, 240, network)
    seconds = play_ring(play, list(range(devices)), 0, 240, 0.0, 1)
    assert (play.values == play.total).all()
    assert seconds == pytest.approx(ALL_REDUCE["ring"](1920, devices, network))
    assert seconds == pytest.approx(2 * gather(1920, devices, network))


@pytest.mark.parametrize("devices", [2, 3, 4, 7, 8])
def test_a_tree(devices: int) -> None:
    network = Network(INSIDE, ACROSS, 8)
    play = Play(devices, 240, network)
    seconds = play_tree(play)
    assert (play.values[0] == play.total).all()
    assert seconds == pytest.approx(ALL_REDUCE["tree"](1920, devices, network))


@pytest.mark.parametrize(("machines", "size"), [(2, 2), (2, 4), (3, 2), (4, 4)])
def test_rings_inside_of_machines_around_rings_across(machines: int, size: int) -> None:
    length, network = 240, Network(INSIDE, ACROSS, size)
    play = Play(machines * size, length, network)
    part = length // size
    inside = 0.0
    for machine in range(machines):  # half of it before the rings across, half behind
        line = [machine * size + place for place in range(size)]
        inside = max(inside, play_ring(play, line, 0, length, 0.0, 1))
    across = inside
    for place in range(size):
        line = [machine * size + place for machine in range(machines)]
        across = max(across, play_ring(play, line, place * part, part, inside, size))
    for machine in range(machines):
        for place in range(size):
            stretch = slice(place * part, (place + 1) * part)
            play.values[machine * size : (machine + 1) * size, stretch] = play.values[
                machine * size + place, stretch
            ]
    assert (play.values == play.total).all()
    assert across == pytest.approx(ALL_REDUCE["two-level"](8 * length, machines * size, network))


def test_the_fastest_way_depends_on_size_and_number() -> None:
    network = Network(INSIDE, ACROSS, 8)
    assert all_reduce(8, 8, network).algorithm == "tree"
    assert all_reduce(1e9, 8, network).algorithm == "ring"
    assert all_reduce(1e9, 64, network).algorithm == "two-level"
    assert all_reduce(1e9, 1, network) == ("none", 0.0)
    for nbytes in (8, 1e5, 1e9):
        best = all_reduce(nbytes, 32, network)
        assert best.seconds == min(f(nbytes, 32, network) for f in ALL_REDUCE.values())


def test_a_link_is_found_from_two_measurements() -> None:
    network = Network(INSIDE, ACROSS, 2)
    small, large = [(size, ALL_REDUCE["direct"](size, 2, network)) for size in (1e3, 1e6)]
    found = fit_link(small, large)
    assert math.isclose(found.bandwidth, INSIDE.bandwidth, rel_tol=1e-6)
    assert math.isclose(found.latency, INSIDE.latency, rel_tol=1e-6)
