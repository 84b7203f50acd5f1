"""Files of a program beyond those that a conversation keeps are named with the reason."""

from app.sessions.step_scope import ArtifactDraft
from app.tools.queries.kept_variables import KeptVariables, describe_kept, select_files
from app.workspaces.snapshot import MAX_FILES, FileEntry, Snapshot


def make_draft(name: str, digest: str) -> ArtifactDraft:
    return ArtifactDraft("file", name, "text/plain", digest, 3)


def test_a_file_that_is_not_kept_is_named_with_the_reason() -> None:
    old = FileEntry(digest="old", size_bytes=3, media_type="text/plain")
    former = Snapshot(files={f"{place}.txt": old for place in range(MAX_FILES - 1)})
    drafts = [make_draft("0.txt", "a"), make_draft("one.txt", "b"), make_draft("two.txt", "c")]

    files = select_files(former, drafts)
    described = describe_kept(KeptVariables(names={}, not_kept={}), former, drafts, files)

    assert list(files) == ["0.txt", "one.txt"]
    assert described["variables"] == []
    (missing,) = described["not_kept"]
    assert missing["name"] == "two.txt"
    assert str(MAX_FILES) in missing["reason"]
