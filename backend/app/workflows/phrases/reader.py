"""The reader of phrases that change a workflow: rules in order, the first that fits is taken."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.workflows.document import WorkflowDocument
from app.workflows.intent.cues import POLITE
from app.workflows.intent.spelled_numbers import spell_out
from app.workflows.node_types import NODE_TYPES
from app.workflows.phrases.change import Change, ChangedDocument, ChangeQuestion, ask_about_unread, choose_node
from app.workflows.phrases.conditional_changes import read_conditional
from app.workflows.phrases.graph_edits import (
    add_node,
    append_to_outputs,
    detach_node,
    insert_after,
    insert_before,
    remove_node,
    rename_node,
    set_config,
)
from app.workflows.phrases.node_places import BESIDE, insert_beside, place_beside, place_node
from app.workflows.phrases.node_search import find_nodes
from app.workflows.phrases.notices import FAILURE, read_condition, read_notice
from app.workflows.phrases.schedule_edits import add_schedule, set_trigger
from app.workflows.phrases.schedule_phrases import explain_no_schedule, read_schedule
from app.workflows.phrases.sentences import MAX_SENTENCE_CHARS, read_sentence
from app.workflows.phrases.settings import change_setting
from app.workflows.phrases.table_steps import read_table_step
from app.workflows.phrases.unread_words import find_unread_words
from app.workflows.phrases.work_steps import KnownModel, read_work_step
from app.workflows.validation import find_outputs

EXAMPLES = (
    "add a notification after the filter",
    "change the threshold to 500",
    "run it every weekday at 8",
    "if it fails tell ops",
    "remove the email",
)
_REMOVE = re.compile(
    r"^(?:permanently )?(?:remove|delete|get rid of|take out|throw out|drop|stop sending|turn off|"
    r"disable|switch off) (?P<words>.*)$"
)
_STOP_RUNS = re.compile(
    r"^(?:stop|pause|suspend|turn off|disable) (?:the |this |running )?(?:it|this|\w* ?(?:runs?|schedule|"
    r"trigger|workflow))\b|"
    r"^don't run (?:it|this)"
)
_RESUME_RUNS = re.compile(
    r"^(?:resume|enable|turn on|restart) (?:the |this )?(?:\w+ )?(?:runs?|schedule|trigger|workflow)\b"
)
_MISSING_ROWS = re.compile(r"\b(?:duplicates?|nulls?|rows?|without|outliers)\b")
_DEFINITE = re.compile(r"\b(?:the|that) (?:e-?mail|mail|message|notification|alert|slack message|warning)\b")
_RENAME = re.compile(
    r"^(?:rename|call) (?P<words>.{1,80}?) (?:(?:to|as|into) [\"\u201c']?(?P<name>[\w -]{1,80}?)|"
    r"[\"\u201c'](?P<name2>[\w -]{1,80}?))"
    r"[\"\u201d']?(?: instead)?$"
)
_MOVE = re.compile(
    r"^(?:move|put|place) (?P<words>.+?) (?P<side>before|after|behind|to the end|to the start)(?P<place>.*)$"
)
_APPROVAL = re.compile(
    r"\b(?:approv\w{1,12}|confirm\w{0,12}|sign-?off|ask me)\b.{0,120}\bbefore\b|"
    r"\badd an? approval\b|\brequire approval\b"
)


def read_change(
    message: str,
    document: WorkflowDocument,
    columns: list[str],
    zone: str = "UTC",
    models: Sequence[KnownModel] = (),
) -> Change:
    """Return the workflow as the message wants it, or a question.

    `columns`: those of its outputs, where known. `models`: those of its owner, the newest first.
    """
    words = re.sub(r"\s+", " ", message).strip(" .!")
    if len(words) > MAX_SENTENCE_CHARS:
        limit = f"{MAX_SENTENCE_CHARS:,} characters"
        return ChangeQuestion(
            f"A change of a workflow has up to {limit}, and these are {len(words):,}: say it in parts."
        )
    request = POLITE.sub("", words.lower()).strip()
    # The words as they were written: names of datasets and texts of messages keep their capitals.
    words = words[len(words) - len(request) :] if words.lower().endswith(request) else request

    words = spell_out(words)
    if reason := explain_no_schedule(words):
        return ChangeQuestion(reason, ("every 2 weeks", "every Monday at 9"))

    def read_phrase(phrase: str, former: WorkflowDocument) -> Change:
        return _read_phrase(phrase, former, columns, zone, models)

    sentence = read_sentence(words, document, columns, zone, models, read_phrase)
    if sentence.is_whole and sentence.clauses + sentence.is_scheduled > 1:
        change = ChangedDocument(sentence.document, sentence.summary)
        unread = find_unread_words(words, document, change, columns)
        return ask_about_unread(unread) if unread else change
    if sentence.clauses and sentence.unread:
        return sentence.make_question()
    single = read_phrase(words, document)
    # No reader of single changes knew it, so that the sentence of one clause is the better reading.
    if isinstance(single, ChangeQuestion) and single.options == EXAMPLES and sentence.is_whole:
        change = ChangedDocument(sentence.document, sentence.summary)
        return single if find_unread_words(words, document, change, columns) else change
    return single


def _read_phrase(
    words: str,
    document: WorkflowDocument,
    columns: list[str],
    zone: str,
    models: Sequence[KnownModel],
) -> Change:
    """Read words as one change: the first one that accounts for all of them.

    Without one, a question about the fewest words that a change would pass over.
    """
    request = words.lower()
    # Phrases with a condition or a loop first: the readers after them would take a part of such words.
    readers: tuple[Callable[[], Change | None], ...] = (
        lambda: _add_conditional(words, document, columns, zone, models),
        lambda: _add_work(words, document, columns, zone, models),
        lambda: _change_runs(request, words, document, zone),
        lambda: _remove(request, document),
        lambda: _move(request, document),
        lambda: _rename(request, document),
        lambda: _approve(request, document),
        lambda: _notify(request, words, document, columns, zone),
        lambda: change_setting(words, document),
        lambda: _add_step(request, words, document, columns),
    )
    unread: list[list[str]] = []
    for read in readers:
        change = read()
        if isinstance(change, ChangedDocument):
            unread.append(find_unread_words(words, document, change, columns))
            if not unread[-1]:
                return change
        elif change is not None and not unread:
            return change
    if unread:
        return ask_about_unread(min(unread, key=lambda parts: sum(map(len, parts))))
    return ChangeQuestion("Which change is meant? Phrases like these are understood:", EXAMPLES)


def _add_conditional(
    words: str, document: WorkflowDocument, columns: list[str], zone: str, models: Sequence[KnownModel]
) -> Change | None:
    """Make what the words say depend on a test, and add a schedule if they name one."""
    change = read_conditional(words, document, columns, models)
    schedule = read_schedule(words, zone)
    if schedule is None or not isinstance(change, ChangedDocument):
        return change
    return add_schedule(change.document, schedule, change.summary)


def _change_runs(request: str, words: str, document: WorkflowDocument, zone: str) -> Change | None:
    triggers = [node for node in document.nodes if node.type == "trigger"]
    if _STOP_RUNS.search(request) or _RESUME_RUNS.search(request):
        enabled = not _STOP_RUNS.search(request)
        node = choose_node(triggers, "the schedule", document)
        if isinstance(node, ChangeQuestion):
            return ChangeQuestion("This workflow has no schedule.") if not triggers else node
        verb = "Resume" if enabled else "Stop"
        return ChangedDocument(
            set_config(document, node.id, {**node.config, "enabled": enabled}), f"{verb} {node.id}."
        )
    # Without quoted texts: `rename it to "every day"` sets no schedule.
    schedule = _read_trigger(re.sub(r"[\"\u201c][^\"\u201d]{0,200}[\"\u201d]", "", words), zone)
    if schedule is None or read_notice(words) is not None:
        return None
    return set_trigger(document, schedule)


def _read_trigger(words: str, zone: str) -> dict[str, Any] | None:
    if re.search(r"\bby (?:a )?webhook\b|\bwebhook trigger\b", words.lower()):
        return {"kind": "webhook"}
    return read_schedule(words, zone)


def _remove(request: str, document: WorkflowDocument) -> Change | None:
    request_parts = _REMOVE.search(request)
    if request_parts is None:
        return None
    object_words = BESIDE.split(request_parts["words"])[0]
    if _MISSING_ROWS.search(object_words) and read_table_step(request, []) is not None:
        return None  # "remove duplicates" adds a step
    nodes = find_nodes(object_words, document)
    node = choose_node(nodes, request_parts["words"], document)
    if isinstance(node, ChangeQuestion):
        return node
    # A workflow without nodes is none, and would be refused later without saying what to do.
    if len(document.nodes) == 1:
        return ChangeQuestion(f"{node.id} is the only step: delete the workflow instead.")
    return ChangedDocument(remove_node(document, node.id), f"Remove {node.id}.")


def _move(request: str, document: WorkflowDocument) -> Change | None:
    request_parts = _MOVE.search(request)
    if request_parts is None:
        return None
    nodes = find_nodes(request_parts["words"], document)
    if not nodes:
        return None
    node = choose_node(nodes, request_parts["words"], document)
    if isinstance(node, ChangeQuestion):
        return node
    if NODE_TYPES[node.type].max_inputs == 0:
        return ChangeQuestion(f"{node.id} takes no input, so it cannot stand behind another step.")
    detached = detach_node(document, node.id)
    if request_parts["side"] == "to the end":
        end = next(iter(output for output in find_outputs(detached) if output != node.id), node.id)
        return ChangedDocument(insert_after(detached, node.id, end), f"Move {node.id} to the end.")
    place = choose_node(
        [n for n in find_nodes(request_parts["place"], document) if n.id != node.id],
        request_parts["place"],
        document,
    )
    if isinstance(place, ChangeQuestion):
        return place
    moved = insert_beside(detached, node.id, request_parts["side"], place)
    if isinstance(moved, ChangeQuestion):
        return moved
    return ChangedDocument(moved, f"Move {node.id} {request_parts['side']} {place.id}.")


def _rename(request: str, document: WorkflowDocument) -> Change | None:
    request_parts = _RENAME.search(request)
    if request_parts is None:
        return None
    node = choose_node(find_nodes(request_parts["words"], document), request_parts["words"], document)
    if isinstance(node, ChangeQuestion):
        return node
    name = request_parts["name"] or request_parts["name2"]
    return ChangedDocument(rename_node(document, node.id, name), f"Rename {node.id} to {name}.")


def _approve(request: str, document: WorkflowDocument) -> Change | None:
    if _APPROVAL.search(request) is None:
        return None
    beside = BESIDE.search(request)
    places = find_nodes(beside["place"], document) if beside else []
    if not places:  # "before anything is sent"
        places = [
            node for node in document.nodes if node.type == "notify" and node.config.get("when") != "failed"
        ]
    changed, approval = add_node(document, "approve", {"text": "Go on?"})
    for place in places:
        inserted = insert_beside(changed, approval, "before", place)
        if isinstance(inserted, ChangeQuestion):
            return inserted
        return ChangedDocument(inserted, f"Ask for approval before {place.id}.")
    return ChangedDocument(
        append_to_outputs(changed, approval, has_many_inputs=False), "Ask for approval at the end."
    )


def _notify(
    request: str, words: str, document: WorkflowDocument, columns: list[str], zone: str
) -> Change | None:
    config = read_notice(words)
    if config is None or re.search(r"^(?:change|set|update|rename|use) ", request):
        return None
    if FAILURE.search(request) and re.search(r"\b(?:if|when|whenever|on|in case|as soon as)\b", request):
        changed, node_id = add_node(
            document, "notify", {**config, "when": "failed"}, f"{config['channel']}_on_failure"
        )
        return ChangedDocument(changed, f"Send a message ({node_id}) if a run fails.")
    condition = read_condition(words, columns)
    if condition is None and re.search(
        r"\b(?:if|when|whenever|as soon as|once) (?!it is done|done|it ends|finished)\w+", request
    ):
        options = tuple(f"if {column} drops" for column in columns[:5])
        return ChangeQuestion("Which figure decides that the message is sent?", options)
    messages = [node for node in find_nodes(request, document) if node.type == "notify"]
    if condition is not None and _DEFINITE.search(request) and len(messages) == 1:
        changed, test_id = add_node(document, "condition", condition)
        changed = insert_before(changed, test_id, messages[0].id)
        return ChangedDocument(changed, f"Send {messages[0].id} only if {_describe(condition)}.")
    changed, node_id = add_node(document, "notify", config, str(config["channel"]))
    placed = place_beside(request, document, changed, node_id) if condition is None else None
    if isinstance(placed, ChangeQuestion):
        return placed
    if placed is not None:
        changed, summary = placed.document, f"Send a message ({node_id}) {placed.place}."
    else:
        changed = append_to_outputs(changed, node_id, has_many_inputs=condition is None)
        summary = f"Send a message ({node_id}) at the end."
    if condition is not None:
        changed, test_id = add_node(changed, "condition", condition)
        changed = insert_before(changed, test_id, node_id)
        summary = f"Send a message ({node_id}) if {_describe(condition)}."
    schedule = read_schedule(words, zone)
    return ChangedDocument(changed, summary) if schedule is None else add_schedule(changed, schedule, summary)


def _describe(condition: Mapping[str, Any]) -> str:
    figure = (
        f"{condition['function']} of {condition['column']}" if "column" in condition else "the number of rows"
    )
    return f"{figure} {condition['op']} {condition.get('value', '')}".strip()


def _add_work(
    words: str, document: WorkflowDocument, columns: list[str], zone: str, models: Sequence[KnownModel]
) -> Change | None:
    """Add a prediction, a chart, a stored dataset or a `for_each`, and a schedule if one is named."""
    step = read_work_step(words, columns, models)
    if step is None or isinstance(step, ChangeQuestion):
        return step
    change = place_node(words.lower(), document, *add_node(document, step.type, step.config))
    if isinstance(change, ChangeQuestion):
        return change
    summary = f"{step.summary}. {change.summary}"
    schedule = read_schedule(words, zone)
    if schedule is None:
        return ChangedDocument(change.document, summary)
    return add_schedule(change.document, schedule, summary)


def _add_step(request: str, words: str, document: WorkflowDocument, columns: list[str]) -> Change | None:
    step = read_table_step(words, columns)
    if step is None:
        return None
    return place_node(request, document, *add_node(document, *step))
