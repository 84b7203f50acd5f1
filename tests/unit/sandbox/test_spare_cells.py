"""Spares are handed requests oldest first, replaced when they died, and ended when nobody wants them."""

import os
import signal
import socket
from collections.abc import Iterator
from typing import NoReturn

import pytest

from app.sandbox.zygote.spare_cells import SPARE_COUNT, SpareCells


def say_ones_pid(cue: socket.socket) -> NoReturn:
    _, descriptors, _, _ = socket.recv_fds(cue, 1, 1)
    for descriptor in descriptors:
        os.write(descriptor, b"%d" % os.getpid())
    os._exit(0)


@pytest.fixture
def spares() -> Iterator[SpareCells]:
    proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    made = SpareCells(os.fork, say_ones_pid, proc)
    yield made
    made.release()
    os.close(proc)


def ask(spares: SpareCells) -> tuple[int, int]:
    """The pid that was promised and the one that answered."""
    reader, writer = os.pipe()
    spare, before = spares.assign([writer])
    os.close(writer)
    assert before.threads == 1
    assert before.memory_bytes > 0
    with os.fdopen(reader) as pipe:
        said = int(pipe.read())
    spare.cell_socket.close()
    os.waitpid(spare.pid, 0)
    return spare.pid, said


def test_without_a_spare_a_new_cell_serves(spares: SpareCells) -> None:
    promised, said = ask(spares)
    assert promised == said


def test_spares_are_kept_after_the_first_request(spares: SpareCells) -> None:
    assert not spares.is_short
    ask(spares)
    for _ in range(SPARE_COUNT):
        assert spares.is_short
        spares.add()
    assert not spares.is_short
    spares.release()
    assert not spares.is_short
    assert not spares.has_idle


def test_a_spare_that_died_is_skipped(spares: SpareCells) -> None:
    ask(spares)
    spares.add()
    [dead] = spares._waiting
    os.kill(dead.pid, signal.SIGKILL)
    os.waitid(os.P_PID, dead.pid, os.WEXITED | os.WNOWAIT)
    spares.add()
    promised, said = ask(spares)
    assert promised == said != dead.pid


def test_releasing_leaves_no_process(spares: SpareCells) -> None:
    ask(spares)
    spares.add()
    [waiting] = spares._waiting
    spares.release()
    with pytest.raises(ProcessLookupError):
        os.kill(waiting.pid, 0)
