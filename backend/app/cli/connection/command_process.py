"""Start of a `labcrew` command as a process of its own."""

import sys
from collections.abc import Callable, Sequence

from app.servers.child_process import Daemon
from app.servers.forked_process import can_fork

CommandRunner = Callable[[Sequence[str]], int]
"""A function that runs `labcrew ARGUMENTS` in its process, and returns the exit code."""
_runners: list[CommandRunner] = []


def register_runner(run: CommandRunner) -> None:
    """Have forked processes run commands by this function. The module of all commands gives it, which imports
    those that start others."""
    _runners[:] = [run]


def start_command(daemon: Daemon, arguments: Sequence[str], descriptors: Sequence[int] = ()) -> None:
    """Start `labcrew ARGUMENTS` as a fork, which has this process' imports; by exec where a fork is unsound."""
    if not (_runners and can_fork()):
        daemon.launch([sys.executable, "-m", "app.cli.program", *arguments], descriptors)
        return
    [run] = _runners
    daemon.fork(lambda: run(arguments), descriptors)
