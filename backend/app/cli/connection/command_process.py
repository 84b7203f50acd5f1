"""Start of a `labcrew` command as a process of its own."""

import sys
from collections.abc import Sequence

from app.servers.child_process import Daemon
from app.servers.forked_process import can_fork


def start_command(daemon: Daemon, arguments: Sequence[str], descriptors: Sequence[int] = ()) -> None:
    """Start `labcrew ARGUMENTS` as a fork, which has this process' imports; by exec where a fork is unsound."""
    if not can_fork():
        daemon.launch([sys.executable, "-m", "app.cli.program", *arguments], descriptors)
        return
    from app.cli.program import run_command  # noqa: PLC0415 - which imports the modules that call this

    daemon.fork(lambda: run_command(arguments), descriptors)
