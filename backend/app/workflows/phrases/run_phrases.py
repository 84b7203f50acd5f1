"""Requests to run a saved workflow now: `run my weekly report workflow`, `run it now`."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from app.modeling.problem.name_resolution import nearest_names

MAX_REQUEST_CHARS = 300
"""Characters of a message that is read as such a request: a verb, the longest name and words of politeness."""
_NOUNS = ("workflow", "workflows", "pipeline", "pipelines", "automation", "automations", "flow", "flows")
_NOUN = rf"(?:{'|'.join(_NOUNS)})"
_POLITE = (
    r"(?:(?:please|ok(?:ay)?|and|now|then|also|just|so|can you|could you|would you|will you|let's|"
    r"go ahead and) )*"
)
_VERB = (
    r"(?:re-?run|run|start|execute|launch|kick off|trigger|"
    r"(?:do|make|start|begin) (?:a|another|one more) (?:(?:new|test|trial|manual) )?run of)"
)
_OWNER = re.compile(r"(?:(?:the|my|our|this|that|your) )++", re.IGNORECASE)
_LAST_WORDS = re.compile(
    r" (?:now|again|once|once more|one more time|please|for me|right now|right away|at once|immediately|"
    r"manually|by hand|today)$",
    re.IGNORECASE,
)
_REQUEST = re.compile(rf"{_POLITE}{_VERB} (?P<what>.+)", re.IGNORECASE)
_POINTS_BACK = re.compile(r"(?:it|this|that)", re.IGNORECASE)
_NAMED_LAST = re.compile(
    rf"(?:(?:saved|last|latest) )?{_NOUN}(?: (?:called|named|with the name))?(?: (?P<name>.+))?", re.IGNORECASE
)
_UNNAMED = re.compile(r"(?:saved|last|latest|one|only)", re.IGNORECASE)
_QUOTES = "\"'`\u201c\u201d\u2018\u2019\u00ab\u00bb"
_SCHEDULE = re.compile(
    r"\b(?:every|each|daily|weekly|monthly|hourly|nightly|whenever|when|if|unless|until|at|on|from|in|after|before)\b",
    re.IGNORECASE,
)
"""Words that say when something runs, or under which condition: after the word
`workflow` they begin no name."""


class RunWords(NamedTuple):
    """The words for the workflow to run. `name`: empty where they say `it`, or only that it is one."""

    name: str
    says_workflow: bool
    is_quoted: bool = False


class NameMatch(NamedTuple):
    """Places of the names that words may mean. `is_guess`: the words are only near to them."""

    places: list[int]
    is_guess: bool = False


def read_run_words(message: str) -> RunWords | None:
    """Read a message that asks for a run, and for nothing else; None for another one."""
    # One character over the limit tells that the message is longer.
    text = " ".join(message[: MAX_REQUEST_CHARS + 1].split()).rstrip(" .!?")
    request = _REQUEST.fullmatch(text) if len(text) <= MAX_REQUEST_CHARS else None
    if request is None:
        return None
    what, rest = request["what"], ""
    # Several such words may stand at the end: `run it again now please`.
    while what != rest:
        what, rest = _LAST_WORDS.sub("", what), what
    if _POINTS_BACK.fullmatch(what):
        return RunWords("", says_workflow=False)
    owner = _OWNER.match(what)
    bare = what[owner.end() :] if owner else what
    last = _NAMED_LAST.fullmatch(bare)
    if last is not None and last["name"] is None:
        return RunWords("", says_workflow=True)
    if last is not None and (_is_quoted(last["name"]) or not _SCHEDULE.match(last["name"])):
        return RunWords(_unquote(last["name"]), says_workflow=True, is_quoted=_is_quoted(last["name"]))
    first, _, noun = bare.rpartition(" ")
    if first and noun.lower() in _NOUNS:
        name = "" if _UNNAMED.fullmatch(first) else _unquote(first)
        return RunWords(name, says_workflow=True, is_quoted=_is_quoted(first))
    return RunWords(_unquote(bare), says_workflow=False, is_quoted=_is_quoted(bare))


def match_names(words: RunWords, names: Sequence[str]) -> NameMatch:
    """Find the workflows that a name may mean: those of this name, else those with its words in a row.

    Where the message says that it is a workflow, names that are spelled like it count as guesses.
    """
    target = _list_words(words.name)
    if not target:
        return NameMatch([])
    places = [place for place, name in enumerate(names) if _list_words(name) == target]
    if not places:
        places = [place for place, name in enumerate(names) if _contains(_list_words(name), target)]
    if places or not (words.says_workflow or words.is_quoted):
        return NameMatch(places)
    # Only where the message says that it is a workflow: `run the numbers` is near to many names.
    close = nearest_names(words.name, names)
    return NameMatch([names.index(name) for name in close], is_guess=True)


def _contains(words: Sequence[str], target: Sequence[str]) -> bool:
    return any([*words[place : place + len(target)]] == [*target] for place in range(len(words)))


def _list_words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def _is_quoted(text: str) -> bool:
    return len(text) > 2 and text[0] in _QUOTES and text[-1] in _QUOTES


def _unquote(text: str) -> str:
    return text.strip(f"{_QUOTES} ")
