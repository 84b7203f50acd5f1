"""From the words of a question to what it asks, or to why it cannot be told."""

import re
from collections.abc import Sequence
from dataclasses import replace

from app.agents.goals import patterns
from app.agents.goals.costs import costs_of
from app.agents.goals.intents import NO_MODEL
from app.agents.goals.stemming import words
from app.agents.goals.tables import Table
from app.agents.questions.conditions import take_conditions, take_flags
from app.agents.questions.group_by import take_groups
from app.agents.questions.measures import take_measures
from app.agents.questions.paraphrase import examples, spoken
from app.agents.questions.query import Inquiry, Misread
from app.agents.questions.sentence import NotUnderstood, Sentence
from app.agents.questions.tokenizer import scan
from app.agents.questions.vocabulary import NOT_OF_DATA, SIGNS
from app.modeling.problem.names import nearest_names

_POLITE = re.compile(r"^\W*(?:please|hi|hello|hey)\b\W*|\bplease\b", re.IGNORECASE)


MAX_WORDS = 300
"""Of a question. Each is sought in every name of a table, and none that can be answered is that long."""
MAX_UNKNOWN = 5
"""Words that a refusal explains: for each the nearest names are sought."""


def is_question(goal: str) -> bool:
    """Does a goal ask for figures of the rows that there are, and for no prediction?"""
    text = NO_MODEL.sub(" ", goal)
    looks_ahead = any(pattern.search(text) for pattern in (patterns.VERB, patterns.AHEAD, NOT_OF_DATA))
    return bool(SIGNS.search(text)) and not looks_ahead and not _judges_a_model(text)


def _judges_a_model(text: str) -> bool:
    """It names a metric, or what mistakes cost."""
    metrics = (pattern for pattern, metric in patterns.METRICS if metric != "top_3_accuracy")
    return costs_of(text)[0] is not None or any(re.search(pattern, text, re.IGNORECASE) for pattern in metrics)


def read_question(goal: str, tables: Sequence[Table]) -> Inquiry | Misread:
    """What a question asks of one of the tables."""
    text = _POLITE.sub(" ", NO_MODEL.sub(" ", goal)).strip()
    if len(words(text)) > MAX_WORDS:
        shorter = examples(tables[0]) if tables else ()
        return Misread(f"It has more than {MAX_WORDS} words. Ask in fewer.", tuple(shorter))
    read = [_read(text, table) for table in tables]
    understood = [one for one in read if isinstance(one, Inquiry)]
    named = [one for one in understood if scan(text, _of(tables, one)).names_table]
    if len(understood) == 1 or len(named) == 1:
        return (named or understood)[0]
    if understood:
        return Misread(
            f"It can be asked of {' and of '.join(f'`{one.table}`' for one in understood)}.",
            tuple(spoken(one, True) for one in understood),
        )
    misread = [one for one in read if isinstance(one, Misread)]
    if not misread:
        return Misread("There is no table.")
    return max(misread, key=lambda one: len(one.options))


def _of(tables: Sequence[Table], inquiry: Inquiry) -> Table:
    return next(table for table in tables if table.name == inquiry.table)


def _read(text: str, table: Table) -> Inquiry | Misread:
    scanned = scan(text, table)
    if scanned.unclear:
        word, names = scanned.unclear[0]
        listed = ", ".join(f"`{name}`" for name in names)
        return Misread(
            f"{word!r} could be {listed}.",
            tuple(re.sub(rf"(?i)\b{word}\w*", f"`{name}`", text, count=1) for name in names[:6]),
        )
    sentence = Sentence(scanned, scanned.text)
    try:
        inquiry = _taken(sentence)
    except NotUnderstood as why:
        unknown = [
            word for word in sentence.left if word.isalpha() and word.islower() and not SIGNS.search(word)
        ][:MAX_UNKNOWN]
        told = (
            f" Nothing is known of {', '.join(_told(sentence, w, _names(table)) for w in unknown)}."
            if unknown
            else ""
        )
        return Misread(f"{why}{told}", why.options or examples(table))
    if not sentence.left:
        return inquiry
    return Misread(_unknown(sentence, table), (spoken(inquiry), *examples(table)[:3]))


def _taken(sentence: Sentence) -> Inquiry:
    take_conditions(sentence)
    take_groups(sentence)
    wanted = take_measures(sentence)
    take_flags(sentence)
    asked = [condition for measure in wanted.measures for condition in measure.conditions]
    kept = [sentence.conditions[int(mark[1:])] for mark in re.findall(r"F\d+", sentence.text)]
    sentence.text = re.sub(r"\bF\d+\b", "", sentence.text)
    groups = (*sentence.groups, *wanted.groups)
    if wanted.most is not None and sentence.groups:
        raise NotUnderstood("It ranks and asks for groups at once.")
    return Inquiry(
        sentence.scanned.table.name,
        wanted.measures,
        tuple(condition for condition in kept if condition not in asked),
        groups,
        wanted.most,
        wanted.descending,
        wanted.listing,
        wanted.of_whole,
        tuple(dict.fromkeys([*sentence.scanned.readings, *sentence.readings])),
    )


def _strange(sentence: Sentence, table: Table) -> str:
    """Words that stand for nothing, where the question failed for another reason."""
    left = [word for word in dict.fromkeys(sentence.left) if word.isalpha() and word.islower()]
    strange = [word for word in left if not SIGNS.search(word)][:MAX_UNKNOWN]
    unknown = [_told(sentence, word, _names(table)) for word in strange]
    return f" Nothing is known of {', '.join(unknown)}." if unknown else ""


def _unknown(sentence: Sentence, table: Table) -> str:
    told = [_told(sentence, word, _names(table)) for word in [*dict.fromkeys(sentence.left)][:MAX_UNKNOWN]]
    return f"What is not understood: {', '.join(told)}."


def _names(table: Table) -> list[str]:
    return [column.name for column in table.columns]


def _told(sentence: Sentence, word: str, names: Sequence[str]) -> str:
    """A word that was left, or what a mark that was left stands for."""
    if re.fullmatch(r"C\d+", word):
        return f"`{sentence.column(word).name}`"
    if re.fullmatch(r"V\d+", word):
        return repr(sentence.value(word)[1])
    if re.fullmatch(r"N\d+", word):
        return f"{sentence.number(word):g}"
    if re.fullmatch(r"[DL]\d+", word):
        kind = sentence.scanned.dates if word[0] == "D" else sentence.scanned.literals
        return repr(kind[int(word[1:])])
    close = nearest_names(word, names, 2)
    return f"{word!r}" + (f" (nearest: {', '.join(f'`{name}`' for name in close)})" if close else "")


def same(one: Inquiry, other: Inquiry) -> bool:
    """Do two ask the same, however they were worded?"""
    return replace(one, readings=()) == replace(other, readings=())
