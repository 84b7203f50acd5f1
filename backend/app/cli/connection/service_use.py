"""Use of a service that one command started and others found: it lasts until the last of them ends."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


class ServiceUse:
    """The use of the service of one data folder by one command. The kernel ends it with the command's process.

    `folder`: where the locks lie, the same for all commands on one data folder.
    """

    def __init__(self, folder: Path) -> None:
        self._use = _open(folder / "use.lock")
        self._start = _open(folder / "start.lock")

    def __enter__(self) -> "ServiceUse":
        return self

    def __exit__(self, *failure: object) -> None:
        for file in (self._use, self._start):
            # A service that was forked from this process may hold the files open too, and a lock with them.
            fcntl.flock(file, fcntl.LOCK_UN)
            file.close()

    @contextmanager
    def begin(self) -> Iterator[None]:
        """Begin to use the service; in the block it can be looked for, and started, by no other command.

        Waits while another command starts the service, or stops the one that it started.
        """
        fcntl.flock(self._start, fcntl.LOCK_EX)
        try:
            fcntl.flock(self._use, fcntl.LOCK_SH)
            yield
        finally:
            fcntl.flock(self._start, fcntl.LOCK_UN)

    def wait_until_alone(self, on_wait: Callable[[], object]) -> None:
        """Wait until no other command uses the service; from then on others wait until this use ends.

        `on_wait` is called once, if there are others.
        """
        try:
            fcntl.flock(self._use, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(self._use, fcntl.LOCK_EX)


def _open(path: Path) -> IO[bytes]:
    return path.open("ab")
