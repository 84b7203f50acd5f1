"""System call numbers as the kernel's headers give them, for the two architectures that cells run on.

Rows are `name x86_64 aarch64`; `-` where the architecture lacks the call.
"""

import platform
from typing import NamedTuple

_ALLOWED = """
read 0 63            write 1 64           readv 19 65          writev 20 66         pread64 17 67
pwrite64 18 68       preadv 295 69        pwritev 296 70       lseek 8 62           close 3 57
fstat 5 80           newfstatat 262 79    stat 4 -             lstat 6 -
statx 332 291        access 21 -          faccessat 269 48     faccessat2 439 439   readlink 89 -
readlinkat 267 78    getdents 78 -        getdents64 217 61    getcwd 79 17
dup 32 23            dup2 33 -            dup3 292 24          pipe 22 -            pipe2 293 59
ftruncate 77 46      fsync 74 82          fdatasync 75 83      fadvise64 221 223
mkdir 83 -           mkdirat 258 34       unlink 87 -          unlinkat 263 35      rmdir 84 -
rename 82 -          renameat 264 38      renameat2 316 276    umask 95 166         chdir 80 49
flock 73 32          sendfile 40 71       copy_file_range 326 285   statfs 137 43   fstatfs 138 44

munmap 11 215        mprotect 10 226      mremap 25 216        madvise 28 233
brk 12 214           msync 26 227         mincore 27 232       membarrier 324 283   get_mempolicy 239 236
set_mempolicy 238 237

futex_waitv 449 449  rseq 334 293         set_robust_list 273 99
set_tid_address 218 96   sched_yield 24 124   getcpu 309 168
exit 60 93           exit_group 231 94    restart_syscall 219 128   arch_prctl 158 -

nanosleep 35 101     gettimeofday 96 169  time 201 -           times 100 153
timerfd_create 283 85    timerfd_settime 286 86    getitimer 36 102    setitimer 38 103
alarm 37 -           pause 34 -

rt_sigaction 13 134  rt_sigprocmask 14 135     rt_sigreturn 15 139     rt_sigsuspend 130 133
rt_sigpending 127 136     rt_sigtimedwait 128 137   sigaltstack 131 132

poll 7 -             ppoll 271 73         select 23 -          pselect6 270 72      epoll_create 213 -
epoll_create1 291 20 epoll_ctl 233 21     epoll_wait 232 -     epoll_pwait 281 22   eventfd2 290 19

getpid 39 172        gettid 186 178       getppid 110 173      getpgrp 111 -
getuid 102 174       geteuid 107 175      getgid 104 176       getegid 108 177
getresuid 118 148    getresgid 120 150    getgroups 115 158    getrusage 98 165     getrlimit 97 163
uname 63 160         getrandom 318 278    wait4 61 260
"""

_CONDITIONAL = """
open 2 -             openat 257 56        clone 56 220         clone3 435 435       ioctl 16 29
prlimit64 302 261    prctl 157 167        kill 62 129          tgkill 234 131       fcntl 72 25
sched_setaffinity 203 122 mmap 9 222         close_range 436 436  fallocate 285 47
futex 202 98         sched_getaffinity 204 123      sched_getparam 143 121
sched_getscheduler 145 120   getpgid 121 155        getsid 124 156
clock_gettime 228 113        clock_getres 229 114   clock_nanosleep 230 115
socketpair 53 199
"""

_SETUP = """
capset 126 91        seccomp 317 277      pivot_root 155 41
landlock_create_ruleset 444 444           landlock_add_rule 445 445  landlock_restrict_self 446 446
open_tree 428 428    move_mount 429 429   mount_setattr 442 442
fsopen 430 430       fsconfig 431 431     fsmount 432 432
"""

AUDIT_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
MACHINE = platform.machine()


def _numbers(table: str) -> dict[str, int]:
    # On another processor the module must import, so that the host can be told why it gets no isolation
    # (`isolation.tier_failure`); these numbers are not used there.
    column = {"x86_64": 1, "aarch64": 2}.get(MACHINE, 1)
    words = table.split()
    rows = [words[at : at + 3] for at in range(0, len(words), 3)]
    return {row[0]: int(row[column]) for row in rows if row[column] != "-"}


ALLOWED = _numbers(_ALLOWED)
"""Calls allowed with any arguments: they act on open descriptors, the caller, or paths that Landlock guards."""

CONDITIONAL = _numbers(_CONDITIONAL)
"""Calls allowed with some arguments only: `seccomp.RULES` and `seccomp.own_rules` hold the conditions."""


class SetupCalls(NamedTuple):
    """Numbers of the calls that isolate the cell, before the filter is there."""

    capset: int
    seccomp: int
    pivot_root: int
    landlock_create_ruleset: int
    landlock_add_rule: int
    landlock_restrict_self: int
    open_tree: int
    move_mount: int
    mount_setattr: int
    fsopen: int
    fsconfig: int
    fsmount: int


SETUP = SetupCalls(**_numbers(_SETUP))
