"""A cell's system calls: an allow-list as a BPF program. What is not listed answers EPERM.

Nothing here opens a socket, starts a process, changes an owner, a mode or a limit, or touches another process.
"""

import ctypes
import errno
import struct
from collections.abc import Iterable
from dataclasses import dataclass

from app.sandbox.kernel.calls import syscall
from app.sandbox.kernel.syscalls import ALLOWED, AUDIT_ARCHITECTURES, CONDITIONAL, MACHINE, SETTING_UP

# Instructions and results of classic BPF, from <linux/bpf_common.h> and <linux/seccomp.h>.
_LOAD, _AND, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
ALLOW = 0x7FFF0000
KILL = 0x80000000
_DENY = 0x00050000  # plus the errno

# Offsets in struct seccomp_data.
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16

X32 = 0x40000000
CLONE_THREAD = 0x10F00
"""Of one memory, working folder, table of descriptors and set of handlers (VM, FS, FILES, SIGHAND, THREAD)."""
CLOSE_RANGE_UNSHARE = 0x02
MAP_SHARED, MAP_ANONYMOUS = 0x01, 0x20
O_ACCMODE, O_TRUNC, O_UNNAMED = 0o3, 0o1000, 0o20000000
# Duplicating, flags and locks; not F_SETOWN or F_SETSIG, which make the kernel send signals to others.
FCNTL = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032)
TCGETS, TIOCGWINSZ, FIONBIO, FIOCLEX = 0x5401, 0x5413, 0x5421, 0x5451
PR_SET_NAME, PR_SET_VMA = 15, 0x53564D41
SECCOMP_SET_MODE_FILTER, FLAG_TSYNC = 1, 1
SIGKILL = 9
FUTEX_COMMAND = 0xFFFFFFFF & ~(128 | 256)
"""An operation without its flags FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME."""
FUTEX_INHERITING = (6, 7, 8, 11, 12, 13)
"""Operations of priority inheritance: their word in memory names a thread of any process."""
CLOCKS, CLOCK_OF_PROCESS, CLOCK_OF_THREAD = 0xFFFFFFF0, -6 & 0xFFFFFFFF, -2 & 0xFFFFFFFF
"""The mask of the clocks 0 to 15, and those of the caller; other negative numbers name any process."""


@dataclass(frozen=True)
class When:
    """One argument, masked, has a value. 64 bits wide."""

    argument: int
    value: int
    mask: int = 0xFFFFFFFF


@dataclass(frozen=True)
class Rule:
    """`call` gets `answer` where all conditions hold; always where there are none."""

    call: str
    answer: int
    when: tuple[When, ...] = ()


def deny(number: int) -> int:
    return _DENY | number


def _denied(call: str, *when: When, number: int = errno.EPERM) -> Rule:
    return Rule(call, deny(number), when)


def _allowed(call: str, *when: When) -> Rule:
    return Rule(call, ALLOW, when)


_OPENS = [(call, at) for call, at in (("open", 1), ("openat", 2)) if call in CONDITIONAL]
_POINTER = 0xFFFFFFFF_FFFFFFFF

RULES = [
    # Opening for reading must not truncate: Landlock before ABI 3 would not notice.
    *(_denied(call, When(at, O_TRUNC, O_ACCMODE | O_TRUNC)) for call, at in _OPENS),
    # A file without a name is on the disk and in no folder, where supervision would count it.
    *(_denied(call, When(at, O_UNNAMED, O_UNNAMED), number=errno.EOPNOTSUPP) for call, at in _OPENS),
    *(_allowed(call) for call, _ in _OPENS),
    # Takes any number of bytes at once, past the limit of a file too, before supervision looks again.
    _denied("fallocate", number=errno.EOPNOTSUPP),
    # Memory shared with nobody would escape the limit on private memory.
    _denied("mmap", When(3, MAP_SHARED | MAP_ANONYMOUS, MAP_SHARED | MAP_ANONYMOUS)),
    _allowed("mmap"),
    # A lock that names a thread of another process says whether it exists, and lends it our priority.
    *(_denied("futex", When(1, command, FUTEX_COMMAND), number=errno.ENOSYS) for command in FUTEX_INHERITING),
    _allowed("futex"),
    # Threads, not processes, and of one table of descriptors: each table has a limit of its own.
    # clone3 hides its flags in memory, so glibc must fall back to clone.
    _allowed("clone", When(0, CLONE_THREAD, CLONE_THREAD)),
    _denied("clone3", number=errno.ENOSYS),
    _denied("close_range", When(2, CLOSE_RANGE_UNSHARE, CLOSE_RANGE_UNSHARE)),
    _allowed("close_range"),
    *(_allowed("ioctl", When(1, command)) for command in (TCGETS, TIOCGWINSZ, FIONBIO, FIOCLEX)),
    *(_allowed("fcntl", When(1, command)) for command in FCNTL),
    _allowed("sched_setaffinity", When(0, 0)),
    *(_allowed("prctl", When(0, option)) for option in (PR_SET_NAME, PR_SET_VMA)),
    *(
        _allowed(call, when)
        for call in ("clock_gettime", "clock_getres", "clock_nanosleep")
        for when in (When(0, 0, CLOCKS), When(0, CLOCK_OF_PROCESS), When(0, CLOCK_OF_THREAD))
    ),
    # Last: the kernel remembers which calls are always allowed, and runs the filter for the others only.
    *(_allowed(call) for call in ALLOWED),
]
"""The first rule that fits a call decides."""

