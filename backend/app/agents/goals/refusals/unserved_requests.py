"""Requests that are not served: to send, to schedule, to fetch, to change other systems, to chat."""

import re
from dataclasses import dataclass

from app.agents.goals.clauses import has_request
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set


@dataclass(frozen=True)
class Unserved:
    """A request that is not served: what it asks for, and the nearest thing that is done.

    `has_workflow`: a saved workflow does it, which a conversation proposes.
    """

    what: str
    nearest: str
    has_workflow: bool = False

    @property
    def sentence(self) -> str:
        return f"Labcrew does not {self.what}. {self.nearest}"


_SEND = Unserved(
    "send messages",
    "It can predict which rows a message would concern: name the event as a goal, and send by its predictions.",
    has_workflow=True,
)
_SCHEDULE = Unserved(
    "make appointments, bookings or reminders",
    "It can forecast how many there will be, or predict which of them fail: ask for that.",
)
_TRADE = Unserved(
    "place orders, payments or trades",
    "It can forecast a price or a demand, and test a rule of trading on the past.",
)
_FETCH = Unserved(
    "fetch web pages or look things up outside of your tables",
    "Upload what you know as a table, and ask about that.",
    has_workflow=True,
)
_CHANGE = Unserved(
    "change other systems or the stored rows",
    "It can compute predictions as a table, which your system can load.",
)
_CHAT = Unserved(
    "chat, translate or write texts",
    "Ask about the tables that you uploaded, or for a prediction of one of their columns.",
)
_ADVISE = Unserved(
    "recommend what to do",
    "It can predict what comes of each choice: name the outcome as a goal, and compare its predictions.",
)
_PRINT = Unserved(
    "make documents or print them",
    "It can show the rows that a document is made of: ask for those.",
)

_REQUESTS: tuple[tuple[frozenset[str], Unserved], ...] = (
    (
        word_set(
            "send email mail text sms notify alert message ping whatsapp phone ring tweet post call warn dial"
            " contact reply respond"
        ),
        _SEND,
    ),
    (word_set("remind schedule book reserve invite arrange"), _SCHEDULE),
    (word_set("buy sell transfer refund purchase invest trade order hedge"), _TRADE),
    (word_set("fetch scrape crawl download browse google track search visit open lookup"), _FETCH),
    (
        word_set(
            "update delete insert change reprice deploy restart install migrate overwrite write upload fix edit"
            " approve reject remove rename block ban fire hire switch turn set put add cancel close stop start"
            " pause upgrade rebook reroute reassign promote unsubscribe shut reboot pay"
        ),
        _CHANGE,
    ),
    (word_set("recommend suggest advise optimise optimize maximise maximize"), _ADVISE),
    (word_set("translate sing joke chat talk draft compose tell_joke poem"), _CHAT),
)
"""Verbs at the head of a request. Within a sentence they are often something else ("who will buy")."""

_LEADING = word_set(
    """
    please pls kindly can could would will you i we want need like d id to just always automatically also
    and then hey hi hello labcrew have help us me every each day daily weekly monthly week month morning
    evening night hour should must let lets go the a
    """
)
_AMBIGUOUS = word_set(
    "text order post call open set put add turn close visit search warn alert trade book switch change stop"
    " start contact pause pay upgrade"
)
"""Verbs that are nouns too: they head a request only with an object behind them that no table holds."""
_OBJECT = re.compile(
    r"^(?:me|us|him|her|them|the|a|an|my|our|all|every\w*|in|on|up|off|reminders?|whenever|if|when)\b",
    re.IGNORECASE,
)
_SMALL_TALK = re.compile(
    r"\b(?:tell (?:me|us) a (?:joke|story)|meaning of life|how are you|who are you|what(?:'s| is) your name"
    r"|write (?:me |us )?an? (?:poem|letter|email|essay|song|story))\b",
    re.IGNORECASE,
)
_PAPER = re.compile(
    r"\bprint (?:me |us |out )?(?:the |an? |my |our |all )?"
    r"(?:invoice|receipt|bill|shipping label|label|contract|letter|certificate|document)s?\b",
    re.IGNORECASE,
)
"""Without `print` these nouns are rows: "show the invoice of order 12"."""
_CALENDAR = re.compile(r"\b(?:calendars?|diary|reminders?|meetings?)\b", re.IGNORECASE)


_SUBJECTS = word_set("we i they it he she you our the this")
_WISHES = word_set("want need would d like")


def find_unserved(text: str) -> Unserved | None:
    """Return what a goal asks for that is not served, if the head of one of its clauses does."""
    if _SMALL_TALK.search(text):
        return _CHAT
    if _PAPER.search(text):
        return _PRINT
    for place, clause in enumerate(re.split(r"[.;:!?,]| and then ", text)):
        if place == 1 and has_request(text):  # the same for each later clause
            return None  # the context of a request that is served: "find the leavers, so we can call them"
        parts = words(clause)
        if parts[:1] and parts[0] in _SUBJECTS and not _WISHES & set(parts[1:3]):
            continue  # "we sell shoes" asks for nothing
        start = next((i for i, word in enumerate(parts) if word not in _LEADING), len(parts))
        if start >= len(parts):
            continue
        verb, rest = parts[start], " ".join(parts[start + 1 :])
        for verbs, unserved in _REQUESTS:
            if verb in verbs and (verb not in _AMBIGUOUS or _OBJECT.match(rest)):
                return _SCHEDULE if _CALENDAR.search(rest) else unserved
    return None
