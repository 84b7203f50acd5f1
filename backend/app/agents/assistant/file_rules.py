"""The rule of the assistant about files of a conversation."""

from app.agents.assistant.brief import ChatBrief
from app.agents.assistant.tables.exports import ExportRefusal, read_export
from app.agents.assistant.tables.file_requests import describe_files, read_file_request
from app.agents.runtime.conversation import ConversationView
from app.agents.runtime.offline_policy import AgentAction, call, say

View = ConversationView[ChatBrief]

FILE_TOOLS = ("list_files", "read_file", "write_file", "edit_file", "save_table")


def work_on_files(view: View) -> AgentAction | None:
    """List, read, write or change a file, and say what came of it."""
    if done := view.last_success(*FILE_TOOLS):
        return say(describe_files(done.value))
    if refusals := view.refusals(*FILE_TOOLS):
        return say(str(refusals[-1].refusal))
    if request := read_file_request(view.brief.message, view.brief.files):
        return call(request.tool, **request.arguments)
    tables = [str(table.get("table")) for table in view.brief.tables]
    export = read_export(view.brief.message, view.brief.earlier, tables, view.brief.files)
    if isinstance(export, ExportRefusal):
        return say(export.reason)
    return call("save_table", sql=export.sql, name=export.name) if export else None
