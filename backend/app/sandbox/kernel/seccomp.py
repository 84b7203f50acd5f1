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
CLONE_THREAD = 0x10000
MAP_SHARED, MAP_ANONYMOUS = 0x01, 0x20
O_ACCMODE, O_TRUNC = 0o3, 0o1000
# Duplicating, flags and locks; not F_SETOWN or F_SETSIG, which make the kernel send signals to others.
FCNTL = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032)
TCGETS, TIOCGWINSZ, FIONBIO, FIOCLEX = 0x5401, 0x5413, 0x5421, 0x5451
PR_SET_NAME, PR_SET_VMA = 15, 0x53564D41
SECCOMP_SET_MODE_FILTER, FLAG_TSYNC = 1, 1


@dataclass(frozen=True)
class When:
    """One argument, masked, has a value. 64 bits wide."""

    argument: int
    value: int
    mask: int = 0xFFFFFFFF


@dataclass(frozen=True)
class Rule:
    """`call` gets `answer` if the condition holds, or always if there is none."""

    call: str
    answer: int
    when: When | None = None


def deny(number: int) -> int:
    return _DENY | number


_OPENS = [(call, at) for call, at in (("open", 1), ("openat", 2)) if call in CONDITIONAL]

RULES = [
    *(Rule(call, ALLOW) for call in ALLOWED),
    # Opening for reading must not truncate: Landlock before ABI 3 would not notice.
    *(Rule(call, deny(errno.EPERM), When(at, O_TRUNC, O_ACCMODE | O_TRUNC)) for call, at in _OPENS),
    *(Rule(call, ALLOW) for call, _ in _OPENS),
    # Memory shared with nobody would escape the limit on private memory.
    Rule("mmap", deny(errno.EPERM), When(3, MAP_SHARED | MAP_ANONYMOUS, MAP_SHARED | MAP_ANONYMOUS)),
    Rule("mmap", ALLOW),
    # Threads, not processes. clone3 hides its flags in memory, so glibc must fall back to clone.
    Rule("clone", ALLOW, When(0, CLONE_THREAD, CLONE_THREAD)),
    Rule("clone3", deny(errno.ENOSYS)),
    # Reading one's limits, not setting them.
    Rule("prlimit64", ALLOW, When(2, 0, 0xFFFFFFFF_FFFFFFFF)),
    *(Rule("ioctl", ALLOW, When(1, command)) for command in (TCGETS, TIOCGWINSZ, FIONBIO, FIOCLEX)),
    *(Rule("fcntl", ALLOW, When(1, command)) for command in FCNTL),
    Rule("sched_setaffinity", ALLOW, When(0, 0)),
    *(Rule("prctl", ALLOW, When(0, option)) for option in (PR_SET_NAME, PR_SET_VMA)),
]
"""The first rule that fits a call decides."""


def program(pid: int) -> bytes:
    """The filter of one cell, whose process id is `pid`."""
    return _HEADER + assemble(own_rules(pid)) + _SHARED + _code(_RETURN, deny(errno.EPERM))


def own_rules(pid: int) -> list[Rule]:
    """Signals to oneself: `raise` and `abort` need them."""
    return [Rule("kill", ALLOW, When(0, pid)), Rule("tgkill", ALLOW, When(0, pid))]


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
    body = [] if rule.when is None else _test(rule.when, rule.answer)
    body = body or [_code(_RETURN, rule.answer)]
    number = {**ALLOWED, **CONDITIONAL}[rule.call]
    return [_code(_JUMP_EQUAL, number, if_false=len(body)), *body]


def _test(when: When, answer: int) -> list[bytes]:
    """Both halves of the argument; then load the call's number again for the rules that follow."""
    offset = _ARGUMENTS + 8 * when.argument
    low = (offset, when.mask & 0xFFFFFFFF, when.value & 0xFFFFFFFF)
    high = (offset + 4, when.mask >> 32, when.value >> 32)
    halves = [half for half in (low, high) if half[1]]
    lines: list[bytes] = []
    for place, (at, mask, value) in enumerate(halves):
        to_reload = 3 * (len(halves) - place - 1) + 1
        lines += [_code(_LOAD, at), _code(_AND, mask), _code(_JUMP_EQUAL, value, if_false=to_reload)]
    return [*lines, _code(_RETURN, answer), _code(_LOAD, _NUMBER)]


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
