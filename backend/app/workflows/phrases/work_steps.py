"""Steps in words that do more than compute a table: predictions, charts, stored datasets, and loops."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from app.agents.questions.charts.chart_phrases import parse_chart_phrase
from app.modeling.problem.name_resolution import nearest_names
from app.workflows.phrases.change import ChangeQuestion
from app.workflows.phrases.notices import read_notice
from app.workflows.phrases.table_steps import read_table_step

_PREDICT = re.compile(
    r"^(?:add (?:a |the )?|also |then )*(?:predict|predictions? (?:of|for)|forecast|score) (?:the |whether )?"
    r"(?P<target>[a-z_][\w ]{0,60}?)"
    r"(?= (?:for|of|on|with|by|in|every|each|at|after|before|once|daily|weekly|monthly|hourly)\b|[,.;]|$)"
)
_CHART_VERB = re.compile(
    r"^(?:also |then )*(?:add|insert|draw|plot|make|create|include|put|chart|graph|visuali[sz]e)\b"
)
_CHART_NOUN = re.compile(
    r"\b(?:chart|plot|graph|histogram|heat ?map|diagram|box ?plot|scatter ?plot|bars|lines?)s?\b"
)
_AXES = re.compile(
    r"^(?P<y>.{1,60}?) (?:by|per|over|against|vs\.?|versus|for (?:each|every)) (?:the )?(?P<x>.{1,60})$"
)
_STORE = re.compile(
    r"^(?:also |then )*(?:store|save|keep|write|publish) (?:(?:the |its |all |these )?(?:results?|table|rows|"
    r"output|predictions?|data|it|that|them) )?(?:as|to|in|under|into) (?:an? |the )?(?:new )?(?:dataset )?"
    r"(?:named |called )?[\"'\u201c]?(?P<name>[\w][\w .-]{0,80}?)[\"'\u201d]?"
    r"(?= (?:every|each|after|before|at|on|daily|weekly|monthly|hourly)\b|[,;]|$)",
    re.IGNORECASE,
)
_LOOP = re.compile(
    r"^(?:and |also |then )*for (?:each|every) (?P<column>[a-z_][\w ]{0,60}?)(?:, ?| )(?P<rest>(?:also )?"
    r"(?:add|draw|plot|chart|make|create|send|e-?mail|mail|notify|alert|tell|ping|post|store|save|keep|predict|forecast|score|"
    r"take|show|sort|filter|select|remove|drop|list|find)\b.*)$",
    re.IGNORECASE,
)
_TIME_UNITS = frozenset({"day", "week", "month", "year", "hour", "minute", "morning", "run", "time", "weekday"})
_PLACE = re.compile(r"[, ](?:after|before|behind|between) (?:the |each )?[\w\"' -]{1,80}$", re.IGNORECASE)
_SCHEDULE = re.compile(
    r"[, ](?:every|each|at \d|on (?:the|mon|tues|wednes|thurs|fri|satur|sun|week)|daily|weekly|monthly|hourly|"
    r"nightly).*$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class KnownModel:
    """A model of the owner. `target`: the column that it predicts."""

    id: UUID
    name: str
    target: str


class WorkStep(NamedTuple):
    """A node to add. `summary`: what it does, for a sentence that begins with its verb."""

    type: str
    config: dict[str, Any]
    summary: str


def read_work_step(
    words: str, columns: Sequence[str], models: Sequence[KnownModel]
) -> WorkStep | ChangeQuestion | None:
    """Return the node that the words ask for, a question about it, or None if they name no such step."""
    loop = _LOOP.search(words)
    # `for every day` is a schedule, and no loop over a column `day`.
    if loop is not None and loop["column"].split(" ")[0].lower() not in _TIME_UNITS:
        return _read_loop(loop["column"], loop["rest"], columns, models)
    return _read_prediction(words.lower(), models) or _read_chart(words, columns) or _read_store(words)


def _read_prediction(text: str, models: Sequence[KnownModel]) -> WorkStep | ChangeQuestion | None:
    match = _PREDICT.search(text)
    if match is None:
        return None
    target = match["target"].strip().replace(" ", "_")
    close = nearest_names(target, list(dict.fromkeys(model.target for model in models)))
    matching = [model for model in models if model.target.lower() == target] or [
        model for model in models if close and model.target == close[0]
    ]
    if not matching:
        return ChangeQuestion(
            f"You have no model that predicts {target}. Train one first: ask for it in a conversation.",
            tuple(dict.fromkeys(f"predict {model.target}" for model in models)),
        )
    # Models come with the chosen and newest first.
    model = matching[0]
    return WorkStep("predict", {"model_id": str(model.id)}, f"Predict {model.target} by {model.name}")


def _read_chart(words: str, columns: Sequence[str]) -> WorkStep | None:
    text = words.lower()
    if _CHART_VERB.search(text) is None or _CHART_NOUN.search(text) is None:
        return None
    phrase = parse_chart_phrase(
        re.sub(r"^(?:add|insert|include|put)\b", "draw", _strip(words), flags=re.IGNORECASE)
    )
    if phrase is None:
        return None
    config: dict[str, Any] = {"kind": phrase.kind or "bar"}
    axes = _AXES.search(phrase.subject)
    if axes is not None:
        x, y = _find(axes["x"], columns), _find(axes["y"], columns)
        config |= {"x": x} if x else {}
        config |= {"y": [y]} if y else {}
    elif phrase.subject and (only := _find(phrase.subject, columns)):
        config |= {"x": only} if config["kind"] == "histogram" else {"y": [only]}
    if phrase.color and (color := _find(phrase.color, columns)):
        config["color"] = color
    if phrase.moving_average:
        config["moving_average"] = phrase.moving_average
    return WorkStep("chart", config, f"Draw a {config['kind']} chart")


def _read_store(words: str) -> WorkStep | None:
    stored = _STORE.search(words)
    if stored is None:
        return None
    name = stored["name"].strip()
    return WorkStep("store", {"name": name}, f"Store the table as the dataset {name}")


def _read_loop(
    column: str, rest: str, columns: Sequence[str], models: Sequence[KnownModel]
) -> WorkStep | ChangeQuestion | None:
    """Return a `for_each` with the step that the rest of the words asks for."""
    name = _find(column, columns) or column.strip().replace(" ", "_")
    inner = read_work_step(rest, columns, models)
    if isinstance(inner, ChangeQuestion):
        return inner
    if inner is None:
        notice, step = read_notice(rest), read_table_step(rest, [*columns])
        if notice is not None:
            inner = WorkStep("notify", notice, "Send a message")
        elif step is not None:
            inner = WorkStep(*step, f"Run {step[0]}")
        else:
            return None
    config = dict(inner.config)
    if inner.type == "chart":
        # Otherwise the charts of all items would have one title.
        config["title"] = f"{{{{item.{name}}}}}"
    # Otherwise each item would store the next version of one dataset.
    if inner.type == "store":
        config["name"] = f"{config['name']} {{{{item.{name}}}}}"
    node = {"id": str(config.get("channel", inner.type)), "type": inner.type, "config": config}
    return WorkStep("for_each", {"column": name, "nodes": [node]}, f"{inner.summary} for each {name}")


def _strip(words: str) -> str:
    """Take the place and the schedule off."""
    # The schedule twice, since either may stand before the other.
    for pattern in (_SCHEDULE, _PLACE, _SCHEDULE):
        words = pattern.sub("", words).rstrip(", ")
    return words


def _find(words: str, columns: Sequence[str]) -> str | None:
    """Return the column that the words name; without known columns their last word."""
    text = words.strip().lower()
    text = re.sub(r"^(?:the |its |all |total |average |mean |sum of )+", "", text)
    exact = [column for column in columns if column.lower().replace("_", " ") == text.replace("_", " ")]
    close = exact or nearest_names(text.replace(" ", "_"), [*columns])
    if close:
        return str(close[0])
    return text.split(" ")[-1] if text and not columns else None