OF_A_PROCESS = ("sched_getaffinity", "sched_getparam", "sched_getscheduler", "getpgid", "getsid")
"""Calls whose first argument is a process: asked of every number, they would count those of the host."""


def program(pid: int) -> bytes:
    """The filter of one cell, whose process id is `pid`."""
    return _HEADER + assemble(own_rules(pid)) + _SHARED + _code(_RETURN, deny(errno.EPERM))


def own_rules(pid: int) -> list[Rule]:
    """What a process may ask of itself and of no other.

    Signals, because `raise` and `abort` need them; not SIGKILL, which thereby comes from outside or the kernel.
    Limits are read and not set.
    """
    return [
        _denied("kill", When(1, SIGKILL)),
        _denied("tgkill", When(2, SIGKILL)),
        *(_allowed(call, When(0, pid)) for call in ("kill", "tgkill")),
        *(_allowed(call, When(0, number)) for call in OF_A_PROCESS for number in (0, pid)),
        *(_allowed("prlimit64", When(0, number), When(2, 0, _POINTER)) for number in (0, pid)),
    ]


def assemble(rules: Iterable[Rule]) -> bytes:
    """Rules as BPF, in their order."""
    return b"".join(line for rule in rules for line in _compile(rule))


def install(code: bytes) -> None:
    """Bind every thread of this process for good; needs no_new_privs."""
    buffer = ctypes.create_string_buffer(code, len(code))
    header = ctypes.create_string_buffer(
        struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(buffer))  # struct sock_fprog
    )
    unbound = syscall(SETTING_UP["seccomp"], SECCOMP_SET_MODE_FILTER, FLAG_TSYNC, header, what="seccomp")
    if unbound:
        raise OSError(errno.EBUSY, f"seccomp: thread {unbound} could not be bound")


def _compile(rule: Rule) -> list[bytes]:
    body = _test(rule.when, rule.answer) if rule.when else [_code(_RETURN, rule.answer)]
    number = {**ALLOWED, **CONDITIONAL}[rule.call]
    return [_code(_JUMP_EQUAL, number, if_false=len(body)), *body]


def _test(conditions: Iterable[When], answer: int) -> list[bytes]:
    """Both halves of each argument; then load the call's number again for the rules that follow."""
    halves = [half for when in conditions for half in _halves(when)]
    lines: list[bytes] = []
    for place, (at, mask, value) in enumerate(halves):
        to_reload = 3 * (len(halves) - place - 1) + 1
        lines += [_code(_LOAD, at), _code(_AND, mask), _code(_JUMP_EQUAL, value, if_false=to_reload)]
    return [*lines, _code(_RETURN, answer), _code(_LOAD, _NUMBER)]


def _halves(when: When) -> list[tuple[int, int, int]]:
    """Offset, mask and value of the low and the high word, where the mask has bits there."""
    offset = _ARGUMENTS + 8 * when.argument
    low = (offset, when.mask & 0xFFFFFFFF, when.value & 0xFFFFFFFF)
    high = (offset + 4, when.mask >> 32, when.value >> 32)
    return [half for half in (low, high) if half[1]]


def _code(operation: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", operation, if_true, if_false, operand)


# Other architectures and the x32 ABI are killed, so no number means two things.
_HEADER = b"".join(
    [
        _code(_LOAD, _ARCHITECTURE),
        _code(_JUMP_EQUAL, AUDIT_ARCHITECTURES.get(MACHINE, 0), if_true=1),
        _code(_RETURN, KILL),
        _code(_LOAD, _NUMBER),
        _code(_JUMP_AT_LEAST, X32, if_false=1),
        _code(_RETURN, KILL),
    ]
)
_SHARED = assemble(RULES)
