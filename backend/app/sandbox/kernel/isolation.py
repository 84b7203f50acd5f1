"""Isolation of a cell: its layers, in the order in which they are applied. Each works without the others.

namespaces     no network, no other process, no other file (where the kernel allows it)
no_new_privs   nothing run later can gain a privilege
capabilities   none, whatever user the service runs as
Landlock       reads the interpreter and its inputs, writes its output folder, reaches nothing else
seccomp        no socket, no new process, no signal to others, and no other call that is not on the list
"""

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import app
from app.sandbox.kernel import landlock, namespaces, seccomp
from app.sandbox.kernel.calls import PR_SET_DUMPABLE, drop_capabilities, forbid_new_privileges, prctl
from app.sandbox.kernel.syscalls import AUDIT_ARCHITECTURES, MACHINE

_CONTROL_GROUP = Path("/proc/self/cgroup")
_GROUP_LIMITS = """
/sys/fs/cgroup{}/memory.max          /sys/fs/cgroup/memory{}/memory.limit_in_bytes
/sys/fs/cgroup{}/cpu.max             /sys/fs/cgroup/cpu{}/cpu.cfs_quota_us
/sys/fs/cgroup/cpu{}/cpu.cfs_period_us
"""
"""Files of a control group's limits: DuckDB aborts where it sees them and cannot open them.

No other file there is granted: some list the processes of the host, or count them.
"""


class Tier(StrEnum):
    """Isolation that a host offers. The values are public: `/readyz`, `labcrew doctor`, errors."""

    NAMESPACES = "namespaces+lsm"
    LSM = "lsm-only"
    NONE = "none"


@dataclass(frozen=True)
class CellView:
    """Files that a cell may reach beside the interpreter.

    `folder`: descriptor of a bounded filesystem to mount as `output`, or None.
    `links`: names in the output folder for files elsewhere, so that a program opens its inputs by name.
    `names_stay`: no file in `output` is removed or renamed, so that all bytes on the disk have a name there.
    Else a file could go on growing behind a descriptor, a mapping or a new name, where no survey sees it.
    """

    readable: tuple[Path, ...]
    output: Path
    links: Mapping[str, Path] = field(default_factory=dict)
    folder: int | None = None
    names_stay: bool = False


class Confinement:
    """Isolation of this process. Parts that need no request are prepared at once, and bind nothing."""

    def __init__(self, tier: Tier, interpreter: Iterable[Path]) -> None:
        """Raises OSError, as `confine` does."""
        self._tier = tier
        if tier is Tier.NONE:
            return
        prctl(PR_SET_DUMPABLE, 0)  # another cell of the same user may not trace it or read its memory
        forbid_new_privileges()
        self._files = landlock.Ruleset()
        self._files.grant(landlock.READ, interpreter)
        if tier is Tier.NAMESPACES:
            namespaces.prepare_root(interpreter)

    def confine(self, view: CellView, further_calls: Iterable[seccomp.Rule] = ()) -> None:
        """Restrict this process to `view` for good. Raises OSError if a layer cannot be applied.

        `further_calls`: system calls that cells do not need and this process does.
        """
        if self._tier is Tier.NAMESPACES:
            namespaces.enter_root(view.readable, view.output, view.folder)
        # Before Landlock, which grants no rights to make links.
        for name, target in view.links.items():
            (view.output / Path(name).name).symlink_to(target)
        if self._tier is Tier.NONE:
            return
        # Only now: making and entering the new root needs them.
        drop_capabilities()
        _hold_control_group()
        self._files.grant(landlock.READ, view.readable)
        self._files.grant(landlock.ADD if view.names_stay else landlock.WRITE, [view.output])
        self._files.grant(landlock.READ_BY_NAME, _control_group_files())
        self._files.bind()
        # Last: the filter refuses the calls that apply the other layers.
        seccomp.install(seccomp.make_filter(os.getpid(), further_calls))


def _hold_control_group() -> None:
    """Keep the file open while the process lives: procfs may drop an unopened one, and its rule with it."""
    if _CONTROL_GROUP.exists():
        os.open(_CONTROL_GROUP, os.O_PATH | os.O_CLOEXEC)


def _control_group_files() -> list[Path]:
    """Return the files of this process's control groups and their limits; none where it sees no /proc."""
    if not _CONTROL_GROUP.exists():
        return []
    groups = {line.split(":", 2)[2] for line in _CONTROL_GROUP.read_text().splitlines()}
    paths = {name.format(group.rstrip("/")) for name in _GROUP_LIMITS.split() for group in groups}
    return [_CONTROL_GROUP, *map(Path, sorted(paths))]


def interpreter_paths(cache: Path) -> tuple[Path, ...]:
    """Return the files and folders that Python and its libraries read while they run."""
    installed = (Path(entry) for entry in sys.path)
    paths = {
        *(path for path in installed if path.name in ("site-packages", "dist-packages")),
        Path(sys.base_prefix, "lib"),
        Path(app.__path__[0]),
        cache,
        *map(Path, ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64")),
        *map(Path, ("/usr/share/zoneinfo", "/usr/share/fonts", "/etc/localtime")),
        *map(Path, ("/dev/null", "/dev/urandom")),
    }
    return tuple(sorted(path for path in paths if path.exists()))


def survey_host() -> tuple[Tier, dict[str, str]]:
    """Find the strongest tier that works here; return it, and the reason why each stronger one does not."""
    missing: dict[str, str] = {}
    for tier in (Tier.NAMESPACES, Tier.LSM):
        reason = tier_failure(tier)
        if reason is None:
            return tier, missing
        missing[str(tier)] = reason
    return Tier.NONE, missing


def tier_failure(tier: Tier) -> str | None:
    """Test the isolation of a tier in a child. Returns the reason why it fails; None if it works."""
    if MACHINE not in AUDIT_ARCHITECTURES:
        return f"no table of system calls for {MACHINE}"
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os._exit(_try_tier(tier, writer))
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        message = pipe.read().decode("utf-8", "replace")
    _, status = os.waitpid(pid, 0)
    return None if status == 0 else message or f"it ended with status {status}"


def _try_tier(tier: Tier, writer: int) -> int:
    try:
        if tier is Tier.NAMESPACES:
            namespaces.enter_namespaces()
        Confinement(tier, ()).confine(CellView((), Path("/dev/null")))
    except OSError as error:
        os.write(writer, str(error).encode())
        return 1
    return 0
