from alembic.script import ScriptDirectory

from app.db.migrations import config
from app.db.revision import lack_of_schema, newest


def test_the_newest_schema_is_alembics_head() -> None:
    assert newest() == ScriptDirectory.from_config(config("postgresql://nowhere/lab")).get_current_head()


def test_a_newer_schema_than_the_codes_is_well_and_an_older_or_none_says_what_to_do() -> None:
    assert lack_of_schema("9999") is None
    assert lack_of_schema(newest()) is None
    for version in (None, "0000"):
        assert "labcrew migrate" in (lack_of_schema(version) or "")
