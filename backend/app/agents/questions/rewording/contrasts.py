"""Rewording of questions that set rows against the others: `those who left versus those who stayed`."""

import re
from collections.abc import Sequence

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.stemming import stem, stems
from app.agents.questions.items import QuestionItem
from app.agents.questions.marking.mark_items import mark_items
from app.agents.questions.matching.column_matching import STEM
from app.agents.questions.matching.value_matching import denies_flag, flag_values

MIN_FLAG_SCORE = 0.75
"""Score of a yes/no column that a verb or noun of a contrast names: by its stem or a beginning."""
_PEOPLE = r"(?:those|the ones|ones|people|persons|[a-z]{3,20}s)"
_LINK = r"(?:,? ?(?:versus|vs\.?|against|compared (?:to|with)|and|or|than))"
_BEFORE = r"(?:(?:of|for|among|between|by|from|in) )?"
_PRONOUN = r"(?:who|that|which)"
_VERBS = rf"(?:{_PRONOUN} (?:(?:have|has|had|were|was|are|is) )?)"
_END = r"(?=$|[?.,]| (?:by|in|per|for)\b)"
_NOT = r"(?:(?:did|do|does|have|has|had|were|was|are|is) ?n[o']?t|never)"
_CONTRAST = re.compile(
    rf"\b{_BEFORE}(?:the )?{_PEOPLE} {_VERBS}([a-z]{{3,20}}){_LINK} (?:(?:the )?{_PEOPLE} )?{_PRONOUN}? ?"
    rf"({_NOT}(?: [a-z]{{3,20}})?|(?:have |has |were |was |are |is )?[a-z]{{3,20}}){_END}",
    re.IGNORECASE,
)
"""Two relative clauses, of which the second is the opposite of the first or denies it."""
_WITH_WITHOUT = re.compile(
    rf"\b(with|without) (?:an? )?([a-z]{{3,20}}){_LINK} (?:{_PEOPLE} )?(without|with)"
    rf"(?: (?:an? )?(?:\2|any|one))?{_END}",
    re.IGNORECASE,
)
_BOTH = re.compile(rf"\bwith{_LINK} without (?:an? )?([a-z]{{3,20}})\b", re.IGNORECASE)
_NON = re.compile(
    rf"\b(?:(of|for|among|between|by|from|in) )?([a-z]{{3,20}}){_LINK} (?:for |of )?non[- ]?\2"
    rf"(?: ([a-z]{{3,20}}))?(?={_END})",
    re.IGNORECASE,
)
"""A word and its denial: `vegan versus non-vegan snacks`."""
_DENIAL = re.compile(rf"{_NOT}\b")
_AGENTS = re.compile(
    rf"\bby (?=(?:the )?(?:those|people|persons) {_PRONOUN}\b)",
    re.IGNORECASE,
)
"""`by` before persons whom a clause describes, who make no groups: `hours watched by those who finished`."""


def reword_contrasts(question: str, tables: Sequence[TableProfile]) -> str:
    """Name the yes/no column by which a question sets rows against the others."""

    def name_clauses(match: re.Match[str]) -> str:
        column = _find_flag(match[1], tables)
        second = match[2].casefold()
        is_denied = _DENIAL.match(second) is not None
        # Two clauses that are no opposites ask for two groups of their own.
        if column is None or not (is_denied or _is_other(second.split()[-1], match[1], column, tables)):
            return match[0]
        return f"by `{column.name}`"

    def name_noun(match: re.Match[str]) -> str:
        column = _find_flag(match[2], tables) if match[1].casefold() != match[3].casefold() else None
        return f"by `{column.name}`" if column else match[0]

    def name_both(match: re.Match[str]) -> str:
        column = _find_flag(match[1], tables)
        return f"by `{column.name}`" if column else match[0]

    def name_denial(match: re.Match[str]) -> str:
        column = _find_flag(match[2], tables)
        noun = f"{match[1] or 'of'} {match[3]} " if match[3] else ""
        return f"{noun}by `{column.name}`" if column else match[0]

    question = _NON.sub(name_denial, question)
    text = _CONTRAST.sub(name_clauses, question)
    text = _BOTH.sub(name_both, _WITH_WITHOUT.sub(name_noun, text))
    return _AGENTS.sub("of ", text)


def _is_other(word: str, first: str, column: Column, tables: Sequence[TableProfile]) -> bool:
    """Tell if a word is the opposite of the first one: each says another value of the yes/no column."""
    if denies_flag(word, column) != denies_flag(first, column):
        return True
    item = mark_items(word, tables).items[0]
    return not (item.columns or item.values or item.row_tables)


def _find_flag(word: str, tables: Sequence[TableProfile]) -> Column | None:
    """The yes/no column that a word names or denies; None where it names anything else as well."""
    items: Sequence[QuestionItem] = mark_items(word, tables).items
    item = items[0] if len(items) == 1 else None
    if item is None or (item.values and item.values[0].score >= STEM):
        return None
    flags = [m for m in item.columns if flag_values(m.column) is not None]
    matches = [m for m in flags if m.score >= MIN_FLAG_SCORE or denies_flag(word, m.column)]
    matches = matches or [m for m in flags if stem(word.casefold()) in stems(m.column.name)]
    # A word that names two yes/no columns could mean either: the question stays as it is.
    return matches[0].column if len({m.column.name for m in matches}) == 1 else None
