"""Conditions on parts of texts: `names starting with A`, and words that only occur within stored names."""

from app.agents.goals.words.tokenizer import words
from app.agents.questions.grammar_words import KNOWN_WORDS
from app.agents.questions.items import QuestionItem
from app.agents.questions.matching.value_matching import match_contained
from app.agents.questions.phrases import PhraseMatch
from app.agents.questions.question_reading import Condition, QuestionReading, add_condition
from app.agents.questions.tables.scope import Reference
from app.plans import build
from app.plans.expressions import ContainsExpression, Expression


def parse_contained(reading: QuestionReading) -> None:
    """Parse words that only occur within names: `burgers`, of items such as `Cheese Burger`."""
    for place, item in enumerate(reading.text.items):
        if (
            item.role
            or item.kind != "word"
            or item.columns
            or item.values
            or item.row_tables
            or item.word in KNOWN_WORDS
        ):
            continue
        if occurrence := match_contained(item.word, reading.scope.tables):
            table, column, text = occurrence
            reference = Reference(table, column)
            reading.text.use([place], "condition")
            reading.note(f"Rows whose `{column.name}` contains {text!r} are meant.")
            condition = ContainsExpression(
                kind="contains", operand=reference.expression, text=text, ignore_case=True
            )
            reading.conditions.append(Condition(condition, reference, place=place))


def parse_text_matches(reading: QuestionReading) -> None:
    """Parse beginnings, ends and parts of texts, of a named column or of the one that names the rows."""
    for words_, kind in (
        ("starting|starts|start|beginning|begins|begin with|in|on", "starts_with"),
        ("ending|ends|end with|in|on", "ends_with"),
        ("containing|contains|contain|including|includes|include", "contains"),
    ):
        for phrase in (
            f"C=column {words_} L|V|U|N=text",
            f"{words_} L|V|U|N=text",
            f"C=column {words_} W=text",
            f"{words_} W=text",
        ):
            while match := reading.text.find(phrase):
                text = _literal_text(reading.text.item(match, "text"))
                item = reading.text.item(match, "column")
                reference = reading.column(item) if item else _name_column(reading)
                if reference is None or reference.column.is_number:
                    break
                # `starts_with` of DuckDB heeds case, and questions write names in lower case.
                lowered = build.call("lower", reference.expression)
                expression: Expression
                if kind == "contains":
                    expression = ContainsExpression(
                        kind="contains", operand=reference.expression, text=text, ignore_case=True
                    )
                else:
                    expression = build.call(kind, lowered, build.literal(text.casefold()))
                condition = Condition(expression, reference, (text,))
                add_condition(reading, _without_listed(reading, match), condition)


def _without_listed(reading: QuestionReading, match: PhraseMatch) -> PhraseMatch:
    """Leave the column of a match to the rest of the question where it is what that asks for.

    `vehicles starting with TRK` lists vehicles, while `whose name starts with A` only says which text is meant.
    """
    places = match.names.get("column", [])
    is_plural = bool(places) and reading.text.items[places[0]].word.endswith("s")
    if not is_plural or (places[0] and reading.text.items[places[0] - 1].text in _OWNING):
        return match
    return PhraseMatch([place for place in match.places if place not in places], match.names)


_OWNING = frozenset({"whose", "their", "with"})
"""Words before a column that is a property of what is asked for."""


def _literal_text(item: QuestionItem | None) -> str:
    return item.text if item else ""


def _name_column(reading: QuestionReading) -> Reference | None:
    """The column that names the rows of the table."""
    names = [
        Reference(table.name, column)
        for table in reading.scope.tables
        for column in table.columns
        if column.type == "text"
        and ({"name", "title", "item", "rownames"} & set(words(column.name)) or column.unique)
        and column.hint != "datetime"
    ]
    mentioned = [n for n in names if n.table in reading.main_tables] or names
    return next((n for n in mentioned if not n.column.name.endswith("id")), mentioned[0] if mentioned else None)
