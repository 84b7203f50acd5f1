"""Clauses that do something with a table: each is read as a whole, or not at all."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from app.workflows.phrases.branch_edits import NewStep
from app.workflows.phrases.change import ChangeQuestion
from app.workflows.phrases.clause_words import OBJECT
from app.workflows.phrases.notices import FAILURE, read_notice
from app.workflows.phrases.table_clauses import TableClause, TableState, read_table_clause
from app.workflows.phrases.work_steps import KnownModel, read_work_step

_URL = r"https?://\S+"
_ADDRESS = r"[\w.+-]{1,64}@[\w.-]{1,190}"
_CHANNEL = r"#[A-Za-z][\w-]{0,80}"
_NAME = r"(?!(?:me|us|it|that|this|them|if|when|and|the|a|an|about|with)\b)[a-z][\w-]{0,60}"
_TEAM = rf"(?:(?:the |our |my )?{_NAME}(?: team| channel)?)"
_BY = r"(?: by e-?mail| by mail| on slack| in slack| via slack| via e-?mail| by slack)?"
_MESSAGE = r"(?:an? |the )?(?:e-?mail|mail|message|notification|alert|warning|slack message|note)"
_ABOUT = rf"(?: (?:with|about|of) {OBJECT})?"
_NOTICE = re.compile(
    r"^(?:(?:post|send|push|deliver|forward|publish)(?: (?P<object>.+?))? to (?:the )?(?:webhook |url |slack )?"
    rf"(?:{_URL}|{_ADDRESS}|{_CHANNEL}|me|us|{_TEAM}){_BY}"
    rf"|(?:e-?mail|mail|send)(?: (?P<object2>.+?))? to (?:{_ADDRESS}|me|us|{_TEAM})(?: by e-?mail| by mail)?"
    rf"|(?:e-?mail|mail) (?:me|us|{_ADDRESS}|{_TEAM})(?: (?P<object3>.+))?"
    rf"|(?:e-?mail|mail) (?P<object4>{OBJECT})"
    rf"|send (?:me|us) (?P<object5>.+?) by e-?mail"
    rf"|send(?: me| us)? {_MESSAGE}(?: to (?:{_ADDRESS}|{_CHANNEL}|me|us|{_TEAM}))?{_ABOUT}"
    rf"|(?:tell|alert|notify|warn|ping|inform|message)(?: me| us| {_CHANNEL}| {_TEAM}){_BY}{_ABOUT}"
    rf"|let (?:me|us|{_TEAM}) know)$",
    re.IGNORECASE,
)
_STORE = re.compile(
    r"^(?:store|save|keep|write|publish) (?P<object>.+?) (?:as|to|in|under|into) (?:the |an? )?(?:new )?"
    r"(?:dataset )?(?:named |called )?"
    r"(?P<name>\"[^\"]{1,80}\"|'[^']{1,80}'|\w[\w.-]{0,40}(?: \w[\w.-]{0,40}){0,4})$",
    re.IGNORECASE,
)
_APPROVAL = re.compile(
    r"^(?:ask|wait for|get|require|request)(?: me| us)?(?: for)?(?: my| our| an?)?"
    r"(?: approval| confirmation| sign-?off| permission)?"
    r"(?: first| before (?:that|sending|it is sent|anything is sent))?$",
    re.IGNORECASE,
)
_NAMED_ASK = re.compile(r"\b(?:me|us|approval|confirmation|sign-?off|permission)\b", re.IGNORECASE)
_CHART = re.compile(
    r"^(?:draw|plot|chart|(?:make|create|add) an? [\w ]{0,30}?(?:chart|plot|graph|histogram))\b", re.I
)
_PREDICT = re.compile(r"^(?:predict|forecast) (?:the )?[\w ]{1,60}$", re.IGNORECASE)
_RUN = r"(?:it|this|that|anything|something|a run|the run|the workflow|any step)"
_BREAKS = r"(?:fails|breaks|crashes|goes wrong)"
_FAILS = re.compile(
    rf"^(?:if|when|whenever|in case|as soon as) {_RUN} {_BREAKS},?(?: then)? (?P<action>.+)$|"
    rf"^(?P<action2>.+?),? (?:if|when|whenever|in case) {_RUN} {_BREAKS}$|"
    r"^(?:on|upon) (?:failure|error|errors),? (?P<action3>.+)$",
    re.IGNORECASE,
)


class EffectClause(NamedTuple):
    """A step that does something with a table, after what the same words have computed for it before."""

    step: NewStep
    table: TableClause | None


def read_effect_clause(
    words: str, state: TableState, models: Sequence[KnownModel]
) -> EffectClause | ChangeQuestion | None:
    """Return the step that all of the words ask for, a question about it, or None."""
    text = words.strip()
    # The second pattern, since each part of the first one may be absent: `get` alone asks for nothing.
    if _APPROVAL.search(text) and _NAMED_ASK.search(text):
        return EffectClause(NewStep("approve", {"text": "Go on?"}, "Ask for approval"), None)
    if _CHART.search(text) or _PREDICT.search(text):
        step = read_work_step(text, state.columns, models)
        if step is None or isinstance(step, ChangeQuestion):
            return step
        return EffectClause(NewStep(step.type, step.config, step.summary), None)
    return _read_store(text, state) or _read_message(text, state)


def _read_message(text: str, state: TableState) -> EffectClause | None:
    notice = _NOTICE.search(text)
    config = read_notice(text) if notice else None
    if notice is None or config is None:
        return None
    objects = [words for name, words in notice.groupdict().items() if name.startswith("object") and words]
    return _make_effect(NewStep("notify", config, "Send a message"), objects, state)


def _read_store(text: str, state: TableState) -> EffectClause | None:
    stored = _STORE.search(text)
    if stored is None:
        return None
    name = stored["name"].strip("\"'")
    step = NewStep("store", {"name": name}, f"Store the table as the dataset {name}")
    return _make_effect(step, [stored["object"]], state)


def _make_effect(step: NewStep, objects: Sequence[str], state: TableState) -> EffectClause | None:
    """Return a step about the table, or about what its object asks to compute of it."""
    if not objects or re.fullmatch(OBJECT, objects[0], re.IGNORECASE):
        return EffectClause(step, None)
    table = read_table_clause(objects[0], state)
    return EffectClause(step, table) if table else None


def read_failure_clause(words: str) -> NewStep | None:
    """Return the message that a clause such as `if it fails tell ops` asks for."""
    fails = _FAILS.search(words.strip())
    action = (fails["action"] or fails["action2"] or fails["action3"]) if fails else None
    effect = _read_message(action.strip(), TableState()) if action else None
    # After a failure there is no table to compute on.
    if effect is None or effect.table is not None or FAILURE.search(action or ""):
        return None
    return NewStep("notify", {**effect.step.config, "when": "failed"}, "Send a message if a run fails")
