"""Whole sessions that answer a question about the data: offline, and by a chat model that writes SQL."""

from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.messages.tool import tool_call
from tests.scripted_chat import ScriptedChat, by_policy, messages_of, output_of, serving

from app.charts.renderer import ChartRenderer
from app.errors import InvalidInput
from app.llm.config import ChatConfig
from app.sessions.in_memory import MemoryDrive, MemoryJournal

pytestmark = pytest.mark.asyncio(loop_scope="session")

DATA = Path(str(files("bokeh_sampledata"))) / "_data"
QUESTION = "What is the mean age of survivors by class?"


@pytest.fixture(scope="module")
def titanic() -> pd.DataFrame:
    return pd.read_csv(DATA / "titanic_all.csv")


async def answer_of(drive: MemoryDrive) -> dict[str, Any]:
    result = drive.spec.result(await drive.run())
    assert result["report"]["checked_claims"] > 0
    answer: dict[str, Any] = result["answer"]
    return answer


def nodes(journal: MemoryJournal) -> list[str]:
    return [node for node, _ in journal.steps.values()]


async def test_a_question_is_answered_from_the_rows_and_no_model_is_made(lab, titanic):
    await lab.upload(DATA / "titanic_all.csv")
    drive = lab.drive(QUESTION)
    answer = await answer_of(drive)
    survivors = titanic[(titanic.survived == 1) & titanic.age.notna()]
    expected = survivors.groupby("class").age.mean()
    assert dict(answer["rows"]) == pytest.approx(expected.to_dict())
    assert (answer["rows_used"], answer["total_rows"]) == (len(survivors), len(titanic))
    assert nodes(drive.journal) == ["planning", "data_retrieval", "answering", "reporting"]
    assert "survived" in answer["code"]
    assert not [draft for draft in drive.journal.artifacts if draft.kind in ("model", "holdout")]


async def test_a_chart_is_drawn_into_the_report(lab, titanic):
    await lab.upload(DATA / "titanic_all.csv")
    lab.renderer = ChartRenderer()
    try:
        drive = lab.drive("Draw the number of passengers by class as bars")
        answer = await answer_of(drive)
    finally:
        await lab.renderer.close()
    assert dict(answer["rows"]) == titanic.groupby("class").size().to_dict()
    drafts = {draft.name: draft for draft in drive.journal.artifacts}
    for name, beginning in (("answer_chart.svg", b"<svg"), ("answer_chart.png", b"\x89PNG")):
        assert drafts[name].kind == "figure"
        content = b"".join([part async for part in lab.blobs.open(drafts[name].digest)])
        assert content.startswith(beginning)
    page = b"".join([part async for part in lab.blobs.open(drafts["report.html"].digest)])
    assert b"data:image/svg+xml" in page


async def test_the_answer_of_a_histogram_is_a_summary(lab, titanic):
    await lab.upload(DATA / "titanic_all.csv")
    answer = await answer_of(lab.drive("Show a histogram of age"))
    [row] = answer["rows"]
    figures = dict(zip([column["name"] for column in answer["columns"]], row, strict=True))
    age = titanic.age.dropna()
    assert figures["median age"] == pytest.approx(age.median())
    assert (figures["lowest age"], figures["highest age"]) == pytest.approx((age.min(), age.max()))
    assert figures["number of rows with age"] == len(age)


async def test_what_is_not_understood_is_asked_about_and_the_answer_is_what_counts(lab, titanic):
    await lab.upload(DATA / "titanic_all.csv")
    journal = MemoryJournal(answers={"tool:2.0": "the mean of `age` by `class`"})
    answer = await answer_of(lab.drive("What is the mean salary by class?", journal=journal))
    [asked] = journal.questions
    assert "'salary'" in asked.text
    assert asked.default == "nothing, end here"
    assert dict(answer["rows"]) == pytest.approx(
        titanic.dropna(subset="age").groupby("class").age.mean().to_dict()
    )


async def test_a_question_that_nobody_can_explain_ends_the_session_and_says_why(lab):
    await lab.upload(DATA / "titanic_all.csv")
    drive = lab.drive(
        "What is the mean salary by class?", journal=MemoryJournal(answers={"tool:2.0": "nothing, end here"})
    )
    with pytest.raises(InvalidInput, match="salary") as refused:
        await drive.run()
    assert refused.value.code == "not_understood"


SQL = (
    """SELECT sex, avg(survived) AS "share that survived" FROM titanic_all WHERE sex IS NOT NULL GROUP BY sex"""
)
HARD = "Were the women luckier than the men, and how much?"


