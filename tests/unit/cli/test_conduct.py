from pathlib import Path

import pytest
from rich.console import Console

from app.cli.client import LabClient, Refused
from app.cli.conduct import Wish, conduct


class _Refuses(LabClient):
    def upload(self, path: Path) -> dict[str, object]:
        raise Refused("empty_file", "The file is empty.")


def test_a_refused_upload_names_its_file(tmp_path: Path) -> None:
    wish = Wish((Path("empty.csv"),), "Predict it.", {}, tmp_path)
    with (
        _Refuses("http://127.0.0.1:1", "key") as client,
        pytest.raises(Refused, match=r"^empty\.csv: The file is empty\.$"),
    ):
        conduct(client, wish, Console(quiet=True))
