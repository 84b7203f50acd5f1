"""Rules of the stage `answer`: answer a question about the data with one query plan."""

from app.agents.data_analyst.brief import AnswerBrief, TableAnswer
from app.agents.data_analyst.output import Answer
from app.agents.data_analyst.row_search_rules import FOUND_ROWS, describe_search, search_rows
from app.agents.goals.tables.profiles import make_table_profile
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion
from app.agents.questions.parser import parse_question
from app.agents.runtime.conversation import ConversationView
from app.agents.runtime.offline_policy import AgentAction, Rule, call, finish
from app.counts import describe_count


def query_table(view: ConversationView[AnswerBrief]) -> AgentAction | None:
    if view.brief.plan.row_search:
        return None
    parsed = _parse_question(view)
    if not isinstance(parsed, ParsedQuestion) or view.was_called("answer_by_plan"):
        return None
    return call(
        "answer_by_plan",
        message="I query the table.",
        plan=parsed.plan.model_dump(mode="json", exclude_none=True),
        readings=[*parsed.interpretations],
    )


def draw_table(view: ConversationView[AnswerBrief]) -> AgentAction | None:
    """Draw the answer where the question asks for a chart."""
    if view.brief.plan.row_search:
        return None
    parsed = _parse_question(view)
    if not isinstance(parsed, ParsedQuestion) or parsed.chart is None or view.was_called("draw_answer"):
        return None
    if view.last_success("answer_by_plan") is None:
        return None
    return call("draw_answer", **parsed.chart.model_dump(mode="json", exclude_none=True))


def conclude(view: ConversationView[AnswerBrief]) -> AgentAction:
    if (search := view.last_success(*FOUND_ROWS)) is not None:
        text = describe_search(search)
        return finish(Answer(text=text), message=text.partition("\n")[0])
    answer = view.last_success("answer_by_plan", "answer_by_sql", "answer_by_program")
    if answer is not None:
        return finish(Answer(), message=_describe_answer(answer.read(TableAnswer)))
    parsed = _parse_question(view)
    refused = view.refusals("answer_by_plan", "answer_by_sql", "answer_by_program", *FOUND_ROWS)
    if view.brief.plan.row_search and refused:
        return finish(Answer(unanswered=refused[-1].refusal or ""))
    reason = parsed.reason if isinstance(parsed, UnparsedQuestion) else refused[-1].refusal if refused else ""
    return finish(Answer(unanswered=f"The question was not answered. {reason}".strip()))


RULES: tuple[Rule[AnswerBrief], ...] = (search_rows, query_table, draw_table, conclude)


def _parse_question(view: ConversationView[AnswerBrief]) -> ParsedQuestion | UnparsedQuestion:
    """Return the planner's parse of the question. Plans of chat models and of users have only its text."""
    brief = view.brief
    if brief.plan.parsed_question:
        return brief.plan.parsed_question
    tables = [make_table_profile(schema) for schema in brief.tables]
    planned_tables = [table for table in tables if table.name in brief.plan.tables]
    return parse_question(brief.question, planned_tables or tables)


def _describe_answer(answer: TableAnswer) -> str:
    coverage = (
        f" It is based on {answer.rows_used:,} of {answer.total_rows:,} rows."
        if answer.rows_used is not None and answer.total_rows is not None
        else ""
    )
    return f"The answer has {describe_count(answer.row_count, 'row')}.{coverage}"
