from alembic.script import ScriptDirectory

from app.db.migrations import config
from app.db.revision import code_revision, schema_problem


def test_the_newest_schema_is_alembics_head() -> None:
    assert code_revision() == ScriptDirectory.from_config(config("postgresql://nowhere/lab")).get_current_head()


def test_a_newer_schema_than_the_codes_is_well_and_an_older_or_none_says_what_to_do() -> None:
    assert schema_problem("9999") is None
    assert schema_problem(code_revision()) is None
    for version in (None, "0000"):
        assert "labcrew migrate" in (schema_problem(version) or "")
