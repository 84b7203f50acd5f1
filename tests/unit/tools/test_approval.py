"""A call that waits for the user: what they see, and what each answer makes of it."""

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from langgraph.errors import GraphInterrupt

from app.artifacts.workspace import FileRef
from app.errors import InvalidInput
from app.modeling.problem.name_resolution import resolve_name
from app.sessions.answer_validation import check_answer
from app.sessions.in_memory import MemoryJournal, MemoryStep
from app.sessions.step_scope import SessionFacts
from app.sessions.tool_permissions import ALWAYS
from app.storage.blobs import Blob
from app.tools.agent_names import EVERY_AGENT
from app.tools.context.tool_context import ToolContext
from app.tools.data import files
from app.tools.invoke import ToolRequest, invoke
from app.tools.registry import agent_tools
from app.tools.toolsets import Toolsets

MODULES = (files,)
HELD = {"notes.md": b"mean is 3\nmedian is 2\n", "plot.png": b"\x89PNG\xff"}
EDIT = {"name": "notes.md", "old": "median is 2", "new": "median is 2.5"}


@dataclass
class Folder:
    """A Workspace that has files only."""

    held: dict[str, bytes] = field(default_factory=lambda: dict(HELD))
    kept: dict[str, bytes] = field(default_factory=dict)

    async def files(self) -> list[FileRef]:
        return [FileRef(name, name, len(data)) for name, data in self.held.items()]

    async def file(self, name: str) -> FileRef:
        name = resolve_name(name, self.held, "file")
        return FileRef(name, name, len(self.held[name]))

    async def read(self, file: FileRef) -> bytes:
        return self.held[file.name]

    async def put(self, data: bytes) -> Blob:
        digest = hashlib.sha256(data).hexdigest()
        self.kept[digest] = data
        return Blob(digest, len(data))


@dataclass
class Rules:
    """SessionRecords of a session whose user allowed these tools."""

    allowed: set[str]

    async def is_tool_allowed(self, tool: str) -> bool:
        return tool in self.allowed


@dataclass
class Case:
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    folder: Folder = field(default_factory=Folder)
    rules: Rules = field(default_factory=lambda: Rules(set()))
    preferences: dict[str, Any] = field(default_factory=dict)
    toolsets: Toolsets = field(default_factory=Toolsets)

    async def call(self, tool: str, key: str = "tool:0.0", /, **arguments: Any) -> Any:
        facts = SessionFacts(UUID(int=1), UUID(int=2), "", self.preferences, (), 0, datetime.now(UTC))
        step = MemoryStep(facts, self.journal)
        ctx = ToolContext("data_analyst", step, self.folder, None, None, records=self.rules)  # type: ignore[arg-type]
        return await invoke(self.toolsets.for_agent("data_analyst"), ctx, ToolRequest(key, tool, arguments))

    async def edit(self, answer: Any, key: str = "tool:0.0") -> Any:
        with pytest.raises(GraphInterrupt):
            await self.call("edit_file", key, **EDIT)
        question = next(asked for asked in self.journal.questions if asked.key == f"approve:{key}")
        check_answer(question.answer_schema, answer)
        self.journal.answers[question.key] = answer
        return await self.call("edit_file", key, **EDIT)

    @property
    def written(self) -> list[str]:
        return [self.folder.kept[draft.digest].decode() for draft in self.journal.artifacts]


@pytest.fixture
def case() -> Case:
    return Case()


async def test_the_user_sees_a_diff_and_the_risk_before_the_call_runs(case):
    with pytest.raises(GraphInterrupt):
        await case.call("edit_file", **EDIT)
    [question] = case.journal.questions
    assert (question.kind, question.default) == ("approval", "reject")
    assert question.text.startswith("The data analyst wants to edit notes.md.\n")
    assert "-median is 2\n+median is 2.5" in question.text
    assert question.about["arguments"] == EDIT
    assert "for the rest of this session" in question.about["risk"]
    assert (case.journal.recorded, case.folder.kept) == ([], {})


@pytest.mark.parametrize("answer", ["approve", ALWAYS])
async def test_an_approved_call_is_made(case, answer):
    assert (await case.edit(answer)).value == {"name": "notes.md", "replaced": 1}
    assert case.written == ["mean is 3\nmedian is 2.5\n"]


@pytest.mark.parametrize(
    ("answer", "reason"), [("reject", ""), ({"decision": "reject", "reason": "Wrong file."}, ": Wrong file")]
)
async def test_a_rejected_call_returns_the_reason_and_changes_nothing(case, answer, reason):
    returned = await case.edit(answer)
    assert returned.refusal.startswith(f"The user rejected this call{reason}. Continue")
    assert returned.value["error"]["action"] == "edit notes.md"
    assert case.written == []