def writes_sql(asked: dict[str, Any], place: int) -> AIMessage:
    """A model that sees a question where no rule does, first names a column that is not there, then answers."""
    came_back = [m for m in messages_of(asked["messages"]) if isinstance(m, ToolMessage)]
    match output_of(asked), len(came_back):
        case "Plan", 2:
            plan = {
                "question": HARD,
                "tables": ["titanic_all"],
                "target": "survived",
                "steps": ["Ask the table."],
            }
            return _calls("Plan", plan)
        case "Answer", 0:
            return _calls("answer_by_sql", {"sql": SQL.replace("avg(survived)", "avg(luck)")})
        case "Answer", 1:
            assert "There is no column luck" in came_back[-1].text
            return _calls("answer_by_sql", {"sql": SQL, "readings": ["Lucky are those who survived."]})
        case "Answer", _:
            return _calls("Answer", {})
    return by_policy(asked, place)


def _calls(name: str, arguments: dict[str, Any]) -> AIMessage:
    return AIMessage("", tool_calls=[tool_call(name=name, args=arguments, id=None)])


async def test_a_chat_model_answers_by_sql_what_no_rule_understands(lab, titanic):
    await lab.upload(DATA / "titanic_all.csv")
    with serving(ScriptedChat(answer=writes_sql)) as chat:
        config = ChatConfig("openai:scripted", chat.base_url, {"openai": "test"}, streaming=True)
        drive = lab.drive(HARD, chat=config)
        answer = await answer_of(drive)
    assert dict(answer["rows"]) == pytest.approx(titanic.groupby("sex").survived.mean().to_dict())
    assert (answer["code"], answer["readings"]) == (SQL, ["Lucky are those who survived."])
    assert answer["rows_used"] == titanic.sex.notna().sum()
    assert nodes(drive.journal) == ["planning", "data_retrieval", "answering", "reporting"]


async def test_a_program_answers_where_a_select_does_not(lab):
    await lab.upload(DATA / "titanic_all.csv")
    program = "result = [{'word': w, 'rows': n} for w, n in titanic_all['sex'].value_counts().items()]"

    def programs(asked: dict[str, Any], place: int) -> AIMessage:
        if output_of(asked) != "Answer":
            return by_policy(asked, place)
        if any(m for m in messages_of(asked["messages"]) if isinstance(m, ToolMessage)):
            return _calls("Answer", {})
        return _calls("answer_by_program", {"code": program})

    with serving(ScriptedChat(answer=programs)) as chat:
        config = ChatConfig("openai:scripted", chat.base_url, {"openai": "test"})
        answer = await answer_of(lab.drive("How many rows by sex?", chat=config))
    assert answer["rows"] == [["male", 851], ["female", 462]]
    assert (answer["language"], answer["rows_used"]) == ("python", None)


WORDED = "@mean_age[30.398]\n@share_of_men[64.81%], of 1,313 people"


async def test_an_answer_is_delivered_in_the_format_that_was_asked_for(lab):
    """A figure that no result holds is refused; the words then stand first, each figure as computed."""
    await lab.upload(DATA / "titanic_all.csv")
    program = (
        "men = titanic_all['sex'] == 'male'\n"
        "result = {'age': titanic_all['age'].mean(), 'men': men.mean(), 'rows': len(titanic_all)}"
    )
    objections: list[str] = []

    def words(asked: dict[str, Any], place: int) -> AIMessage:
        if output_of(asked) != "Answer":
            return by_policy(asked, place)
        conversation = messages_of(asked["messages"])
        if not any(m for m in conversation if isinstance(m, ToolMessage)):
            return _calls("answer_by_program", {"code": program})
        if "No recorded result holds" in conversation[-1].text:
            objections.append(conversation[-1].text)
            return _calls("Answer", {"text": WORDED, "values": {"mean_age": 30.398}})
        return _calls("Answer", {"text": WORDED.replace("30.398", "31.4"), "values": {}})

    with serving(ScriptedChat(answer=words)) as chat:
        config = ChatConfig("openai:scripted", chat.base_url, {"openai": "test"})
        drive = lab.drive("How many rows by sex?", chat=config)
        result = drive.spec.result(await drive.run())
    assert len(objections) == 1
    assert "31.4 (nearest: 30.39" in objections[0]
    assert result["headline"] == WORDED
    assert result["answer"]["text"] == WORDED
    assert result["answer"]["values"]["mean_age"]["value"] == 30.398
    assert result["answer"]["values"]["mean_age"]["computed"] == pytest.approx(30.39799, abs=1e-5)
    assert [figure["text"] for figure in result["conclusion"]["figures"]] == ["30.398"]
    [report] = [draft for draft in drive.journal.artifacts if draft.name == "report.md"]
    stored = b"".join([piece async for piece in lab.blobs.open(report.digest)]).decode()
    assert "30.398" in stored.replace("\\", "")
    assert "64.81" in stored.replace("\\", "")
