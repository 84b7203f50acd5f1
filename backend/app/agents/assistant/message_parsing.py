"""Messages of a conversation as questions about its tables, and examples of such questions."""

from collections.abc import Sequence
from functools import lru_cache

from app.agents.assistant.brief import ChatBrief
from app.agents.assistant.tables.scope import drop_superseded, list_joinable_groups, list_narrower_scopes
from app.agents.goals.tables.profiles import TableProfile, make_table_profile
from app.agents.questions.examples import example_questions
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion
from app.agents.questions.parser import parse_question


def list_profiles(brief: ChatBrief) -> list[TableProfile]:
    profiles = [make_table_profile(schema) for schema in brief.tables]
    return drop_superseded(brief.message, profiles, brief.earlier)


def parse_message(brief: ChatBrief) -> ParsedQuestion | UnparsedQuestion:
    """Parse a question about all tables, else about the newest one of the conversation that answers it."""
    tables = tuple(list_profiles(brief))
    parsed = _parse(brief.message, tables)
    if isinstance(parsed, UnparsedQuestion):
        for scope in list_narrower_scopes(tables, brief.earlier):
            narrower = _parse(brief.message, scope)
            if isinstance(narrower, ParsedQuestion):
                return narrower
        return _parse_in_groups(brief.message, tables) or parsed
    return parsed


def _parse_in_groups(message: str, tables: Sequence[TableProfile]) -> ParsedQuestion | None:
    """Parse a question in each group of tables that can be joined; None where none or several answer it."""
    groups = list_joinable_groups(tables)
    answers = [
        (group, parsed) for group in groups if isinstance(parsed := _parse(message, group), ParsedQuestion)
    ]
    if len(answers) != 1:
        return None
    group, parsed = answers[0]
    names = " and ".join(f"`{table.name}`" for table in group)
    note = f"Read as about {names}."
    return parsed.model_copy(update={"interpretations": (*parsed.interpretations, note)})


@lru_cache(maxsize=16)  # two rules of one decision read it
def _parse(message: str, tables: tuple[TableProfile, ...]) -> ParsedQuestion | UnparsedQuestion:
    return parse_question(message, tables)


def suggest_questions(brief: ChatBrief) -> str:
    profiles = list_profiles(brief)
    return list_options(example_questions(profiles[0])) if profiles else ""


def list_options(options: Sequence[str]) -> str:
    return f"You can ask, for example: {'; '.join(options)}." if options else ""
