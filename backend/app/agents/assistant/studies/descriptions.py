"""Studies in words: where they stand, what came out, how two of them compare, and one prediction."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.agents.assistant.answer_descriptions import format_cell
from app.tools.context.conversation_studies import StudyCard

MAX_STATED_EFFECTS = 5
"""Columns of an explanation that are stated, the largest effects first."""
_STATUSES = {
    "queued": "waits to begin",
    "running": "is running",
    "awaiting_user": "waits for your answer",
    "awaiting_fits": "is fitting models",
    "paused": "is paused",
    "failed": "has failed",
    "cancelled": "was cancelled",
}


def describe_start(card: StudyCard) -> str:
    change = f" without {' and '.join(card.leaves_out)}" if card.leaves_out else ""
    beginning = f"A fork of the study{change}" if card.forked_from else "A study"
    return (
        f"{beginning} has begun: {card.goal.rstrip('.')}. It runs on its own; ask for its result at any time, "
        "and answer its questions here."
    )


def describe_study(card: StudyCard) -> str:
    """Describe where a study stands: its question, its failure, or its result with score and links."""
    if card.question is not None:
        return f"The study asks: {card.question.text}{_list_options(card.question.options)}"
    if card.error:
        return f"The study has failed: {card.error}"
    if not card.is_finished:
        return f"The study {_STATUSES.get(card.status, f'is {card.status}')}."
    sentences = [card.headline or "The study has finished."]
    if card.holdout:
        sentences.append(f"{_describe_score(card.metric, card.holdout)} on rows that the model did not see.")
    if card.model:
        sentences.append(f"The model is {card.model}.")
    links = [f"{name}: {address}" for name, address in card.links.items()]
    return " ".join([*sentences, *([f"See {', '.join(links)}."] if links else [])])


def describe_comparison(value: Mapping[str, Any]) -> str:
    """Describe two studies: what differs, both scores, and their difference on the same rows."""
    pair = value["pairs"][0]
    scores = [_describe_score(s.get("metric"), s["holdout"]) for s in value["sessions"][:2] if s.get("holdout")]
    changes = [
        f"{difference['name']}: {_plain(difference['first'])} and {_plain(difference['second'])}"
        for difference in pair["differences"]
        if difference["kind"] == "setting"
    ]
    sentences = [f"The first study has {scores[0]}, the second {scores[1]}."] if len(scores) == 2 else []
    if changes:
        sentences.append(f"They differ in {'; '.join(changes[:MAX_STATED_EFFECTS])}.")
    holdout = pair["holdout"]
    if holdout["reason"]:
        sentences.append(str(holdout["reason"]))
    for name, difference in list(holdout["metrics"].items())[:1]:
        sentences.append(_describe_difference(name, difference, holdout["rows"]))
    return " ".join(sentences) or "The two studies have nothing to compare yet."


def describe_explanation(value: Mapping[str, Any]) -> str:
    """Describe one prediction by the columns whose usual value would change it most."""
    share = f" with probability {format_cell(round(value['output'], 4))}" if value["is_probability"] else ""
    place = f"Row {value['row']} of {value['table']}"
    first = f"{place}: {value['target']} is predicted as {value['prediction']}{share}."
    effects = [_describe_effect(effect) for effect in value["effects"][:MAX_STATED_EFFECTS] if effect["effect"]]
    if not effects:
        return f"{first} No column by itself changes that."
    return (
        f"{first} What speaks for it or against it, by how much it would change with the usual value of that "
        f"column alone: {'; '.join(effects)}. Columns that act together are not taken apart."
    )


def _describe_effect(effect: Mapping[str, Any]) -> str:
    sign = "+" if effect["effect"] > 0 else ""
    cells = f"{format_cell(effect['value'])} instead of {format_cell(effect['usual'])}"
    return f"{effect['column']} {cells} ({sign}{format_cell(round(effect['effect'], 4))})"


def _describe_score(metric: str | None, holdout: Mapping[str, Any]) -> str:
    value = holdout.get("value")
    return f"{metric or 'score'} {format_cell(round(value, 4)) if isinstance(value, float) else value}"


def _describe_difference(name: str, difference: Mapping[str, Any], rows: int) -> str:
    low, high = (format_cell(_rounded(difference[end])) for end in ("low", "high"))
    value = format_cell(_rounded(difference["value"]))
    verdict = "neither is better beyond chance" if difference["better"] is None else "that is beyond chance"
    return f"On the same {rows:,} rows the second differs in {name} by {value} ({low} to {high}): {verdict}."


def _rounded(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)


def _list_options(options: Sequence[Any]) -> str:
    return "".join(f" ({number}) {option}" for number, option in enumerate(options, 1))