async def test_the_user_may_change_the_arguments(case):
    changed = {**EDIT, "new": "median is 2.4"}
    await case.edit({"decision": "approve", "arguments": changed})
    assert case.written == ["mean is 3\nmedian is 2.4\n"]


async def test_changed_arguments_are_checked_like_any_others(case):
    changed = {"name": "../notes.md", "old": "a", "new": "b"}
    assert "cannot be a file's name" in (await case.edit({"decision": "approve", "arguments": changed})).refusal
    question = case.journal.questions[0]
    for wrong in ({**EDIT, "mode": "force"}, {"name": "notes.md"}, {**EDIT, "old": ""}):
        with pytest.raises(InvalidInput):
            check_answer(question.answer_schema, {"decision": "approve", "arguments": wrong})


@pytest.mark.parametrize("answer", ["yes", "", None, {"decision": "approve"}, {"arguments": EDIT}, ["approve"]])
async def test_an_answer_that_is_no_decision_is_refused(case, answer):
    with pytest.raises(InvalidInput):
        await case.edit(answer)


async def test_an_answer_is_for_one_call_only(case):
    await case.edit("approve", "tool:0.0")
    with pytest.raises(GraphInterrupt):
        await case.call("edit_file", "tool:0.1", **EDIT)
    assert len(case.written) == 1


async def test_a_standing_rule_lets_the_tool_through_until_it_is_revoked(case):
    case.rules.allowed.add("edit_file")
    assert (await case.call("edit_file", **EDIT)).refusal is None
    case.rules.allowed.clear()
    with pytest.raises(GraphInterrupt):
        await case.call("edit_file", "tool:1.0", **EDIT)


async def test_without_an_answer_the_call_is_rejected(case):
    case.preferences = {"clarify": "never"}
    assert "rejected" in (await case.call("edit_file", **EDIT)).refusal
    assert case.written == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"old": "mode is 1"}, "does not contain that text"),
        ({"old": "is"}, "holds that text 2 times"),
        ({"name": "note.md"}, "Did you mean notes.md"),
        ({"name": "plot.png"}, "is not a text file"),
    ],
)
async def test_invalid_calls_are_refused_without_asking_the_user(case, change, reason):
    assert reason in (await case.call("edit_file", **{**EDIT, **change})).refusal
    assert case.journal.questions == []


async def test_the_operator_can_require_approval_for_any_tool(case):
    case.toolsets = Toolsets(approve=("write_file",))
    with pytest.raises(GraphInterrupt):
        await case.call("write_file", name="a.md", text="one\ntwo")
    assert "text:\none\ntwo" in case.journal.questions[0].text


async def test_a_new_file_is_written_and_an_old_one_is_not_overwritten(case):
    assert (await case.call("write_file", name="a.md", text="hi")).value == {"name": "a.md", "bytes": 2}
    assert "edit_file" in (await case.call("write_file", "tool:0.1", name="notes.md", text="x")).refusal
    assert case.written == ["hi"]


async def test_a_file_is_read_by_lines(case):
    answer = await case.call("read_file", name="notes.md", first_line=2, lines=1)
    assert answer.value == {"name": "notes.md", "lines": 2, "first_line": 2, "text": "median is 2\n"}


def test_only_agents_that_work_on_files_have_the_file_tools():
    assert [agent for agent in EVERY_AGENT if "edit_file" in agent_tools(agent)] == [
        "assistant",
        *files.WORKERS,
    ]


async def test_changed_arguments_are_told_to_the_agent_and_announced_once() -> None:
    case = Case()
    answer = await case.edit({"decision": "approve", "arguments": {**EDIT, "new": "median is 3"}})
    assert answer.value["executed"]["arguments"]["new"] == "median is 3"
    calls = [event for event in case.journal.events if event.kind == "tool_called"]
    assert [event.arguments["new"] for event in calls] == ["median is 3"]
    [returned] = [event for event in case.journal.events if event.kind == "tool_returned"]
    assert returned.summary.startswith("Executed with the user's arguments.")


async def test_an_approved_call_is_announced_once_and_tells_of_no_change() -> None:
    case = Case()
    answer = await case.edit("approve")
    assert "executed" not in answer.value
    assert [event.kind for event in case.journal.events] == ["tool_called", "tool_returned"]


async def test_the_question_has_the_reason_of_the_agent() -> None:
    case = Case()
    facts = SessionFacts(UUID(int=1), UUID(int=2), "", {}, (), 0, datetime.now(UTC))
    step = MemoryStep(facts, case.journal)
    ctx = ToolContext("data_analyst", step, case.folder, None, None, records=case.rules, reason="It was wrong.")  # type: ignore[arg-type]
    with pytest.raises(GraphInterrupt):
        await invoke(agent_tools("data_analyst"), ctx, ToolRequest("tool:0.0", "edit_file", EDIT))
    [question] = case.journal.questions
    assert "Its reason: It was wrong." in question.text
    assert question.about["reason"] == "It was wrong."
