"""The stage that answers a question: as one SELECT, where it is understood."""

from app.agents.data_analyst.output import Answer
from app.agents.goals.tables import table_of
from app.agents.questions.parser import read_question
from app.agents.questions.query import Inquiry, Misread
from app.agents.questions.to_sql import select
from app.agents.runtime.conversation import View
from app.agents.runtime.policy import AgentAction, Rule, call, finish


def ask_the_tables(view: View) -> AgentAction | None:
    read = _read(view)
    if not isinstance(read, Inquiry) or view.tried("answer_by_sql"):
        return None
    return call("answer_by_sql", says="I ask the table.", sql=select(read), readings=[*read.readings])


def conclude(view: View) -> AgentAction:
    answered = view.last("answer_by_sql", "answer_by_program")
    if answered is not None:
        return finish(Answer(), says=_said(answered.value))
    read, refused = _read(view), view.refused("answer_by_sql", "answer_by_program")
    why = read.reason if isinstance(read, Misread) else refused[-1].refusal if refused else ""
    return finish(Answer(unanswered=f"The question was not answered. {why}".strip()))


RULES: tuple[Rule, ...] = (ask_the_tables, conclude)


def _read(view: View) -> Inquiry | Misread:
    planned = set(view.brief["plan"]["tables"])
    tables = [table_of(schema) for schema in view.brief["tables"]]
    return read_question(
        str(view.brief["question"]), [table for table in tables if table.name in planned] or tables
    )


def _said(facts: dict[str, object]) -> str:
    used, whole = facts["rows_used"], facts["rows_there"]
    of = f" It rests on {used:,} of {whole:,} rows." if isinstance(used, int) and isinstance(whole, int) else ""
    return f"The answer has {facts['row_count']} row(s).{of}"
