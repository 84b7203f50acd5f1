"""The answer in the analyst's words: its figures are claims on recorded results, the rest are words."""

from collections.abc import Sequence
from typing import Any

from app.reporting.claims import Claim
from app.reporting.document.blocks import AnswerFigure
from app.reporting.document.inline_elements import Name, Piece, Text
from app.reporting.draft import ReportDraft
from app.reporting.pages.statement import Statement
from app.reporting.safe_text import make_legible
from app.reporting.stated_answer import AnswerSources, StatedFigure


def make_stated_answer(draft: ReportDraft) -> Statement | None:
    """Return the answer as the analyst worded it, or the reason why there is none; None without words."""
    words = draft.facts.stated_answer
    if words is None:
        return None
    if words.content.unanswered:
        reason = words.at("unanswered")
        return (
            Statement(("The question was not answered: ", draft.read(reason, "prose")), []) if reason else None
        )
    sources = answer_sources(draft)
    text = make_legible_lines(words.content.text)
    figures, unknown = sources.find_all(text)
    # Words with a figure that nothing recorded holds are not shown: the report makes a sentence of its own.
    if not text or unknown:
        return None
    pieces = _quote_figures(draft, text, figures)
    claims = [AnswerFigure("answer", piece) for piece in pieces if isinstance(piece, Claim)]
    # The named values go first: they say which of the figures are the answer.
    return Statement(pieces, _value_figures(draft, sources) or claims)


def answer_sources(draft: ReportDraft) -> AnswerSources:
    """Return the results and the texts that the answer of this session may cite."""
    facts = draft.facts
    question = facts.stated_answer.content.question if facts.stated_answer else ""
    return AnswerSources(facts.answering_calls, [facts.session.text("goal"), question])


def describe_values(draft: ReportDraft) -> dict[str, dict[str, Any]]:
    """Return the named values of the answer as stated and as computed: `{name: {value, computed}}`."""
    words = draft.facts.stated_answer
    if words is None:
        return {}
    sources = answer_sources(draft)
    described = {}
    for name, value in words.content.values.items():
        source = sources.find_value(value)
        described[name] = {"value": value, "computed": source.value if source else value}
    return described


def make_legible_lines(text: str) -> str:
    """Make a text legible, line by line; a minus sign becomes the one that numbers are written with."""
    lines = text.replace("\N{MINUS SIGN}", "-").strip().splitlines()
    return "\n".join(line for line in map(make_legible, lines) if line)


def split_lines(text: Text) -> list[Text]:
    """Split a text at the ends of its lines."""
    lines: list[list[Piece]] = [[]]
    for piece in text:
        first, *others = piece.split("\n") if isinstance(piece, str) else [piece]
        lines[-1] += [first] if first else []
        lines += [[line] if line else [] for line in others]
    return [line for line in lines if line] or [("",)]


def _quote_figures(draft: ReportDraft, text: str, figures: Sequence[StatedFigure]) -> Text:
    pieces: list[Piece] = []
    place = 0
    for figure in figures:
        pieces += [text[place : figure.start]] if figure.start > place else []
        quotation = text[figure.start : figure.end]
        pieces.append(draft.read(figure.fact, figure.style) if figure.fact else Name(quotation, code=False))
        place = figure.end
    return (*pieces, *([text[place:]] if place < len(text) else []))


def _value_figures(draft: ReportDraft, sources: AnswerSources) -> list[AnswerFigure]:
    """Return the named values as figures; texts are none."""
    words = draft.facts.stated_answer
    return [
        AnswerFigure(name, draft.read(*source))
        for name, value in (words.content.values.items() if words else ())
        if (source := sources.find_shown(value))
    ]
