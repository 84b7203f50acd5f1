"""Launcher of a server: `python -I -S launch.py PARENT SIGNAL UID PIDFILE COMMAND...`.

A program of its own that the server replaces by exec, because these calls are unsafe in a process with threads,
such as the caller. It imports nothing of this package, and starts fast.

- The server gets SIGNAL when its parent dies, whatever ends that.
- UID `-` keeps the caller's user. `ns:N` shows that user as N in a user namespace: its files stay its own, and
  Postgres, which refuses to run as root, does not see root. A plain N becomes that user for good.
- PIDFILE gets the identity of the process; the server keeps the pid.
"""

import ctypes
import os
import sys
from pathlib import Path

# From <linux/sched.h> and <linux/prctl.h>; `app.sandbox.kernel` has them too, but this program imports nothing.
_CLONE_NEWUSER = 0x10000000
_PR_SET_PDEATHSIG = 1


def identity(pid: int) -> str:
    """Return the pid with the start of the process and the boot of the machine: unique on Linux.

    Raises OSError when there is no such process, or it has ended and waits for its parent only.
    """
    if sys.platform != "linux":
        os.kill(pid, 0)
        return str(pid)
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    if after_name[0] in "ZX":
        raise ProcessLookupError(pid)
    return f"{pid} {after_name[19]} {boot}"


def _enter_namespace(inner: int) -> None:
    outer_uid, outer_gid = os.geteuid(), os.getegid()
    if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWUSER):
        raise OSError(ctypes.get_errno(), "user namespaces are refused")
    # The kernel takes the gid map of an unprivileged process only after this.
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{inner} {outer_uid} 1")
    Path("/proc/self/gid_map").write_text(f"{inner} {outer_gid} 1")


def _become(user: str) -> None:
    if user == "-":
        return
    if user.startswith("ns:"):
        _enter_namespace(int(user[3:]))
        return
    # The user last: after that, groups cannot be given up any more.
    os.setgroups([])
    os.setgid(int(user))
    os.setuid(int(user))


def die_with(parent: int, signal_number: int) -> None:
    """Ask the kernel for a signal when the thread that started this process ends; exit if it has ended."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0)
    # A parent that ended before the call above is never announced.
    if os.getppid() != parent:
        sys.exit("the parent process has ended")


def main(parent: str, signal_number: str, user: str, pid_file: str, *command: str) -> None:
    if pid_file:
        Path(pid_file).write_text(identity(os.getpid()))
    _become(user)
    # After the change of user, with which the kernel drops the request for a signal.
    die_with(int(parent), int(signal_number))
    os.execv(command[0], command)  # noqa: S606 - the command is a list of ours


if __name__ == "__main__":
    main(*sys.argv[1:])
