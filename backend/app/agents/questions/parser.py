"""The parser of questions about tables."""

import re
from collections.abc import Sequence
from dataclasses import replace

from app.agents.goals import patterns
from app.agents.goals.costs import parse_costs
from app.agents.goals.intents import NO_MODEL
from app.agents.goals.tables import TableProfile
from app.agents.goals.tokenizer import words
from app.agents.questions.conditions import parse_conditions, parse_flags
from app.agents.questions.group_by import parse_groups
from app.agents.questions.marking import mark_question
from app.agents.questions.measures import parse_aggregates
from app.agents.questions.paraphrase import example_questions, paraphrase
from app.agents.questions.query import ParsedQuestion, UnparsedQuestion
from app.agents.questions.sentence import NotUnderstood, Sentence
from app.agents.questions.vocabulary import NOT_OF_DATA, SIGNS
from app.modeling.problem.metrics import METRIC_PHRASES
from app.modeling.problem.name_resolution import nearest_names

_COURTESY = re.compile(r"^\W*(?:please|hi|hello|hey)\b\W*|\bplease\b", re.IGNORECASE)


MAX_WORDS = 300
"""Words of a question, each of which is searched in all names of a table. Answerable questions are shorter."""
MAX_EXPLAINED_WORDS = 5
"""Words that a refusal explains, each with a search for the nearest names."""


def is_question(goal: str) -> bool:
    """Tell if a goal asks for figures of existing rows instead of a prediction."""
    text = NO_MODEL.sub(" ", goal)
    looks_ahead = any(pattern.search(text) for pattern in (patterns.VERB, patterns.AHEAD.regex, NOT_OF_DATA))
    return bool(SIGNS.search(text)) and not looks_ahead and not _judges_a_model(text)


def _judges_a_model(text: str) -> bool:
    """Tell if a text names a metric or costs of errors."""
    metrics = (pattern for pattern, metric in METRIC_PHRASES if metric != "top_3_accuracy")
    return parse_costs(text)[0] is not None or any(
        re.search(pattern, text, re.IGNORECASE) for pattern in metrics
    )


def parse_question(goal: str, tables: Sequence[TableProfile]) -> ParsedQuestion | UnparsedQuestion:
    """Parse a question about one of the tables. Ambiguous questions are returned unparsed, with options."""
    text = _COURTESY.sub(" ", NO_MODEL.sub(" ", goal)).strip()
    if len(words(text)) > MAX_WORDS:
        shorter = example_questions(tables[0]) if tables else ()
        return UnparsedQuestion(f"It has more than {MAX_WORDS} words. Ask a shorter question.", tuple(shorter))
    results = [_parse(text, table) for table in tables]
    parsed = [result for result in results if isinstance(result, ParsedQuestion)]
    in_named_table = [
        question for question in parsed if mark_question(text, _find_table(tables, question)).names_table
    ]
    if len(parsed) == 1 or len(in_named_table) == 1:
        return (in_named_table or parsed)[0]
    if parsed:
        return UnparsedQuestion(
            f"It can be asked of {' and of '.join(f'`{question.table}`' for question in parsed)}.",
            tuple(paraphrase(question, True) for question in parsed),
        )
    unparsed = [result for result in results if isinstance(result, UnparsedQuestion)]
    if not unparsed:
        return UnparsedQuestion("There is no table.")
    return max(unparsed, key=lambda result: len(result.options))


def _find_table(tables: Sequence[TableProfile], question: ParsedQuestion) -> TableProfile:
    return next(table for table in tables if table.name == question.table)


def _parse(text: str, table: TableProfile) -> ParsedQuestion | UnparsedQuestion:
    marked = mark_question(text, table)
    if marked.ambiguous:
        word, names = marked.ambiguous[0]
        listing = ", ".join(f"`{name}`" for name in names)
        return UnparsedQuestion(
            f"{word!r} could be {listing}.",
            tuple(re.sub(rf"(?i)\b{word}\w*", f"`{name}`", text, count=1) for name in names[:6]),
        )
    sentence = Sentence(marked, marked.text)
    try:
        question = _parse_sentence(sentence)
    except NotUnderstood as error:
        unknown = [
            word for word in sentence.unread if word.isalpha() and word.islower() and not SIGNS.search(word)
        ][:MAX_EXPLAINED_WORDS]
        remark = (
            f" Nothing is known of {', '.join(_describe_word(sentence, w, _names(table)) for w in unknown)}."
            if unknown
            else ""
        )
        return UnparsedQuestion(f"{error}{remark}", error.options or example_questions(table))
    if not sentence.unread:
        return question
    return UnparsedQuestion(
        _describe_unread(sentence, table), (paraphrase(question), *example_questions(table)[:3])
    )


def _parse_sentence(sentence: Sentence) -> ParsedQuestion:
    parse_conditions(sentence)
    parse_groups(sentence)
    request = parse_aggregates(sentence)
    parse_flags(sentence)
    measured = [condition for measure in request.measures for condition in measure.conditions]
    conditions = [sentence.conditions[int(mark[1:])] for mark in re.findall(r"F\d+", sentence.text)]
    sentence.text = re.sub(r"\bF\d+\b", "", sentence.text)
    groups = (*sentence.groups, *request.groups)
    if request.limit is not None and sentence.groups:
        raise NotUnderstood("It ranks and asks for groups at once.")
    return ParsedQuestion(
        sentence.question.table.name,
        request.measures,
        tuple(condition for condition in conditions if condition not in measured),
        groups,
        request.limit,
        request.descending,
        request.is_listing,
        request.is_share,
        tuple(dict.fromkeys([*sentence.question.interpretations, *sentence.interpretations])),
    )


def _describe_unread(sentence: Sentence, table: TableProfile) -> str:
    descriptions = [
        _describe_word(sentence, word, _names(table))
        for word in [*dict.fromkeys(sentence.unread)][:MAX_EXPLAINED_WORDS]
    ]
    return f"What is not understood: {', '.join(descriptions)}."


def _names(table: TableProfile) -> list[str]:
    return [column.name for column in table.columns]


def _describe_word(sentence: Sentence, word: str, names: Sequence[str]) -> str:
    """Describe an unread word, or the column, value or number of an unread mark."""
    if re.fullmatch(r"C\d+", word):
        return f"`{sentence.column(word).name}`"
    if re.fullmatch(r"V\d+", word):
        return repr(sentence.value(word)[1])
    if re.fullmatch(r"N\d+", word):
        return f"{sentence.number(word):g}"
    if re.fullmatch(r"[DL]\d+", word):
        texts = sentence.question.dates if word[0] == "D" else sentence.question.literals
        return repr(texts[int(word[1:])])
    nearest = nearest_names(word, names, 2)
    return f"{word!r}" + (f" (nearest: {', '.join(f'`{name}`' for name in nearest)})" if nearest else "")


def is_same_question(first: ParsedQuestion, second: ParsedQuestion) -> bool:
    """Tell if two questions are the same, apart from how words were interpreted."""
    return replace(first, interpretations=()) == replace(second, interpretations=())
