"""The source that a sentence names: an address to fetch, or a dataset."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from app.datasets.dataset_source import DatasetRef

_VERB = (
    r"(?:fetch|get|load|pull|download|request|retrieve|call|read|take|import|query|poll|check|grab|use|open|"
    r"look at|go through|start (?:with|from)|work on)"
)
_POLITE = r"(?:(?:please|can you|could you|i want you to|go and) )*"
_DATA = r"(?:(?:the|all|my|our|its|latest|current|new|newest|fresh|json|\w{2,20}) ){0,4}?"
_URL = re.compile(r"https?://[^\s\"'<>]*[^\s\"'<>.,;:!?)]", re.IGNORECASE)
_TARGET = re.compile(
    r"\b(?:to|into|via|by|using|notify|tell|alert|ping|webhook|hook)(?: the| my| our)?"
    r"(?: webhook| hook| url| address)?$",
    re.IGNORECASE,
)
_FETCHES = re.compile(
    rf"(?:^|(?<=[,;] )|(?<=\band )|(?<=\bthen )){_POLITE}{_VERB} (?:me )?{_DATA}(?:from |of |at )?$",
    re.IGNORECASE,
)
_FROM = re.compile(r"(?:\bfrom(?: the)?(?: api| url| address)?(?: at)? )$", re.IGNORECASE)


class SentenceSource(NamedTuple):
    """A node of a source, and the sentence without the words that name it.

    `is_taken`: a clause of its own says that it is read.
    """

    step: dict[str, Any]
    words: str
    is_taken: bool


def find_address(words: str) -> SentenceSource | list[str] | None:
    """Return the request of the address that a sentence reads, or the addresses where it reads several."""
    # `post it to https://...` is where results go, not where data come from.
    urls = [url for url in _URL.finditer(words) if not _TARGET.search(words[: url.start()].rstrip())]
    if len(urls) != 1:
        return [url[0] for url in urls] or None
    url = urls[0]
    before, behind = words[: url.start()], words[url.end() :]
    clause = _FETCHES.search(before) or _FROM.search(before)
    rest = _join(before[: clause.start()], behind) if clause else f"{before}it{behind}"
    return SentenceSource({"type": "http_request", "config": {"url": url[0]}}, rest, clause is not None)


def find_dataset(words: str, datasets: Sequence[DatasetRef]) -> SentenceSource | None:
    """Return the dataset that a sentence takes: `take orders, ...`, `from the orders dataset, ...`."""
    # The longest name first, as it may begin with the name of another dataset.
    for dataset in sorted(datasets, key=lambda ref: -len(ref.table)):
        name = re.escape(dataset.table).replace("_", "[_ ]")
        clause = re.search(
            rf"^{_POLITE}(?:{_VERB}|from|in|with)(?: the| all| my| our| all the)? {name}"
            r"(?: dataset| table| data)?"
            r"(?=[,;:]| and | then |$| (?:take|keep|get|show|compute|sort|drop|group)\b)",
            words,
            re.IGNORECASE,
        )
        if clause is not None:
            return SentenceSource(make_dataset_step(dataset), _join("", words[clause.end() :]), True)
    return None


def make_dataset_step(dataset: DatasetRef) -> dict[str, Any]:
    return {"type": "read_dataset", "config": {"dataset_id": str(dataset.id)}}


def _join(before: str, behind: str) -> str:
    """Join what stands around the words that were taken out, as clauses."""
    before = before.rstrip(" ,;").removesuffix(" and").removesuffix(" then").rstrip(" ,;")
    behind = behind.lstrip(" ,;:.").removeprefix("and ").removeprefix("then ")
    return ", ".join(part for part in (before, behind) if part.strip())
