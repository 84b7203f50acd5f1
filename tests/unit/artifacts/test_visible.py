"""Which artifacts a step may look at, by the step that made them."""

from app.artifacts.session_workspace import newest_refs, visible_rows
from app.db.tables import ArtifactRow


def row(seq: int, kind: str, name: str) -> ArtifactRow:
    return ArtifactRow(seq=seq, kind=kind, name=name, digest=f"{name}{seq}", meta={})


def test_before_a_split_every_frame_is_visible() -> None:
    rows = [row(1, "frame", "data"), row(2, "frame", "joined"), row(2, "table", "leaderboard")]
    assert [found.name for found in visible_rows(rows, "frame")] == ["data", "joined"]


def test_after_a_split_only_frames_made_with_it_or_later_are() -> None:
    rows = [
        row(1, "frame", "data"),
        row(3, "frame", "train"),
        row(3, "holdout", "holdout"),
        row(5, "frame", "x"),
    ]
    assert [found.name for found in visible_rows(rows, "frame")] == ["train", "x"]


def test_the_last_of_a_name_counts() -> None:
    rows = [row(1, "frame", "a"), row(2, "frame", "b"), row(3, "frame", "a")]
    assert [(ref.name, ref.digest) for ref in newest_refs(rows)] == [("a", "a3"), ("b", "b2")]
