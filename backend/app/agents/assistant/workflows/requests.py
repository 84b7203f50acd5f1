"""Messages about workflows: what is to last, and what is fetched now."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from app.agents.assistant.brief import ChatBrief, EarlierTurn
from app.tools.context.conversation_workflows import WorkflowCard

_POINTS_BACK = re.compile(
    r"^\W{0,5}(?:(?:please|ok|and|now|also|can you|could you) )*(?:do|run|repeat|send|e-?mail|mail|show|give|"
    r"make|turn|save|keep|schedule|automate|update|refresh|compute|store|post|predict|draw)(?: me| us)? "
    r"(?:this|that|it|these|those|the same|the (?:answer|result|table|chart|query))\b",
    re.IGNORECASE,
)
_PART = re.compile(
    r"\b(?:step|workflow|pipeline|node|notification|notify|e-?mail|alert|schedule|trigger|threshold|approval|message|"
    r"condition|slack|webhook|retr(?:y|ies)|timeout|runs?)s?\b",
    re.IGNORECASE,
)
_SENT_DATA = re.compile(
    r"^\W{0,5}(?:please )?(?:(?:always|every|each|on) [\w ]{1,30}?,? )?(?:e-?mail|send|mail|show|give|post) "
    r"(?:me|us) (?P<data>(?!an? (?:e-?mail|message|notification|alert|note)\b)(?:the|all|an?|top|our|my|total|"
    r"how|number)\b.+?)"
    r"(?=,? (?:every|each|on (?:week|mon|tues|wednes|thurs|fri|satur|sun)\w*|at \d|daily|weekly|monthly|hourly|"
    r"nightly|whenever|when|if|once|by e-?mail)\b|$)",
    re.IGNORECASE,
)
"""A message that names the data which is to come: `email me the top 10 cities every Monday`."""
_FETCH = re.compile(
    r"^\W{0,5}(?:(?:please|now|and|then|can you|could you) )*(?:fetch|get|load|pull|download|request|"
    r"refresh|call)\b",
    re.IGNORECASE,
)
_NO_NOUNS = frozenset(
    {
        "the",
        "latest",
        "newest",
        "current",
        "new",
        "last",
        "all",
        "data",
        "from",
        "for",
        "now",
        "please",
        "again",
    }
    | {"and", "then", "fetch", "get", "load", "pull", "download", "request", "refresh", "call", "show"}
    | {
        "list",
        "top",
        "sorted",
        "http",
        "http:",
        "api",
        "www",
        "com",
        "json",
        "row",
        "table",
        "by",
        "with",
        "first",
    }
)
"""Words that name no data."""


class WorkflowRequest(NamedTuple):
    """A call of a tool about workflows."""

    tool: str
    arguments: dict[str, Any]


class Fetch(NamedTuple):
    """A request to run now. `asks`: what the message asks of its table."""

    steps: list[Mapping[str, Any]]
    table: str
    asks: str = ""


def read_change_message(brief: ChatBrief) -> WorkflowRequest | str | None:
    """Return the change that a message asks for, or what has to be said first; None if it asks for none."""
    lane = brief.lane
    answer, changed = find_last_answer(brief.earlier), find_last_change(brief.earlier)
    pipeline = lane.pipeline
    if pipeline is not None and not pipeline.steps and (pipeline.names_source or max(answer, changed) < 0):
        arguments = {"words": pipeline.words, "steps": [pipeline.source], "name": brief.message}
        return pipeline.question or WorkflowRequest("patch_workflow", arguments)
    if lane.lane != "patch":
        return None
    is_about_answer = answer > changed and not _PART.search(brief.message)
    if lane.is_edit and is_about_answer:
        return None  # a follow-up of an answer, as `use the median instead`
    comes_again = answer > changed and _POINTS_BACK.search(brief.message) is not None
    has_workflow = lane.workflow is not None and (lane.is_edit or changed >= 0 or answer < 0)
    if has_workflow and not comes_again:
        return WorkflowRequest("patch_workflow", {"workflow": lane.workflow, "words": brief.message})
    if lane.is_edit:
        names = ", ".join(card.name for card in brief.workflows)
        return f"Which workflow is to be changed? There are: {names}." if names else None
    source = _describe_source(brief, answer)
    if source is None:
        return (
            "There is nothing yet that could come again. Ask for a table first, then say when it comes again."
        )
    return WorkflowRequest("patch_workflow", {"words": brief.message, **source})


def read_sent_data(message: str) -> str | None:
    """Return the words of the data that is to be sent, or None."""
    match = _SENT_DATA.search(message)
    return match["data"].strip() if match else None


def _describe_source(brief: ChatBrief, answer: int) -> dict[str, Any] | None:
    """Return what a new workflow is made of: the last answer, else the only table."""
    if answer < 0:
        tables = [str(table["table"]) for table in brief.tables]
        plan = {"source": {"kind": "dataset", "table": tables[0]}} if len(tables) == 1 else None
        return {"plan": plan, "name": brief.message} if plan else None
    turn = brief.earlier[answer]
    source: dict[str, Any] = {"name": turn.message}
    if turn.steps:
        return {**source, "steps": [*turn.steps]}
    if turn.plan is not None:
        chart = {"chart": _describe_chart(turn)} if turn.chart else {}
        return {**source, "plan": turn.plan, **chart}
    return {**source, "sql": turn.sql} if turn.sql else None


def _describe_chart(turn: EarlierTurn) -> dict[str, Any]:
    chart = turn.chart
    if chart is None:
        return {}
    axes = {"kind": chart.kind, "x": chart.x, "y": [*chart.y], "color": chart.color}
    return {name: part for name, part in {**axes, "moving_average": chart.moving_average}.items() if part}


def find_last_answer(earlier: Sequence[EarlierTurn]) -> int:
    places = [n for n, turn in enumerate(earlier) if turn.has_result and (turn.plan or turn.sql or turn.steps)]
    return places[-1] if places else -1


def find_last_change(earlier: Sequence[EarlierTurn]) -> int:
    places = [n for n, turn in enumerate(earlier) if turn.workflow]
    return places[-1] if places else -1


def read_fetch(brief: ChatBrief) -> Fetch | None:
    """Return the request that a message names: an address, or one of a saved workflow."""
    pipeline = brief.lane.pipeline
    if pipeline is not None and pipeline.steps:
        url = str(pipeline.source["config"].get("url", ""))
        return Fetch([*pipeline.steps], _name_table(url), pipeline.words)
    if brief.lane.lane == "patch":
        return None
    is_fetch = _FETCH.search(brief.message) is not None
    if not is_fetch and brief.tables:
        return None
    request = _find_request(brief.message, brief.workflows)
    if request is None:
        return None
    step = {"type": "http_request", "config": dict(request["config"])}
    return Fetch([step], _name_table(str(request["id"])), "" if is_fetch else brief.message)


def _find_request(message: str, cards: Sequence[WorkflowCard]) -> Mapping[str, Any] | None:
    """Find the request of a workflow whose id or address has a noun of the message."""
    nouns = _nouns(message)
    for card in cards:
        for request in card.requests:
            if nouns & _nouns(f"{request['id']} {request['config'].get('url', '')}".replace("_", " ")):
                return request
    return None


def _nouns(text: str) -> set[str]:
    words = re.findall(r"[a-z]{3,}", text.lower())
    return {word.removesuffix("s") for word in words} - _NO_NOUNS


def _name_table(text: str) -> str:
    """Return a name of a table: the last part of an address, or an id."""
    last = text.partition("?")[0].partition("#")[0].rstrip("/").rpartition("/")[2]
    name = re.sub(r"[^a-z0-9_]+", "_", last.lower().removesuffix(".json")).strip("_")[:40]
    return name if re.match(r"[a-z]", name) else "result"


def describe_saved(card: WorkflowCard) -> str:
    """Describe a version that was saved, and when it runs next."""
    text = f"{card.change} Saved as the workflow {card.name!r}, version {card.version}."
    if card.schedule:
        return f"{text} Its next runs: {card.schedule}."
    if not any(node["type"] == "trigger" for node in card.nodes):
        return f"{text} It has no schedule yet: say, for example, `run it every weekday at 8`."
    return text
