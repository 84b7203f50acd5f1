"""The report's check: read every claim again from the journal, and find numerals without a claim.

It needs the report as JSON and the recorded calls, nothing of the code that wrote it but the small tables of
operations and styles.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any

from app.recorded_call import RecordedCall
from app.reporting.claims import apply_operation, render_claim
from app.reporting.evidence import resolve_pointer
from app.reporting.markdown import escape_text
from app.reporting.metrics import VOCABULARY

_NUMERAL = re.compile(r"\d")


@dataclass(frozen=True)
class Mismatch:
    """A fault of a report; `where` is the id of a claim or a place in the document."""

    where: str
    problem: str


@dataclass(frozen=True)
class ReportVerification:
    """The outcome of a check: the number of claims checked, and their faults. No claims: it does not pass."""

    checked: int
    mismatches: tuple[Mismatch, ...]

    @property
    def passes(self) -> bool:
        return self.checked > 0 and not self.mismatches


def verify_report(
    report: Mapping[str, Any],
    calls: Sequence[RecordedCall],
    html: str | None = None,
    markdown: str | None = None,
) -> ReportVerification:
    """Check `report.json` and, where given, its renderings against the recorded calls."""
    claims: Sequence[Mapping[str, Any]] = report.get("claims") or []
    recorded = {(call.seq, call.key): call for call in calls}
    mismatches = [mismatch for claim in claims if (mismatch := _check_claim(claim, recorded))]
    shown_ids = {
        claim for part in ("title", "subtitle", "sections", "blocks") for claim in _mentions(report.get(part))
    }
    mismatches += _unvouched(report, recorded, shown_ids, {str(claim["id"]) for claim in claims})
    if not claims:
        mismatches.append(Mismatch("claims", "The report makes no claim, so nothing was checked."))
    if html is not None:
        mismatches += _check_html(html, claims)
    if markdown is not None:
        mismatches += _check_markdown(markdown, claims, {name for _, name, code in _names(report) if not code})
    return ReportVerification(len(claims), tuple(mismatches))


def _check_claim(claim: Mapping[str, Any], recorded: Mapping[tuple[int, str], RecordedCall]) -> Mismatch | None:
    where = str(claim.get("id"))
    try:
        places = [claim, *claim.get("operands", [])]
        values = [resolve_pointer(recorded[p["step"], p["call"]].result, p["pointer"]) for p in places]
        value = apply_operation(claim["operation"], values)
        # From the value that was read again: a text that was changed beside a right value is found, too.
        text = render_claim(claim, value)
    except (KeyError, TypeError, ValueError, ZeroDivisionError, IndexError) as error:
        return Mismatch(where, f"The journal does not reproduce it: {type(error).__name__} {error}.")
    if not _same(value, claim.get("value")):
        return Mismatch(where, f"It says {claim.get('value')!r}; the journal says {value!r}.")
    if text != claim.get("text"):
        return Mismatch(where, f"It shows {claim.get('text')!r}; its value reads {text!r}.")
    return None


def _same(first: Any, second: Any) -> bool:
    # As JSON: in Python 1, 1.0 and True are equal, and in a report they are shown differently.
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


def _unvouched(
    report: Mapping[str, Any],
    recorded: Mapping[tuple[int, str], RecordedCall],
    shown_ids: set[str],
    claim_ids: set[str],
) -> Iterator[Mismatch]:
    """Yield numerals in prose, quotations that were never recorded, and shown claims that are not listed."""
    for claim in sorted(shown_ids - claim_ids):
        yield Mismatch(claim, "It is shown but is not in the list of claims.")
    for where, prose in _prose(report):
        if _NUMERAL.search(prose):
            yield Mismatch(where, f"A number without a claim: {prose!r}.")
    recorded_texts = [
        json.dumps([call.request, call.result, call.tool], ensure_ascii=False) for call in recorded.values()
    ]
    for where, name, _ in _names(report):
        # With the escapes that it has inside the JSON of a call.
        quoted = json.dumps(name, ensure_ascii=False)[1:-1]
        if (
            _NUMERAL.search(name)
            and name not in VOCABULARY
            and not any(quoted in text for text in recorded_texts)
        ):
            yield Mismatch(where, f"A quotation that was never recorded: {name!r}.")


_NOT_PROSE = ("id", "kind", "tone", "name", "digest", "step", "call", "numeric", "marked", "code", "cells")


def _prose(node: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """Yield each prose string with its place."""
    if isinstance(node, str):
        yield where, node
    elif isinstance(node, list):
        for place, item in enumerate(node):
            yield from _prose(item, f"{where}/{place}")
    elif isinstance(node, Mapping) and "claim" not in node:
        quiet = ("claims", "calls", "version") if not where else _NOT_PROSE
        for name, item in node.items():
            if name not in quiet:
                yield from _prose(item, f"{where}/{name}")


def _names(node: Any, where: str = "") -> Iterator[tuple[str, str, bool]]:
    """Yield each quotation with its place and a flag for code."""
    if isinstance(node, list):
        for place, item in enumerate(node):
            yield from _names(item, f"{where}/{place}")
    elif isinstance(node, Mapping):
        if "name" in node and "code" in node:
            yield where, str(node["name"]), bool(node["code"])
        else:
            for name, item in node.items():
                if name not in ("claims", "calls", "cells"):
                    yield from _names(item, f"{where}/{name}")


def _mentions(node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for item in node:
            yield from _mentions(item)
    elif isinstance(node, Mapping):
        if "claim" in node:
            yield str(node["claim"])
        else:
            for item in node.values():
                yield from _mentions(item)


class _Page(HTMLParser):
    """Parser that splits a page into texts of claims and prose; it ignores the appendix and quotations."""

    VOID = frozenset({"meta", "img", "br", "link", "input", "hr"})

    def __init__(self) -> None:
        super().__init__()
        self.claim_texts: list[tuple[str, str]] = []
        self.prose: list[str] = []
        self._stack: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self.VOID:
            return
        attributes = dict(attrs)
        # What is quiet stays so inside: a quotation may hold any markup of its own.
        role = "quiet" if self._stack and self._stack[-1] == "quiet" else "prose"
        if (
            tag in ("style", "title")
            or attributes.get("id") == "provenance"
            or attributes.get("class") == "name"
        ):
            role = "quiet"
        if attributes.get("class") == "claim":
            role = f"claim:{(attributes.get('href') or '')[1:]}"
            self.claim_texts.append((role[6:], ""))
        self._stack.append(role)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID and self._stack:
            self._stack.pop()

    def handle_data(self, data: str) -> None:
        role = self._stack[-1] if self._stack else "prose"
        if role == "prose":
            self.prose.append(data)
        elif role.startswith("claim:"):
            claim, before = self.claim_texts[-1]
            self.claim_texts[-1] = (claim, before + data)


def _check_html(html: str, claims: Sequence[Mapping[str, Any]]) -> Iterator[Mismatch]:
    page = _Page()
    page.feed(html)
    yield from _check_shown("html", page.claim_texts, claims)
    for text in page.prose:
        if _NUMERAL.search(text):
            yield Mismatch("html", f"A number without a claim: {text.strip()!r}.")


_LINK = re.compile(r"(?<!\\)\[((?:\\.|[^\[\]\\])*)\]\(#(c\d+)\)")
_CODE = re.compile(r"(?<![\\`])(`+)(?!`).*?(?<!`)\1(?!`)")
_LISTING = re.compile(r"^(`{3,})$.*?^\1$", re.MULTILINE | re.DOTALL)
_IMAGE = re.compile(r"!\[([^\[\]]*)\]\([^()]*\)")
_ESCAPE = re.compile(r"\\(.)|&lt;")


def _check_markdown(markdown: str, claims: Sequence[Mapping[str, Any]], quotes: set[str]) -> Iterator[Mismatch]:
    """`quotes`: texts of persons and data, already checked in the JSON, removed in their rendered form."""
    body = _LISTING.sub("", markdown.split("\n## Provenance\n")[0])
    body = _CODE.sub("", _IMAGE.sub(r"\1", body))
    claim_texts = [
        (claim, _ESCAPE.sub(lambda match: match[1] or "<", text)) for text, claim in _LINK.findall(body)
    ]
    yield from _check_shown("markdown", claim_texts, claims)
    body = _LINK.sub("", body)
    # The longest first, since a quotation may hold another one.
    for quote in sorted(quotes, key=len, reverse=True):
        body = body.replace(escape_text(quote), "")
    for line in body.splitlines():
        if _NUMERAL.search(line):
            yield Mismatch("markdown", f"A number without a claim: {line.strip()!r}.")


def _check_shown(
    where: str, claim_texts: Sequence[tuple[str, str]], claims: Sequence[Mapping[str, Any]]
) -> Iterator[Mismatch]:
    texts = {str(claim["id"]): str(claim["text"]) for claim in claims}
    for claim, text in claim_texts:
        if texts.get(claim) is None or " ".join(text.split()) != " ".join(texts[claim].split()):
            yield Mismatch(where, f"{claim} shows {text!r} and claims {texts.get(claim)!r}.")
    # A page from which all links were lost would have nothing to be checked.
    if claims and not claim_texts:
        yield Mismatch(where, "The page shows none of the claims.")
