"""Where a session is in the page."""

from pathlib import Path

from app.cli.connection.web_sign_in import session_page_lines
from app.settings import load_settings


def test_without_a_service_the_address_comes_with_the_command_that_starts_one(tmp_path: Path) -> None:
    settings = load_settings(_env_file=None, home=tmp_path, api_port=8123)
    command, address = session_page_lines(settings, "0d3f")
    assert "labcrew up" in command
    assert address.strip() == "http://127.0.0.1:8123/sessions/0d3f"
