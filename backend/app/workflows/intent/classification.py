"""Classification of a message by its lane, by rules over words.

A lasting change that nobody asked for costs more than a question, so a question or a wish to see something is
never a change, and what no rule decides is unclear.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import BaseModel, Field
from rapidfuzz.distance import OSA

from app.workflows.document import WorkflowDocument
from app.workflows.intent import cues
from app.workflows.intent.spelled_numbers import spell_out

Lane = Literal["execute", "patch", "unclear"]

MAX_READ_CHARS = 2_000
"""Characters of a message that are read: what it asks for stands in its first sentences."""
MAX_SENTENCES = 10
"""Sentences that are read by themselves: more are a text about something."""
SURE = 0.9
"""Confidence of a sentence that decides without the others: of questions, and of cues that last."""
MIN_CORRECTED_CHARS = 4
"""Characters of a word that is corrected: shorter words have too many neighbours."""
_SPELLED = frozenset(
    {"every", "remove", "delete", "filter", "email", "notification", "schedule", "workflow", "threshold"}
    | {"weekday", "insert", "change", "replace", "always", "whenever", "notify", "approval", "morning"}
    | {"trigger", "message", "instead", "rename"}
)
"""Words of commands whose misspellings are corrected."""
_START = r"^(?:also |then |only |please )*"


class Intent(BaseModel):
    """`execute`: data for now; `patch`: a lasting change of a workflow; `unclear`: ask the user."""

    lane: Lane
    confidence: float = Field(ge=0, le=1)
    reason: str


def classify_intent(
    message: str, workflow: WorkflowDocument | None = None, earlier: Sequence[str] = ()
) -> Intent:
    """Classify a message. Names of nodes of `workflow` count as parts.

    `earlier`: messages before it, newest last. After one that was unclear the words of both are read together.
    """
    intent = _classify(_normalize(message), workflow)
    # `the email` after `remove it`: neither says enough alone. A message that is clear stands for itself.
    if intent.lane == "unclear" and earlier:
        joined = _classify(_normalize(f"{earlier[-1]} {message}"), workflow)
        if joined.lane != "unclear" and _classify(_normalize(earlier[-1]), workflow).lane == "unclear":
            return joined
    return intent


def _classify(text: str, workflow: WorkflowDocument | None) -> Intent:
    """Classify a message; one whose sentences are sure of both lanes is asked about."""
    sentences = [part.strip(" .!,;:") for part in cues.SENTENCE_END.split(text)[:MAX_SENTENCES]]
    if len(sentences) > 1:
        lanes = {intent.lane for part in sentences if (intent := _read(part, workflow)).confidence >= SURE}
        if lanes >= {"execute", "patch"}:
            return _unclear("One part asks for data, another for a lasting change.")
    return _read(text, workflow)


def _read(text: str, workflow: WorkflowDocument | None) -> Intent:
    # `can you remove it?` is a command, although it ends like a question.
    request = cues.POLITE.sub("", text).strip()
    is_polite = request != text
    if not request or len(request) < 3:
        return _unclear("There are no words that ask for something.")
    # Before all cues: `which orders are always late?` has the words of a lasting change.
    if _is_question(request, is_polite):
        return _execute(0.95, "It is a question.")
    if cues.VAGUE_REQUEST.search(request):
        return _unclear("It does not say what to do.")
    lasting = next(_find_lasting_cues(request, workflow), None)
    # `For now` outweighs the words of a lasting change, unless others say that it is to stay.
    if cues.SINGLE_TIME.search(request) and not cues.STANDING.search(request):
        return _execute(0.9, "It is asked for once.")
    if workflow is not None and _adds_beside(request, workflow):
        return Intent(lane="patch", confidence=0.8, reason="It puts something beside a step.")
    if _starts_with(request, cues.SHOW):
        return _judge_show(request)
    if lasting is not None:
        return Intent(lane="patch", confidence=0.9, reason=lasting)
    return _judge_data(request)


def _adds_beside(request: str, workflow: WorkflowDocument) -> bool:
    """Check for a chart beside a node of the workflow, or for an effect for each value of a column."""
    names = "|".join(
        {re.escape(node.id.lower()) for node in workflow.nodes} | {node.type for node in workflow.nodes}
    )
    beside = rf"{_START}(?:draw|plot|chart|make|create) .{{1,200}} (?:after|before) (?:the |each )?(?:{names})$"
    loop = rf"{_START}for (?:each|every) [a-z_][\w ]{{0,60}}?,? (?:{cues.NOTIFY}|store|save) "
    return bool(re.search(beside, request) or (re.search(loop, request) and not cues.PAST.search(request)))


def _judge_show(request: str) -> Intent:
    """Judge a wish to see something: what recurs at a time of day is asked about."""
    is_notice = re.search(r"^(?:tell|send) (?:me|us)\b", request) and cues.CONDITION.search(request)
    is_message = re.search(rf"^send (?:me|us) an? {cues.NOTICE}\b", request) is not None
    if is_notice and not cues.PAST.search(request) and (is_message or not cues.ONE_EVENT.search(request)):
        return Intent(lane="patch", confidence=0.75, reason="It is a message under a condition.")
    if _recurs(request) and re.search(r"\b(?:every|each) \w+(?: at .*)?$|\bat \S+$", request):
        return _unclear("It may be for now or for every time.")
    return _execute(0.95, "It asks to see something.")


def _judge_data(request: str) -> Intent:
    shows_later = re.search(rf"(?:,|\band\b|\bthen\b) (?:then )?{cues.SHOW}\b", request) or re.search(
        rf"\band (?:\w+ )?(?:{cues.COMPUTE}|keep|sort)\b", request
    )
    if shows_later:
        return _execute(0.85, "It ends with something to see.")
    if cues.WISH_FOR_DATA.search(request) or cues.FOLLOW_UP.search(request):
        return _execute(0.8, "It asks for data.")
    if _recurs(request):
        return _unclear("It names a time, but nothing to do then.")
    if _starts_with(request, cues.COMPUTE) and len(request.split()) > 2:
        alone = re.search(r"^(?:sort|filter|group|remove|drop|pivot) (?:by |on )?(?:the )?\w+$", request)
        return (
            _unclear("It may be for now or for good.") if alone else _execute(0.8, "It asks for a computation.")
        )
    is_command = _starts_with(request, cues.ACTION) and not cues.NOUN_PHRASE.search(request)
    if is_command or cues.SENTENCE.search(request):
        return _unclear("It may be for now or for good.")
    if cues.NOUN_PHRASE.search(request) and not _commands_object(request):
        return _execute(0.7, "It names data.")
    return _unclear("No rule decides.")


def _find_lasting_cues(request: str, workflow: WorkflowDocument | None) -> Iterator[str]:
    """Yield a reason for each cue of a lasting change."""
    part = _part_pattern(workflow)
    is_past = bool(cues.PAST.search(request))
    shows_later = bool(re.search(rf"(?:,|\band\b|\bthen\b) (?:then )?{cues.SHOW}\b", request))
    acts = _starts_with(request, cues.ACTION) or bool(re.search(rf"[,:] ?(?:\w+ )?{cues.ACTION}\b", request))
    if cues.META.search(request):
        yield "It speaks of a workflow to make or to bring back."
    if cues.STANDING.search(request) and not is_past and not shows_later:
        yield "It is to hold from now on."
    if re.search(r"^(?:always|never(?! mind))\b", request) or (
        cues.ALWAYS.search(request) and _starts_with(request, cues.ACTION)
    ):
        yield "It is to hold always."
    if cues.EACH_TIME.search(request) and not is_past and (acts or _acts_anywhere(request)):
        yield "It is to happen each time."
    is_scheduled = _recurs(request) and not is_past and not shows_later and _acts_at_times(request)
    if is_scheduled or cues.SCHEDULED_DISPLAY.search(request):
        yield "It is to happen at certain times."
    if not is_past and _has_conditional_action(request):
        yield "It is a rule with a condition."
    if cues.WISH.search(request) and (cues.CONDITION.search(request) or _recurs(request)):
        yield "It is a wish for messages."
    if any(cue.search(request) for cue in (cues.SHOULD, cues.GATE, cues.PERSON_FIRST)):
        yield "It says how a step should be."
    if not shows_later:
        yield from _find_edits(request, part)


def _find_edits(request: str, part: str) -> Iterator[str]:
    if cues.INSTEAD.search(request) and not _starts_with(request, r"(?:show|plot|only)"):
        yield "It replaces a setting."
    if cues.CHANGE_TO.search(request):
        yield "It changes a setting."
    near = rf"(?:[\w#.'\"-]+ ){{0,4}}?[\"']?(?:{part})\b"
    structure = rf"(?:{cues.STRUCTURE}|{part if part != cues.PART else cues.STRUCTURE})"
    if re.search(rf"{_START}{cues.EDIT} (?!up\b|of\b|in\b){near}", request) or re.search(
        rf"{_START}{cues.EDIT_STRUCTURE}\b.{{0,120}}?\b(?:the|a|an|in|of) (?:\w+ )?{cues.STRUCTURE}\b", request
    ):
        yield "It changes a step of the workflow."
    if re.search(
        rf"{_START}{cues.EDIT}\b.{{0,120}}\b(?:in|from|to|into|after|before) "
        rf"(?:the |a )?(?:\w+ )?{structure}\b",
        request,
    ):
        yield "It changes a step of the workflow."
    if re.search(
        r"^(?:trigger|start|schedule|repeat|allow)\b(?! of).{0,120}"
        rf"\b(?:{cues.STRUCTURE}|{cues.TIME_UNIT})\b",
        request,
    ):
        yield "It says when the workflow runs."
    if re.search(r"^(?:stop|pause|resume|disable|enable|turn off|turn on) ", request):
        yield "It switches a part on or off."
    if re.search(r"^skip (?:the )?(?:weekends?|holidays?|nights?|sundays?|saturdays?)\b", request):
        yield "It says when the workflow does not run."
    if cues.ORDERED.search(request):
        yield "It puts an action beside a step."


def _has_conditional_action(request: str) -> bool:
    """Check for an action that a condition governs, before or after it."""
    if cues.OTHERWISE.search(request):
        return True
    if not cues.CONDITION.search(request):
        return False
    governed = re.search(
        r"^(?:only )?(?:if|when|whenever|once|unless|as soon as|in case|on failure|on error|on success|upon)\b"
        rf".*?(?:,|\bthen\b|\s) ?(?:then )?(?:{cues.EFFECT})\b",
        request,
    )
    return bool(
        governed
        or re.search(rf"^(?:only |also )*(?:{cues.EFFECT})\b.*{cues.CONDITION.pattern}", request)
        or re.search(r"^(?:then )?let \w+(?: \w+)? know\b", request)
    )


def _is_question(request: str, is_polite: bool) -> bool:
    if cues.QUESTION.search(request):
        return True
    return request.endswith("?") and not is_polite


def _recurs(request: str) -> bool:
    without = cues.PERIOD_ADJECTIVE.sub(" ", request)
    return bool(cues.RECURRENCE.search(without) or cues.PERIOD_CHANGE.search(request))


def _acts_anywhere(request: str) -> bool:
    return bool(re.search(rf"(?:^|[ ,])(?:{cues.ACTION})\b", request)) and not re.search(
        r"^(?:all|each|every) (?!time\b)(?!" + cues.TIME_UNIT + r"\b)\w+", request
    )


def _acts_at_times(request: str) -> bool:
    """Check for an action that a time can govern: `mail volume at night` is none."""
    head = rf"^(?:also |then |only |please |in addition )*(?:{cues.TIMED_ACTION})\b"
    governed = rf"[,:]? (?:also |then )?(?:{cues.TIMED_ACTION})\b"
    if re.search(head, request) or cues.PERIOD_CHANGE.search(request):
        return True
    return bool(
        re.search(rf"^(?:at|on|every|each|once|twice|hourly|daily|weekly|monthly)\b.*{governed}", request)
    )


def _commands_object(request: str) -> bool:
    """Check for a verb of action with an object: `send the report`, not `email addresses`."""
    return bool(
        re.search(rf"^(?:{cues.ACTION}) (?:me|us|it|this|that|them|the|a|an|my|our|all|any|some)\b", request)
    )


def _starts_with(request: str, pattern: str) -> bool:
    return bool(re.search(rf"{_START}(?:{pattern})\b", request))


def _part_pattern(workflow: WorkflowDocument | None) -> str:
    if workflow is None:
        return cues.PART
    names = {re.escape(node.id.lower()) for node in workflow.nodes} | {node.type for node in workflow.nodes}
    return "|".join((cues.PART, *sorted(names)))


def _normalize(message: str) -> str:
    """Return lower-case words with single blanks; misspelled words of commands are corrected."""
    text = re.sub(r"\s+", " ", spell_out(message[:MAX_READ_CHARS].lower()).replace("\u2019", "'")).strip(
        " .!,;:"
    )
    return re.sub(rf"[a-z]{{{MIN_CORRECTED_CHARS},}}", lambda word: _correct(word[0]), text)


def _correct(word: str) -> str:
    if word in _SPELLED:
        return word
    # One edit, and the same first letter: `filtr` and `emial`, but `mail` stays.
    close = [right for right in _SPELLED if right[0] == word[0] and OSA.distance(word, right) == 1]
    # `filters` and `changed` are one edit away, too, and are no misspellings.
    is_inflected = any(word in (f"{right}s", f"{right}d", f"{right}r") for right in close)
    return close[0] if len(close) == 1 and not is_inflected and word != "ever" else word


def _execute(confidence: float, reason: str) -> Intent:
    return Intent(lane="execute", confidence=confidence, reason=reason)


def _unclear(reason: str) -> Intent:
    return Intent(lane="unclear", confidence=0.5, reason=reason)
