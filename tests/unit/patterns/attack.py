"""Texts that are made from a pattern to make it slow, and the growth of its time with their length."""

import re
import signal
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from re import _constants as ops  # type: ignore[attr-defined] # the parser of the standard library
from re import _parser as parser  # type: ignore[attr-defined] # the same
from typing import Any

ALPHABET = "a1_ -.,;:'\"`()[]{}<>\\/|=+*~!?$%@#é\n\t"
VARIANTS = 6
"""Samples of a node, at most: every alternative is tried at its own place too."""
MAX_SAMPLE = 60
ENDINGS = ("\0", "", "\n!")
"""Ends that let a match fail late. The first suffices for all but what takes any character."""
MAX_UNITS = 200
"""Repeated pieces that are tried for one pattern: evenly chosen where there are more."""
FIRST, LAST = 4_000, 64_000
"""Characters of the shortest and the longest text."""
SCREEN_S, MEASURED_S, HANG_S = 0.001, 0.03, 1.0
"""CPU seconds: what is faster than the first is not looked at again; what is compared takes the second; and a
search that takes the third is stopped. A linear search of the longest text takes under 0.01."""
SUPERLINEAR = 2.0**1.5
"""Ratio of times when the length doubles: 2 is linear, 4 quadratic."""


@dataclass(frozen=True)
class Growth:
    """Ratio of CPU times at double length, and the text that has it. Infinite where a search was stopped."""

    ratio: float
    length: int
    text: str


