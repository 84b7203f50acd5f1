"""Rules of the stage `answer`: answer a question about the data with one SELECT."""

from app.agents.data_analyst.output import Answer
from app.agents.goals.tables import make_table_profile
from app.agents.questions.parser import parse_question
from app.agents.questions.query import ParsedQuestion, UnparsedQuestion
from app.agents.questions.to_sql import make_select
from app.agents.runtime.conversation import ConversationView
from app.agents.runtime.policy import AgentAction, Rule, call, finish


def query_table(view: ConversationView) -> AgentAction | None:
    parsed = _parse_question(view)
    if not isinstance(parsed, ParsedQuestion) or view.was_called("answer_by_sql"):
        return None
    return call(
        "answer_by_sql",
        message="I query the table.",
        sql=make_select(parsed),
        readings=[*parsed.interpretations],
    )


def conclude(view: ConversationView) -> AgentAction:
    answer = view.last_success("answer_by_sql", "answer_by_program")
    if answer is not None:
        return finish(Answer(), message=_describe_answer(answer.value))
    parsed, refused = _parse_question(view), view.refusals("answer_by_sql", "answer_by_program")
    reason = parsed.reason if isinstance(parsed, UnparsedQuestion) else refused[-1].refusal if refused else ""
    return finish(Answer(unanswered=f"The question was not answered. {reason}".strip()))


RULES: tuple[Rule, ...] = (query_table, conclude)


def _parse_question(view: ConversationView) -> ParsedQuestion | UnparsedQuestion:
    planned_tables = set(view.brief["plan"]["tables"])
    tables = [make_table_profile(schema) for schema in view.brief["tables"]]
    return parse_question(
        str(view.brief["question"]), [table for table in tables if table.name in planned_tables] or tables
    )


def _describe_answer(facts: dict[str, object]) -> str:
    rows_used, total_rows = facts["rows_used"], facts["rows_there"]
    coverage = (
        f" It is based on {rows_used:,} of {total_rows:,} rows."
        if isinstance(rows_used, int) and isinstance(total_rows, int)
        else ""
    )
    return f"The answer has {facts['row_count']} row(s).{coverage}"
