"""Where the kernel allows it: cells see a world of their own, with no network, no other process, no other file.

The zygote enters network, ipc and mount namespaces once; each cell gets its own process and mount namespaces
and a root that holds its interpreter and inputs, read-only, and its output folder.
"""

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path

from app.sandbox.kernel.calls import check_result, die_with_parent, setns, syscall, unshare
from app.sandbox.kernel.syscalls import SETUP

NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000

_AT_FDCWD = -100  # AT_FDCWD
_EMPTY_PATH, _RECURSIVE, _CLONE, _CLOEXEC = 0x1000, 0x8000, 1, 0o2000000
_READ_ONLY, _NOSUID, _NODEV, _NOEXEC = 1, 2, 4, 8
_PRIVATE = 1 << 18
_SET_STRING, _CREATE = 1, 6
_DETACH = 2

_NEW_ROOT = Path("/proc")
_OLD_ROOT = ".old"

_libc = ctypes.CDLL(None, use_errno=True)


def enter_namespaces() -> int:
    """The zygote, once: leave the host's network, ipc, processes and mounts. Needs a single thread.

    Returns, in the first process of the new world, a descriptor of its /proc. The process that called it
    stays outside, waits for the first one and ends as it ends.
    """
    uid, gid = os.getuid(), os.getgid()
    user = 0 if uid == 0 else NEWUSER
    unshare(user | NEWNS | NEWNET | NEWIPC | NEWUTS | NEWCGROUP | NEWPID)
    if user:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    first = os.fork()
    if first:
        os.closerange(3, 4_096)
        _, status = os.waitpid(first, 0)
        os._exit(abs(os.waitstatus_to_exitcode(status)))
    die_with_parent(0)
    _set_mount_attributes(_AT_FDCWD, "/", 0, _RECURSIVE, propagation=_PRIVATE)
    return _create_filesystem(b"proc", {}, _NOSUID | _NODEV | _NOEXEC)


def fork_first_process(home: int) -> int:
    """Fork as the first process of a new process namespace; `home`: a pidfd of this process."""
    unshare(NEWPID)
    pid = os.fork()
    if pid:
        setns(home, NEWPID)
    return pid


def create_bounded_filesystem(size_bytes: int, inodes: int) -> int:
    """A descriptor of a new filesystem in memory that holds so much and no more."""
    options = {b"size": b"%d" % size_bytes, b"nr_inodes": b"%d" % inodes, b"mode": b"700"}
    return _create_filesystem(b"tmpfs", options, _NOSUID | _NODEV | _NOEXEC)


def prepare_root(readable: Iterable[Path]) -> None:
    """In a cell without a request yet: a new root of `readable`, at a place that no request names."""
    unshare(NEWNS)
    _attach_mount(create_bounded_filesystem(1 << 20, 2_000), _NEW_ROOT)
    _mount_read_only(readable)
    (_NEW_ROOT / _OLD_ROOT).mkdir()


def enter_root(readable: Iterable[Path], output: Path, folder: int | None) -> None:
    """Add inputs to that root, and the output folder, which is `folder` if given. Then nothing else."""
    _mount_read_only(readable)
    tree = folder if folder is not None else _clone_mounts(output, _NOSUID | _NODEV | _NOEXEC)
    _attach_mount(tree, _make_mount_point(output, output.is_dir()))
    syscall(SETUP["pivot_root"], bytes(_NEW_ROOT), bytes(_NEW_ROOT / _OLD_ROOT), what="pivot_root")
    os.chdir("/")
    check_result(_libc.umount2(bytes(Path("/", _OLD_ROOT)), _DETACH), "umount of the old root")
    Path("/", _OLD_ROOT).rmdir()
    _set_mount_attributes(_AT_FDCWD, "/", _READ_ONLY)


def _mount_read_only(readable: Iterable[Path]) -> None:
    for path in sorted(readable):
        if path.exists():
            _attach_mount(_clone_mounts(path, _READ_ONLY | _NOSUID), _make_mount_point(path, path.is_dir()))


def _clone_mounts(path: Path, attributes: int) -> int:
    """A detached copy of the mounts at `path`, with these restrictions."""
    flags = _CLONE | _RECURSIVE | _CLOEXEC
    tree = syscall(SETUP["open_tree"], _AT_FDCWD, bytes(path), flags, what=f"open_tree {path}")
    _set_mount_attributes(tree, "", attributes, _EMPTY_PATH | _RECURSIVE)
    return tree


def _make_mount_point(path: Path, is_folder: bool) -> Path:
    place = _NEW_ROOT / path.relative_to("/")
    if place.exists():  # beneath a tree that is there already
        return place
    if is_folder:
        place.mkdir(parents=True)
    else:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    return place


def _attach_mount(tree: int, place: Path) -> None:
    from_empty_path = 4
    syscall(
        SETUP["move_mount"], tree, b"", _AT_FDCWD, bytes(place), from_empty_path, what=f"move_mount {place}"
    )
    os.close(tree)


def _set_mount_attributes(at: int, path: str, restrict: int, flags: int = 0, propagation: int = 0) -> None:
    attributes = (ctypes.c_uint64 * 4)(restrict, 0, propagation, 0)
    syscall(
        SETUP["mount_setattr"],
        at,
        path.encode(),
        flags,
        attributes,
        ctypes.c_size_t(32),
        what=f"mount_setattr {path}",
    )


def _create_filesystem(kind: bytes, options: dict[bytes, bytes], attributes: int) -> int:
    """A descriptor of a new filesystem that is attached nowhere yet."""
    close_on_exec = 1
    context = syscall(SETUP["fsopen"], kind, close_on_exec, what=f"fsopen {kind!r}")
    configure = SETUP["fsconfig"]
    for key, value in options.items():
        syscall(configure, context, _SET_STRING, key, value, 0, what=f"fsconfig {key!r}")
    syscall(configure, context, _CREATE, None, None, 0, what=f"fsconfig of {kind!r}")
    mount = syscall(SETUP["fsmount"], context, close_on_exec, attributes, what=f"fsmount {kind!r}")
    os.close(context)
    return mount
