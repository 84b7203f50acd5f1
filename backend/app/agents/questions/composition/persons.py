"""Columns of persons that `who` asks for, and that nouns of persons count."""

from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.composition.sketch import Mention
from app.agents.questions.grammar_words import PERSON_NOUNS
from app.agents.questions.grouping import name_column
from app.agents.questions.marking.row_nouns import PERSONS
from app.agents.questions.matching.column_matching import name_parts
from app.agents.questions.question_reading import QuestionReading, make_value
from app.agents.questions.tables.scope import Reference


def person_column(reading: QuestionReading, table: str, is_linked: bool = False) -> Mention | None:
    """The column of persons that `who` asks for, where the rows are no persons themselves.

    `is_linked`: the persons may be the rows of another table to whom the rows belong.
    """
    columns = [
        Reference(table, column)
        for column in reading.scope.stored_columns(table)
        if column.type == "text" and PERSONS & {*name_parts(column.name), *words(column.name)}
        if words(column.name)[-1] not in _TRAITS
    ]
    if not columns and is_linked:
        return _linked_person(reading, table)
    # Of a seller and a buyer either could be `who`; names that occur once are the rows themselves.
    if len(columns) != 1 or columns[0].column.unique:
        return None
    reading.note(f"`{columns[0].column.name}` is taken for 'who'.")
    return Mention(-1, reading.text.items[0], make_value(columns[0]), table)


_TRAITS = word_set("type kind class category status level group tier segment plan age sex gender role")
"""Last words of columns that say of which kind persons are, and not who: `member_type`."""


def _linked_person(reading: QuestionReading, table: str) -> Mention | None:
    """The names of the persons of another table to whom the rows of a table belong: members of payments."""
    links = [link for link in reading.scope.links if link.many == table]
    names = [
        Reference(link.single, column)
        for link in links
        if (column := name_column(reading.scope.table(link.single).columns, link.key))
        and (PERSONS & {*name_parts(column.name), *words(column.name)})
        and (PERSON_NOUNS & {*words(link.single), *map(stem, words(link.single))})
    ]
    if len(names) != 1:
        return None
    reading.note(f"`{names[0].column.name}` is taken for 'who'.")
    return Mention(-1, reading.text.items[0], make_value(names[0]), names[0].table)
