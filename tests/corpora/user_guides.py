"""Corpus of programs and queries as user guides of the libraries have them, in words and code of our own."""

import json
import subprocess
import sys
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

FOLDER = Path(__file__).with_name("user_guides")
Half = Literal["tuned", "untuned"]


@dataclass(frozen=True)
class Snippet:
    """A program, or a query over the table `orders`, under its title."""

    title: str
    source: str

    @property
    def half(self) -> Half:
        return "untuned" if int.from_bytes(sha256(self.title.encode()).digest()) % 2 else "tuned"

    @property
    def is_query(self) -> bool:
        return self.title.startswith("duckdb: ")


def load_snippets(half: Half) -> list[Snippet]:
    """Load one half of the corpus: a title after `###`, then the source."""
    parts = [part for path in sorted(FOLDER.glob("*.txt")) for part in path.read_text().split("### ")[1:]]
    snippets = [Snippet(title.strip(), source) for title, _, source in (part.partition("\n") for part in parts)]
    return [snippet for snippet in snippets if snippet.half == half]


REFUSED: dict[str, str] = {
    "pandas: pickle": "a pickle runs code when it is read",
    "pandas: sql database": "a database is a file that a library opens by itself",
    "pandas: html tables of a page": "there is no network",
    "numpy: binary files": "arrays of objects are pickles",
    "numpy: memory maps": "a memory map is a file that the disk limit does not see",
    "sklearn: data sets from the network": "there is no network",
    "sklearn: models kept by joblib": "joblib's files are pickles",
    "sklearn: pipeline with a cache": "the cache is a folder of pickles",
    "python: sub-processes": "a cell is one process",
    "python: requests to the network": "there is no network",
    "python: eval and exec": "text would be run past the policy",
    "lightgbm: a classifier": "its native library opens files that no guard sees; the training tools fit it",
    "duckdb in python: a query over a frame": "SQL has tools of its own, with a policy of its own",
    "duckdb: pivot": "it is no SELECT, and its columns are known only while it runs",
    "python: tqdm progress": "the package is not installed",
}
"""Snippets that cannot run in a cell, each with its reason."""

_RUNNER = """
import json, os, sys, tempfile
from pathlib import Path
import app.sandbox.programs.execution
from app.sandbox.exchange.contract import Code
from app.sandbox.zygote.preloaded_libraries import load_libraries
load_libraries()
for sources in json.load(sys.stdin):
    if os.fork() == 0:
        for title, source in sources.items():
            folder = Path(tempfile.mkdtemp())
            os.chdir(folder)
            try:
                app.sandbox.programs.execution.run(Code(source), {}, folder)
                outcome = None
            except BaseException as error:
                outcome = f"{type(error).__name__}: {error}"
            os.write(2, (json.dumps([title, outcome]) + chr(10)).encode())
        os._exit(0)
    os.wait()
"""


def run_programs(groups: list[list[Snippet]]) -> dict[str, str | None]:
    """Run programs under the policy of cells, each group in a fresh process; return the error of each."""
    sources = json.dumps([{snippet.title: snippet.source for snippet in group} for group in groups])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _RUNNER],
        input=sources,
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(json.loads(line) for line in done.stderr.splitlines() if line.startswith('["'))


def main() -> None:
    """Run each program of a half in a fresh process and print the shares; failures of the tuned half alone."""
    half: Half = "untuned" if sys.argv[1:] == ["untuned"] else "tuned"
    programs = [snippet for snippet in load_snippets(half) if not snippet.is_query]
    outcomes = run_programs([[snippet] for snippet in programs])
    failures = {title: error for title, error in outcomes.items() if error}
    unexplained = {title: error for title, error in failures.items() if title not in REFUSED}
    print(  # noqa: T201 - for whoever runs it
        f"{half}: {len(programs)} programs, {len(failures)} refused, {len(unexplained)} of them not on the list"
    )
    if half == "tuned":
        print(*(f"{title}: {error}" for title, error in unexplained.items()), sep="\n")  # noqa: T201 - as above


if __name__ == "__main__":
    main()
