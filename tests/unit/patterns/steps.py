"""A backtracking matcher that counts its steps, so that growth is measured without a clock.

It explores alternatives in the order of the standard library's `re` (a test compares their matches) and skips
what `re` skips: starts whose character cannot begin a match, and alternatives likewise. A count is the same on
every machine, so a test that compares counts cannot fail because a machine is slow.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from re import _constants as ops  # type: ignore[attr-defined] # the parser of the standard library
from re import _parser as parser  # type: ignore[attr-defined] # the same
from typing import Any

MAX_OPERATIONS = 200_000
"""Instructions for one text, after which a search is given up: a linear one of 2,000 characters takes fewer."""


MAX_BOUND = 1_000
"""Repeats up to which a bound counts as one: of a goal's 10,000 characters a wider one leaves out little."""
NARROW = 12
"""Repeats in place of a wider bound."""

_WHOLE_PATTERN = -1
"""In place of an end that is refused: only the end of the text is an end."""


class TooManySteps(Exception):
    """A search took more instructions than it may."""


Predicate = Callable[[str], bool]
Counters = tuple[tuple[int, int], ...]
"""Iterations and start of the present iteration, of each repeat that is open."""
Groups = dict[int, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class _Character:
    fits: Predicate


@dataclass(frozen=True, slots=True)
class _Run:
    """A repeat of one character: `re` scans it in one go, and gives back one character at a time."""

    fits: Predicate
    low: int
    high: int
    greedy: bool


@dataclass(slots=True)
class _Branch:
    """Alternatives: their first characters (None: any), and where each begins."""

    ways: list[tuple[Predicate | None, int]] = field(default_factory=list)


@dataclass(slots=True)
class _Jump:
    target: int = 0


@dataclass(frozen=True, slots=True)
class _Enter:
    """Open a repeat."""


@dataclass(slots=True)
class _Again:
    """Close an iteration: go to the body or leave."""

    body: int
    low: int
    high: int
    greedy: bool


@dataclass(frozen=True, slots=True)
class _Mark:
    group: int
    end: bool


@dataclass(frozen=True, slots=True)
class _Position:
    holds: Callable[[str, int], bool]


@dataclass(frozen=True, slots=True)
class _Inside:
    """A look-around (width back, wanted) or an atomic group (atomic)."""

    program: "list[Any]"
    atomic: bool
    is_positive: bool = True
    back: int = 0


@dataclass(frozen=True, slots=True)
class _Backreference:
    group: int
    fold: bool


@dataclass(slots=True)
class _IfGroup:
    group: int
    otherwise: int = 0


class CountingMatcher:
    """Count the steps of `re` for one pattern. `steps` adds up over its calls.

    With `narrow`, a repeat of up to MAX_BOUND is bounded by NARROW more than its least number instead. That
    changes matches, but not whether growth is linear in the limit, and shows it on texts that are far shorter.
    """

    def __init__(
        self, pattern: "re.Pattern[Any]", *, narrow: bool = False, max_operations: int = MAX_OPERATIONS
    ) -> None:
        source = pattern.pattern
        # Bytes are matched as characters of the same numbers.
        self._ascii = isinstance(source, bytes) or bool(pattern.flags & re.ASCII)
        text = source.decode("latin-1") if isinstance(source, bytes) else source
        tree = parser.parse(text, pattern.flags & ~re.UNICODE & ~re.DEBUG)
        self.steps = 0
        self._narrow = narrow
        self._operations, self._max_operations = 0, max_operations
        self._program: list[Any] = []
        self._compile(list(tree), pattern.flags, self._program)
        self._first = self._first_of(list(tree), pattern.flags)

    def match(self, text: str, *, full: bool = False) -> tuple[int, int] | None:
        """The span of a match at the start of a text, or of all of it. Raises TooManySteps."""
        self._operations = 0
        end = self._run(self._program, text, 0, {}, _WHOLE_PATTERN if full else None)
        return None if end is None else (0, end)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The spans of all matches, as `re.finditer` finds them. Raises TooManySteps."""
        self._operations = 0
        start, after_empty = 0, False
        while start <= len(text):
            self.steps += 1
            if self._first is not None and (start == len(text) or not self._first(text[start])):
                start, after_empty = start + 1, False
                continue
            # After an empty match `re` looks for a longer one at the same place before it goes on.
            end = self._run(self._program, text, start, {}, start if after_empty else None)
            if end is None:
                start, after_empty = start + 1, False
                continue
            yield start, end
            start, after_empty = end, start == end

    # Compilation

    def _compile(self, nodes: list[Any], flags: int, into: list[Any]) -> None:
        for op, value in nodes:
            self._compile_node(op, value, flags, into)

    def _compile_node(self, op: Any, value: Any, flags: int, into: list[Any]) -> None:  # noqa: C901 - one case for each node
        if op in _CHARACTERS:
            into.append(_Character(self._predicate(op, value, flags)))
        elif op in _REPEATS:
            self._compile_repeat(op, value, flags, into)
        elif op is ops.SUBPATTERN:
            group, added, removed, body = value
            inner_flags = (flags | added) & ~removed
            if group is not None:
                into.append(_Mark(group, end=False))
            self._compile(list(body), inner_flags, into)
            if group is not None:
                into.append(_Mark(group, end=True))
        elif op is ops.BRANCH:
            self._compile_branch([list(way) for way in value[1]], flags, into)
        elif op is ops.ATOMIC_GROUP:
            into.append(_Inside(self._separate(list(value), flags), atomic=True))
        elif op in (ops.ASSERT, ops.ASSERT_NOT):
            direction, body = value
            back = body.getwidth()[0] if direction < 0 else 0
            into.append(
                _Inside(
                    self._separate(list(body), flags), atomic=False, is_positive=op is ops.ASSERT, back=back
                )
            )
        elif op is ops.AT:
            into.append(_Position(_position(value, flags, ascii_only=self._ascii or bool(flags & re.ASCII))))
        elif op is ops.GROUPREF:
            into.append(_Backreference(value, fold=bool(flags & re.IGNORECASE)))
        elif op is ops.GROUPREF_EXISTS:
            group, yes, no = value
            test = _IfGroup(group)
            into.append(test)
            self._compile(list(yes), flags, into)
            leave = _Jump()
            into.append(leave)
            test.otherwise = len(into)
            self._compile(list(no or []), flags, into)
            leave.target = len(into)
        elif op is ops.FAILURE:
            into.append(_Position(lambda text, position: False))
        else:
            raise NotImplementedError(f"The matcher does not know {op}.")

    def _separate(self, nodes: list[Any], flags: int) -> list[Any]:
        program: list[Any] = []
        self._compile(nodes, flags, program)
        return program

    def _compile_repeat(self, op: Any, value: Any, flags: int, into: list[Any]) -> None:
        low, high, body = value
        if self._narrow and high - low <= MAX_BOUND:
            high = low + min(high - low, NARROW)
        nodes = list(body)
        if op is ops.POSSESSIVE_REPEAT:
            greedy = self._separate([(ops.MAX_REPEAT, value)], flags)
            into.append(_Inside(greedy, atomic=True))
        elif len(nodes) == 1 and nodes[0][0] in _CHARACTERS:
            into.append(_Run(self._predicate(*nodes[0], flags), low, int(high), op is ops.MAX_REPEAT))
        else:
            into.append(_Enter())
            opening = _Again(0, low, int(high), op is ops.MAX_REPEAT)
            into.append(opening)
            leave = _Jump()
            into.append(leave)
            opening.body = len(into)
            self._compile(nodes, flags, into)
            into.append(_Again(opening.body, low, int(high), op is ops.MAX_REPEAT))
            leave.target = len(into)

    def _compile_branch(self, ways: list[list[Any]], flags: int, into: list[Any]) -> None:
        branch = _Branch()
        into.append(branch)
        leaves = []
        for way in ways:
            branch.ways.append((self._first_of(way, flags), len(into)))
            self._compile(way, flags, into)
            leaves.append(_Jump())
            into.append(leaves[-1])
        for leave in leaves:
            leave.target = len(into)

    def _predicate(self, op: Any, value: Any, flags: int) -> Predicate:
        """Return a cached predicate that is true if a character fits a node."""
        ascii_only = self._ascii or bool(flags & re.ASCII)
        fold = bool(flags & re.IGNORECASE)
        any_line = bool(flags & re.DOTALL)

        @cache
        def fits(letter: str) -> bool:
            if op is ops.ANY:
                return any_line or letter != "\n"
            forms = {letter, letter.lower(), letter.upper()} if fold else {letter}
            if op is ops.LITERAL:
                return any(ord(form) == value for form in forms if len(form) == 1)
            if op is ops.NOT_LITERAL:
                return all(ord(form) != value for form in forms if len(form) == 1)
            items = value[1:] if value[0][0] is ops.NEGATE else value
            inside = any(
                _in_class(kind, item, form, ascii_only)
                for kind, item in items
                for form in forms
                if len(form) == 1
            )
            return inside != (items is not value)

        return fits

    def _first_of(self, nodes: list[Any], flags: int) -> Predicate | None:
        """Return a predicate of first characters of a match; None if an empty match is possible or unknown."""
        for op, value in nodes:
            if op in _CHARACTERS:
                return self._predicate(op, value, flags)
            if op in _REPEATS:
                return self._first_of(list(value[2]), flags) if value[0] > 0 else None
            if op is ops.SUBPATTERN:
                return self._first_of(list(value[3]), (flags | value[1]) & ~value[2])
            if op is ops.ATOMIC_GROUP:
                return self._first_of(list(value), flags)
            if op is ops.BRANCH:
                firsts = [self._first_of(list(way), flags) for way in value[1]]
                known_predicates = [first for first in firsts if first is not None]
                if len(known_predicates) < len(firsts):
                    return None
                return cache(
                    lambda letter, known_predicates=tuple(known_predicates): any(
                        first(letter) for first in known_predicates
                    )
                )
            if op not in (ops.AT, ops.ASSERT, ops.ASSERT_NOT):
                return None
        return None

    # Matching

    def _run(  # noqa: C901 - a loop over instructions: a call for each would triple the time
        self, program: list[Any], text: str, start: int, groups: Groups, refused_end: int | None = None
    ) -> int | None:
        """The end of the first match of a program from a start; groups are changed where it matches.

        A match that ends at `refused_end` does not count; for _WHOLE, one that ends before the text does.
        """
        size, length = len(program), len(text)
        # Alternatives not tried yet: instruction, position, counters, groups, and for runs the last position.
        stack: list[tuple[int, int, Counters, Groups, int, int]] = [(0, start, (), groups, start, 0)]
        steps, most_steps = 0, self._max_operations - self._operations
        while stack:
            at, position, counters, marks, last, by = stack.pop()
            if by and position != last and (by < 0 or program[at - 1].fits(text[position])):
                stack.append((at, position + by, counters, marks, last, by))
            while True:
                steps += 1
                if steps > most_steps:
                    raise TooManySteps
                if at == size:
                    if position == refused_end or (refused_end == _WHOLE_PATTERN and position < length):
                        break
                    if marks is not groups:
                        groups.update(marks)
                    self._count(steps)
                    return position
                step = program[at]
                kind = type(step)
                if kind is _Character:
                    if position == length or not step.fits(text[position]):
                        break
                    at, position = at + 1, position + 1
                elif kind is _Run:
                    min_position = position + step.low
                    max_position = min(length, position + step.high)
                    end = self._scan(
                        step.fits,
                        text,
                        position,
                        max_position if step.greedy else min(min_position, max_position),
                    )
                    if end < min_position:
                        break
                    if step.greedy and end > min_position:
                        stack.append((at + 1, end - 1, counters, marks, min_position, -1))
                    elif not step.greedy and min_position < max_position and step.fits(text[min_position]):
                        stack.append((at + 1, min_position + 1, counters, marks, max_position, 1))
                    at, position = at + 1, end
                elif kind is _Branch:
                    letter = text[position] if position < length else None
                    ways = [
                        target
                        for first_fits, target in step.ways
                        if first_fits is None or (letter is not None and first_fits(letter))
                    ]
                    if not ways:
                        break
                    for target in reversed(ways[1:]):
                        stack.append((target, position, counters, marks, position, 0))
                    at = ways[0]
                elif kind is _Jump:
                    at = step.target
                elif kind is _Enter:
                    counters = (*counters, (-1, -1))
                    at += 1
                elif kind is _Again:
                    count, iteration_start = counters[-1]
                    count += 1
                    outside = at + 1
                    within = (*counters[:-1], (count, position))
                    # As in `re`, an iteration that took nothing ends the repeat.
                    may_go_on = count < step.high and position != iteration_start
                    if count < step.low:
                        at, counters = step.body, within
                    elif not may_go_on:
                        at, counters = outside, counters[:-1]
                    elif step.greedy:
                        stack.append((outside, position, counters[:-1], marks, position, 0))
                        at, counters = step.body, within
                    else:
                        stack.append((step.body, position, within, marks, position, 0))
                        at, counters = outside, counters[:-1]
                elif kind is _Mark:
                    begin, end = marks.get(step.group, (position, -1))
                    marks = {**marks, step.group: (begin, position) if step.end else (position, -1)}
                    at += 1
                elif kind is _Position:
                    if not step.holds(text, position):
                        break
                    at += 1
                elif kind is _Inside:
                    inner = dict(marks)
                    begin = position - step.back
                    self._count(steps)
                    end = self._run(step.program, text, begin, inner) if begin >= 0 else None
                    steps, most_steps = 0, self._max_operations - self._operations
                    if step.atomic:
                        if end is None:
                            break
                        marks, position = inner, end
                    elif (end is not None) != step.is_positive:
                        break
                    elif step.is_positive:
                        marks = inner
                    at += 1
                elif kind is _Backreference:
                    begin, end = marks.get(step.group, (0, -1))
                    group, here = text[begin:end], text[position : position + end - begin]
                    if end < 0 or (group.lower() != here.lower() if step.fold else group != here):
                        break
                    at, position = at + 1, position + len(group)
                else:
                    at = at + 1 if marks.get(step.group, (0, -1))[1] >= 0 else step.otherwise
        self._count(steps)
        return None

    def _count(self, steps: int) -> None:
        """Add steps of a search, which counts them in a variable: attributes took a sixth longer."""
        self._operations += steps
        self.steps += steps

    def _scan(self, fits: Predicate, text: str, position: int, limit: int) -> int:
        """Return the end of a run of fitting characters, at most the limit."""
        end = min(position, limit)
        while end < limit and fits(text[end]):
            end += 1
        self.steps += end - position
        return end


_CHARACTERS = frozenset({ops.LITERAL, ops.NOT_LITERAL, ops.ANY, ops.IN})
_REPEATS = frozenset({ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT})


def _in_class(kind: Any, item: Any, letter: str, ascii_only: bool) -> bool:
    if kind is ops.LITERAL:
        return ord(letter) == item
    if kind is ops.RANGE:
        return bool(item[0] <= ord(letter) <= item[1])
    return re.match(_CATEGORIES[item], letter, re.ASCII if ascii_only else 0) is not None


_CATEGORIES = {
    ops.CATEGORY_DIGIT: r"\d",
    ops.CATEGORY_NOT_DIGIT: r"\D",
    ops.CATEGORY_SPACE: r"\s",
    ops.CATEGORY_NOT_SPACE: r"\S",
    ops.CATEGORY_WORD: r"\w",
    ops.CATEGORY_NOT_WORD: r"\W",
}


@cache
def _is_word_character(letter: str, ascii_only: bool) -> bool:
    return _in_class(ops.CATEGORY, ops.CATEGORY_WORD, letter, ascii_only)


def _position(kind: Any, flags: int, *, ascii_only: bool) -> Callable[[str, int], bool]:
    def is_word(text: str, position: int) -> bool:
        return 0 <= position < len(text) and _is_word_character(text[position], ascii_only)

    def is_boundary(text: str, position: int) -> bool:
        return is_word(text, position - 1) != is_word(text, position)

    multiline = bool(flags & re.MULTILINE)
    return {
        ops.AT_BEGINNING: lambda text, at: at == 0 or (multiline and text[at - 1] == "\n"),
        ops.AT_BEGINNING_STRING: lambda text, at: at == 0,
        ops.AT_END: lambda text, at: (
            at == len(text) or (text[at] == "\n" and (multiline or at == len(text) - 1))
        ),
        ops.AT_END_STRING: lambda text, at: at == len(text),
        ops.AT_BOUNDARY: is_boundary,
        ops.AT_NON_BOUNDARY: lambda text, at: not is_boundary(text, at),
    }[kind]