def attacks(pattern: "re.Pattern[Any]") -> list[Callable[[int], str]]:
    """Makers of texts of about a length. Each begins like a match again and again, and fails late."""
    source = pattern.pattern
    text = source.decode("latin-1") if isinstance(source, bytes) else source
    tree = parser.parse(text, pattern.flags & ~re.UNICODE & ~re.DEBUG)
    letters = "".join(dict.fromkeys(ALPHABET + "".join(_literals(tree))))[:120]
    units: dict[tuple[str, str], None] = {}
    for prefix, pump in _pumps(list(tree), [""], letters):
        for head, body in ((prefix, pump), ("", prefix + pump), ("", prefix + pump + " "), ("", pump)):
            if body and len(body) <= 4 * MAX_SAMPLE:
                units[head[-MAX_SAMPLE:], body] = None
    chosen = list(units)[:: max(1, len(units) // MAX_UNITS)]
    return [_maker(head, body, end) for head, body in chosen for end in ENDINGS[: 3 if len(body) == 1 else 1]]


def _maker(head: str, body: str, ending: str) -> Callable[[int], str]:
    return lambda length: head + body * (length // len(body) + 1) + ending


def _pumps(nodes: list[Any], prefixes: list[str], letters: str) -> Iterator[tuple[str, str]]:
    """A text that leads to each repeat, and one that it repeats; also what leads to every node."""
    for i, (op, value) in enumerate(nodes):
        for prefix in prefixes:
            yield prefix, ""
        for inner in _parts(op, value):
            yield from _pumps(inner, prefixes, letters)
        if op in _REPEATS:
            body = _of_sequence(list(value[2]), letters)
            after = _of_sequence(nodes[i + 1 : i + 3], letters)[:2]
            for prefix in prefixes:
                for one in [*body, *after]:
                    yield prefix, one
        here = _of_node(op, value, letters)
        joined = [prefix + one for prefix in prefixes for one in here]
        prefixes = list(dict.fromkeys([*joined[:: max(1, len(joined) // 3)]]))[:4]
    for prefix in prefixes:
        yield prefix, ""


_REPEATS = {ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT}


def _parts(op: Any, value: Any) -> list[list[Any]]:
    if op in _REPEATS:
        return [list(value[2])]
    if op is ops.SUBPATTERN:
        return [list(value[3])]
    if op is ops.ATOMIC_GROUP:
        return [list(value)]
    if op is ops.BRANCH:
        return [list(one) for one in value[1]]
    if op in (ops.ASSERT, ops.ASSERT_NOT):
        return [list(value[1])]
    if op is ops.GROUPREF_EXISTS:
        return [list(one) for one in value[1:] if one is not None]
    return []


def _of_sequence(nodes: list[Any], letters: str) -> list[str]:
    samples = [""]
    for op, value in nodes:
        here = _of_node(op, value, letters)
        samples = [one + more for one in samples for more in here][: VARIANTS * 4]
    return list(dict.fromkeys(one[:MAX_SAMPLE] for one in samples))[: VARIANTS * 4]


def _of_node(op: Any, value: Any, letters: str) -> list[str]:
    """Texts that a node matches."""
    if op is ops.LITERAL:
        return [chr(value)]
    if op in (ops.NOT_LITERAL, ops.ANY, ops.IN):
        matches = [one for one in letters if _fits(op, value, one)]
        return (matches or ["x"])[:12]
    if op in _REPEATS:
        low, high, body = value
        samples = _of_sequence(list(body), letters)
        return [one * max(low, min(1, high)) for one in samples[:VARIANTS]] + ([""] if low == 0 else [])
    if op is ops.BRANCH:
        return [one for branch in value[1] for one in _of_sequence(list(branch), letters)[:2]][: VARIANTS * 4]
    if op is ops.SUBPATTERN:
        return _of_sequence(list(value[3]), letters)
    if op is ops.ATOMIC_GROUP:
        return _of_sequence(list(value), letters)
    return [""]


def _fits(op: Any, value: Any, letter: str) -> bool:
    if op is ops.ANY:
        return letter != "\n"
    if op is ops.NOT_LITERAL:
        return ord(letter) != value
    negated = value[0][0] is ops.NEGATE
    return any(_in_class(kind, item, letter) for kind, item in value if kind is not ops.NEGATE) != negated


def _in_class(kind: Any, item: Any, letter: str) -> bool:
    if kind is ops.LITERAL:
        return ord(letter) == item
    if kind is ops.RANGE:
        return bool(item[0] <= ord(letter) <= item[1])
    return re.match(_CATEGORIES[item], letter) is not None


_CATEGORIES = {
    ops.CATEGORY_DIGIT: r"\d",
    ops.CATEGORY_NOT_DIGIT: r"\D",
    ops.CATEGORY_SPACE: r"\s",
    ops.CATEGORY_NOT_SPACE: r"\S",
    ops.CATEGORY_WORD: r"\w",
    ops.CATEGORY_NOT_WORD: r"\W",
}


def _literals(nodes: Iterable[Any]) -> Iterator[str]:
    for op, value in nodes:
        if op is ops.LITERAL:
            yield chr(value)
        elif op is ops.IN:
            yield from (chr(item) for kind, item in value if kind is ops.LITERAL)
        for part in _parts(op, value):
            yield from _literals(part)


class Hangs(Exception):
    """A search took longer than HANG_S of CPU time."""


@contextmanager
def _stopped_after(seconds: float) -> Iterator[None]:
    """The matcher of `re` looks for signals while it works, so it can be stopped by one."""

    def stop(*_: object) -> None:
        raise Hangs

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@dataclass(frozen=True)
class _Run:
    """Matches of a pattern as the application looks for them."""

    pattern: "re.Pattern[Any]"
    anchored: bool

    def cpu_s(self, text: str, times: int = 1) -> float:
        """The least of some measurements."""
        subject: Any = text.encode("utf-8", "ignore") if isinstance(self.pattern.pattern, bytes) else text
        taken = []
        for _ in range(times):
            begun = time.thread_time()
            if self.anchored:
                self.pattern.match(subject)
                self.pattern.fullmatch(subject)
            else:
                for _match in self.pattern.finditer(subject):
                    pass
            taken.append(time.thread_time() - begun)
        return min(taken)


def growth(pattern: "re.Pattern[Any]", *, anchored: bool = False) -> Growth | None:
    """The steepest growth over any text that is slow enough to be measured; None when none is."""
    worst: Growth | None = None
    makers = attacks(pattern)
    run = _Run(pattern, anchored)
    # A pattern of many alternatives is slow everywhere: a text stands out when it is slower than most others.
    try:
        usual = statistics.median(_usual_s(run, make) for make in makers[:: max(1, len(makers) // 9)])
    except Hangs:
        return Growth(float("inf"), FIRST // 10, "a short text")
    for make in makers:
        found = _growth_on(run, make, max(SCREEN_S, 3 * usual))
        if found and (worst is None or found.ratio > worst.ratio):
            worst = found
        if worst and worst.ratio > SUPERLINEAR:
            break
    return worst


def _usual_s(run: _Run, make: Callable[[int], str]) -> float:
    """CPU seconds for a tenth of the shortest text, times ten. Raises Hangs."""
    with _stopped_after(HANG_S):
        return 10 * run.cpu_s(make(FIRST // 10))


def _growth_on(run: _Run, make: Callable[[int], str], screen_s: float) -> Growth | None:
    length, text = FIRST, make(FIRST)
    try:
        with _stopped_after(HANG_S):
            taken = run.cpu_s(text)
        if taken < screen_s:
            return None
        while taken < MEASURED_S and length < LAST:
            length *= 2
            with _stopped_after(HANG_S):
                taken = run.cpu_s(make(length))
        with _stopped_after(HANG_S * 20):
            half, full = (run.cpu_s(make(one), times=3) for one in (length // 2, length))
            if full < MEASURED_S or full / half <= SUPERLINEAR:
                return Growth(full / half if full >= MEASURED_S else 0.0, length, text[:80])
            quarter = run.cpu_s(make(length // 4), times=3)
        # Over two doublings as well: one measurement may have met a busy moment.
        return Growth(min(full / half, (full / max(quarter, 1e-9)) ** 0.5), length, text[:80])
    except Hangs:
        return Growth(float("inf"), length, text[:80])
