"""Conditions in words: `if there are more than 10 rows send an email`, `only if ...`, `otherwise ...`."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from app.workflows.document import Node, WorkflowDocument
from app.workflows.phrases.branch_edits import (
    EFFECTS,
    NewStep,
    add_branch,
    add_other_branch,
    clear_conditions,
    find_branch_place,
    guard_node,
    list_other_branches,
    set_conditions,
)
from app.workflows.phrases.change import Change, ChangedDocument, ChangeQuestion, choose_node
from app.workflows.phrases.graph_edits import set_config
from app.workflows.phrases.node_search import find_nodes
from app.workflows.phrases.notices import FAILURE, read_notice
from app.workflows.phrases.word_tests import FigureTest, RowsTest, ValueTest, WordTest, read_test
from app.workflows.phrases.work_steps import KnownModel, read_work_step

_KIND = (
    r"(?:only (?:if|when|once)|if|when(?:ever)?|once|as soon as|as long as|in case|every time|each time|unless|"
    r"provided(?: that)?|except (?:if|when))"
)
_VERB = (
    r"(?:send|e-?mail|mail|tell|alert|notify|warn|ping|inform|let|post|message|store|save|keep|draw|plot|chart|ask|"
    r"require|predict|write|run|stop|skip|don't|do not)"
)
_TEST_FIRST = re.compile(rf"^(?:and |also |then |only )*(?P<kind>{_KIND}) (?P<rest>.+)$", re.IGNORECASE)
_SPLIT = re.compile(rf"(?:,(?!\d)|:| then\b)(?: then)? (?P<action>.+)$| (?P<verb>{_VERB}\b.*)$", re.IGNORECASE)
_ACTION_FIRST = re.compile(rf"^(?P<action>.+?),? (?P<kind>{_KIND}) (?P<test>.+)$", re.IGNORECASE)
_ON_STEP = re.compile(
    r"^(?:(?:put|set|add) an? condition (?:on|to|before|for) (?:the )?(?P<step>[\w ]{1,60}?)(?::| that|,) "
    r"(?P<test>.+)"
    r"|(?:make|let) (?:the )?(?P<step2>[\w ]{1,60}?) depend on (?P<test2>.+)"
    r"|require (?P<test3>.+?) (?:for|before) (?:the )?(?P<step3>[\w ]{1,60}))$",
    re.IGNORECASE,
)
_CHANGED = re.compile(
    r"^(?:change|set|make|adjust|update|switch) (?P<words>[\w ]{0,60}?\bcondition\b[\w ]{0,60}?) (?:to|into) "
    r"(?P<test>\D.+)$",
    re.IGNORECASE,
)
_CLEARED = re.compile(
    r"^(?:remove|drop|delete|lift|take (?:off|away)) (?:the |its |all )?(?:condition|test)s? "
    r"(?:of|on|from|for|before) (?:the )?(?P<step>[\w ]{1,60})$"
    r"|^(?:always )?(?:send|post|run|draw|save|store) the (?P<step2>[\w ]{1,40}?),? "
    r"(?:even (?:if|when)|however|no matter|regardless|whatever|whether or not)\b.*$"
    r"|^always (?:send|post|run|draw|save|store) the (?P<step3>[\w ]{1,40})$",
    re.IGNORECASE,
)
_OTHERWISE = re.compile(
    r"^(?:and |but )?(?:otherwise|or else|else|if not|in (?:all|any|every|the) other cases?|"
    r"if (?:it|that|this) (?:does not|doesn't|is not|isn't)(?: hold| pass| true| met| the case| so)?)[,:]? "
    r"(?P<action>.+)$",
    re.IGNORECASE,
)
_BOTH = re.compile(
    r"^(?P<first>.+?)[,;.]? (?:and |but )?(?:otherwise|or else|else|if not),? (?P<rest>.+)$", re.IGNORECASE
)
_NEGATIVE = re.compile(
    r"^(?:don't|do not|never|skip|stop|no longer|hold back|leave out|omit|suppress)\b|\bnot be sent\b|"
    r"\bnot go out\b",
    re.IGNORECASE,
)
_DEFINITE = re.compile(r"\b(?:the|that|this|its|my|our) (?P<words>\w+(?: \w+){0,2})", re.IGNORECASE)
_ONLY = re.compile(
    r"^only (?:send|e-?mail|mail|notify|tell|alert|post|do it|run)\b|^(?:send|do|run) it$", re.IGNORECASE
)
_GIVER = re.compile(
    r"\bthe (?P<words>[\w ]{1,40}?) (?:leaves|finds|returns|gives|brings|yields|produces)\b", re.IGNORECASE
)
_BESIDE = re.compile(r"\b(?:after|behind) (?:the )?(?P<words>[\w ]{1,40}?)(?: step| node)?$", re.IGNORECASE)
_STORED = re.compile(r"^(store|save|keep) the [\w ]{1,40}? (as|under|in)\b", re.IGNORECASE)
_APPROVAL = re.compile(r"\bask me\b|\bapprov\w{1,12}\b|\bconfirm\w{0,12}\b|\bsign-?off\b", re.IGNORECASE)


class ConditionalSentence(NamedTuple):
    """The test of a sentence and what is to be done, which is empty where there is nothing."""

    test: WordTest
    test_words: str
    action: str


class _Reader(NamedTuple):
    """The workflow that words are about, its columns, and the models of its owner."""

    document: WorkflowDocument
    columns: list[str]
    models: Sequence[KnownModel]


def read_conditional(
    words: str, document: WorkflowDocument, columns: list[str], models: Sequence[KnownModel]
) -> Change | None:
    """Return the change of a sentence with a condition, a question about it, or None if it has none."""
    reader = _Reader(document, columns, models)
    # First, since `send the email even if it is empty` has an `if` and adds no test.
    cleared = _CLEARED.search(words)
    if cleared is not None:
        return _clear(reader, cleared["step"] or cleared["step2"] or cleared["step3"])
    otherwise = _OTHERWISE.search(words)
    if otherwise is not None:
        return _add_otherwise(reader, otherwise["action"], document)
    both = _BOTH.search(words)
    if both is not None:
        first = read_conditional(both["first"], document, columns, models)
        if not isinstance(first, ChangedDocument):
            return first
        rest = _add_otherwise(reader._replace(document=first.document), both["rest"], document, True)
        if not isinstance(rest, ChangedDocument):
            return rest
        return ChangedDocument(rest.document, f"{first.summary} {rest.summary}")
    changed = _CHANGED.search(words)
    if changed is not None:
        return _change_condition(reader, changed["words"], changed["test"])
    on_step = _ON_STEP.search(words)
    if on_step is not None:
        step = on_step["step"] or on_step["step2"] or on_step["step3"]
        return _guard_named(reader, step, on_step["test"] or on_step["test2"] or on_step["test3"])
    sentence = read_test_and_action(words, columns)
    return None if sentence is None else _apply(reader, sentence)


def read_test_and_action(words: str, columns: list[str]) -> ConditionalSentence | None:
    """Return the test of a sentence and what is to be done; None if it has no test that can be read."""
    first = _TEST_FIRST.search(words)
    if first is not None:
        split = _SPLIT.search(first["rest"])
        action = (split["action"] or split["verb"]) if split else ""
        parts = (first["kind"], first["rest"][: split.start()] if split else first["rest"], action)
    else:
        last = _ACTION_FIRST.search(words)
        if last is None:
            return None
        parts = (last["kind"], last["test"], last["action"])
    kind, test_words, action = parts
    test = None if FAILURE.search(test_words.lower()) else read_test(test_words, columns)
    if test is None:
        return None
    # Both `unless` and `do not` turn the test round, so together they leave it.
    is_negated = kind.lower().startswith(("unless", "except")) != (_NEGATIVE.search(action) is not None)
    # Outside of a range there are two sides, and an edge has one test.
    if is_negated and isinstance(test, RowsTest) and test.upper is not None:
        return None
    return ConditionalSentence(test.negate() if is_negated else test, test_words, action)


def _apply(reader: _Reader, sentence: ConditionalSentence) -> Change | None:
    """Put the test before a step that the sentence names, or before a new one."""
    action, document = sentence.action, reader.document
    messages = [
        node for node in document.nodes if node.type == "notify" and node.config.get("when") != "failed"
    ]
    mentions = [
        node
        for match in _DEFINITE.finditer(action)
        for node in _list_effects(find_nodes(match["words"], document))
    ]
    is_about_old = not action or _ONLY.search(action) or _NEGATIVE.search(action)
    nodes = list({node.id: node for node in mentions}.values()) or (messages if is_about_old else [])
    if nodes:
        node = choose_node(nodes, action or "it", document)
        return node if isinstance(node, ChangeQuestion) else _guard(reader, node, sentence.test)
    step = _read_action(_NEGATIVE.sub("", action).strip(), reader)
    if not isinstance(step, NewStep):
        return step
    place = _find_place(reader, sentence)
    if isinstance(place, ChangeQuestion):
        return place
    if step.type == "approve" and any(edge.source == place for edge in document.edges):
        return ChangeQuestion(f"Steps follow {place}, which would wait in any case. Ask without a condition?")
    added = add_branch(document, place, sentence.test, step)
    changed, summary = added.document, f"{step.summary} ({added.id}) if {sentence.test.describe()}."
    # `instead` turns the message that there is off where the new one is sent.
    is_instead = re.search(r"\binstead\b", action) is not None
    if is_instead and len(messages) == 1 and isinstance(sentence.test, RowsTest):
        changed = set_conditions(changed, messages[0].id, sentence.test.negate().make_condition())
        summary += f" Send {messages[0].id} otherwise."
    return ChangedDocument(changed, summary)


def _guard_named(reader: _Reader, step: str, test_words: str) -> Change | None:
    test = read_test(test_words, reader.columns)
    if test is None:
        return None
    node = choose_node(_list_effects(find_nodes(step, reader.document)), step, reader.document)
    return node if isinstance(node, ChangeQuestion) else _guard(reader, node, test)


def _guard(reader: _Reader, node: Node, test: WordTest) -> Change:
    guarded = guard_node(reader.document, node, test)
    if isinstance(guarded, ChangeQuestion):
        return guarded
    return ChangedDocument(guarded, f"Run {node.id} only if {test.describe()}.")


def _find_place(reader: _Reader, sentence: ConditionalSentence) -> str | ChangeQuestion:
    """Find the node whose table is tested: one that the words name, else the end of the workflow."""
    for pattern, words in ((_GIVER, sentence.test_words), (_BESIDE, sentence.action)):
        match = pattern.search(words)
        nodes = find_nodes(match["words"], reader.document) if match else []
        if nodes:
            node = choose_node(nodes, words, reader.document)
            return node if isinstance(node, ChangeQuestion) else node.id
    return find_branch_place(reader.document)


def _read_action(words: str, reader: _Reader) -> NewStep | ChangeQuestion | None:
    """Read a step that does something with a table."""
    words = re.sub(r"^(?:then|please|also|just) ", "", words.strip(" ,"), flags=re.IGNORECASE)
    words = re.sub(r"\binstead$", "", words).strip()
    words = _STORED.sub(r"\1 it \2", words)
    if _APPROVAL.search(words):
        return NewStep("approve", {"text": "Go on?"}, "Ask for approval")
    step = read_work_step(words, reader.columns, reader.models)
    if isinstance(step, ChangeQuestion):
        return step
    if step is not None:
        return NewStep(step.type, step.config, step.summary)
    notice = read_notice(words)
    return None if notice is None else NewStep("notify", notice, "Send a message")


def _add_otherwise(
    reader: _Reader, action: str, before: WorkflowDocument, is_added: bool = False
) -> Change | None:
    """Add a step to the other branch of a condition: of the only one, or of the one that was added."""
    former = list_other_branches(before) if is_added else []
    branches = [branch for branch in list_other_branches(reader.document) if branch not in former]
    if not branches:
        return ChangeQuestion("This workflow has no condition yet. If what does not hold?")
    if len(branches) > 1 or branches[0] is None:
        options = tuple(f"if {b.condition.describe()} of {b.source}" for b in branches if b is not None)
        return ChangeQuestion("Several tests may be meant. If what does not hold?", options)
    step = _read_action(action, reader)
    if not isinstance(step, NewStep):
        return step
    added = add_other_branch(reader.document, branches[0], step)
    condition = branches[0].condition.describe()
    return ChangedDocument(
        added.document, f"{step.summary} ({added.id}) if {condition} of {branches[0].source}."
    )


def _clear(reader: _Reader, words: str) -> Change | None:
    nodes = _list_effects(find_nodes(words, reader.document))
    if not nodes:
        return None
    node = choose_node(nodes, words, reader.document)
    if isinstance(node, ChangeQuestion):
        return node
    return ChangedDocument(clear_conditions(reader.document, node.id), f"Run {node.id} whatever its input is.")


def _change_condition(reader: _Reader, words: str, test_words: str) -> Change | None:
    """Change the only condition, or that of the step which the words name."""
    test = read_test(test_words, reader.columns)
    document = reader.document
    if test is None or isinstance(test, ValueTest) or (isinstance(test, RowsTest) and test.upper is not None):
        return None
    if isinstance(test, FigureTest):
        tests = [node for node in document.nodes if node.type == "condition"]
        node = choose_node(tests, words, document)
        if isinstance(node, ChangeQuestion):
            return node
        return ChangedDocument(
            set_config(document, node.id, test.config), f"Test {test.describe()} in {node.id}."
        )
    ids = {node.id for node in find_nodes(words, document) if node.type != "condition"}
    targets = list(dict.fromkeys(edge.target for edge in document.edges if edge.condition is not None))
    targets = [target for target in targets if target in ids] or targets
    # Several conditions, and no word for one of them: another reader may understand the words.
    if len(targets) != 1:
        return None
    changed = set_conditions(document, targets[0], test.make_condition())
    return ChangedDocument(changed, f"Run {targets[0]} only if {test.describe()}.")


def _list_effects(nodes: Sequence[Node]) -> list[Node]:
    return [node for node in nodes if node.type in EFFECTS and node.config.get("when") != "failed"]
