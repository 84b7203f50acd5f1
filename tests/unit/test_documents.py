"""Every snippet of README, CONTRIBUTING and docs is what it says: it parses, and names what there is.

The clients of the README run in `e2e/test_readme.py`. Commands of `labcrew` are compared with the terminal in
`unit/cli/test_documented_commands.py`.
"""

import ast
import json
import re
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import jsonschema
import pandas as pd
import pytest
import sqlglot
import yaml
from sqlglot import exp

from app.api.paths import PREFIX
from app.cli.scoring.suite import Item
from app.db.tables import Base
from app.main import create_app
from app.plans.plan_document import PlanDocument
from app.sandbox.policy.custom_functions import define
from app.settings import Settings, load_settings

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
API: dict[str, Any] = create_app(load_settings(_env_file=None, labcrew_home=Path("unused"))).openapi()


class Snippet(NamedTuple):
    page: str
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}: {self.text.splitlines()[0][:60]}"


def snippets(page: Path) -> list[Snippet]:
    """The fenced blocks of a page with their language, and the indented ones that follow an empty line."""
    text = page.read_text()
    found = [Snippet(page.name, *match) for match in re.findall(r"^```(\w*)\n(.*?)^```", text, re.M | re.S)]
    plain = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    for block in re.findall(r"\n\n((?:(?: {4}.*)?\n)+)", plain):
        for part in re.split(r"\n\s*\n(?=    (?!def )\S)", block.strip("\n")):
            if part.strip():
                found.append(Snippet(page.name, "", re.sub(r"^ {4}", "", part, flags=re.M).strip("\n")))
    return found


SNIPPETS = [snippet for page in PAGES for snippet in snippets(page)]
REQUEST = re.compile(r"(GET|POST|PUT|PATCH|DELETE) +((?:\.\.\.)?/[^\s`]*)")
SHELL = re.compile(r"\(?(docker|make|git|umask|celery|redis-cli|roll|LABCREW_\w+=\S+ |\.venv/bin/|cd |curl)")
DRAWING = re.compile(r"[─►▶▼├│]| -> |^\w+  +[a-z]|^backend/", re.M)
"""Trees, arrows and tables of files, which nothing can run."""


def kind_of(snippet: Snippet) -> str:
    text = snippet.text
    if text.startswith("labcrew "):
        return "labcrew"
    if snippet.language or DRAWING.search(text):
        return snippet.language or "drawing"
    if REQUEST.match(text):
        return "request"
    if SHELL.match(text):
        return "sh"
    forms = {"[A-Z_]+=": "settings", r"\{\"": "json", r"\[\"": "toml", "def |login = |import ": "python"}
    forms |= {"select ": "sql", r"\w+:\n": "yaml", r"\{\w+, ": "fields", r"\w+ +>= ": "formula"}
    return next((kind for pattern, kind in forms.items() if re.match(pattern, text)), "unknown")


def check_request(text: str) -> None:
    """The operation exists with its query, and takes the body that follows it, if that is written out."""
    for part in re.split(rf"^(?={REQUEST.pattern}|labcrew )", text, flags=re.M):
        if match := re.match(rf"{REQUEST.pattern}\s*(.*)", part or "", re.S):
            method, address, rest = match.groups()
            operation = find_operation(method, address)
            assert operation, f"{method} {address}"
            names = {parameter["name"] for parameter in operation.get("parameters", ())}
            assert set(parse_qs(urlsplit(re.sub(r"[][]", "", address)).query)) <= names
            if rest.startswith("{"):
                check_body(operation, rest)


def find_operation(method: str, address: str) -> dict[str, Any] | None:
    """The operation of a documented path, which may leave out its beginning: `.../steps`, or the prefix."""
    path = re.sub(r"\{[^}]*\}", "x", re.sub(r"\[.*?\]", "", address).partition("?")[0]).removeprefix(PREFIX)
    for template, operations in API["paths"].items():
        known = re.sub(r"\{[^}]*\}", r"\\w+", template.removeprefix(PREFIX))
        if path.startswith(".../"):  # as many of the last segments as are written
            known = "/".join(["[.]{3}", *known.split("/")[-path.count("/") :]])
        is_known = re.fullmatch(known, path)
        if is_known and method.lower() in operations:
            return dict(operations[method.lower()])
    return None


def check_body(operation: dict[str, Any], text: str) -> None:
    if "{...}" in text:
        return  # a document that another snippet of the page shows
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    body = json.loads(text.replace('"..."', f'"{UUID(int=0)}"'))
    jsonschema.validate(body, {**schema, "components": API["components"]})


def check_json(text: str) -> None:
    document = json.loads(text)
    if "steps" in document:
        PlanDocument.model_validate(document)
    elif "expect" in document:
        Item.model_validate(document)


def check_settings(text: str) -> None:
    outside = {"PUBLIC_PORT", "AWS_REGION", "AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
    names = set(re.findall(r"^([A-Z_]+)=", text, re.M))
    assert names
    assert {name.lower() for name in names - outside} <= set(Settings.model_fields)


def check_python(text: str) -> None:
    tree = ast.parse(text)
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    if "transform" in functions:
        custom = define(text)
        frame, target = pd.DataFrame({"city": ["Bern", "Thun", "Bern"]}), pd.Series([1.0, 2.0, 4.0])
        columns = custom["transform"](frame, custom["fit"](frame, target))
        assert columns.index.equals(frame.index)
        assert columns.notna().all(axis=None)


def check_sql(text: str) -> None:
    """Each column is one of the tables that the statement reads."""
    statement = sqlglot.parse_one(text, dialect="postgres")
    tables = [Base.metadata.tables[table.name] for table in statement.find_all(exp.Table)]
    assert {column.name for column in statement.find_all(exp.Column)} <= {
        name
        for table in tables
        for name in table.columns.keys()  # noqa: SIM118 - iterating yields columns
    }


def check_shell(text: str) -> None:
    subprocess.run(["sh", "-n", "-c", re.sub(r"\.\.\.|\{id\}", "x", text)], check=True, capture_output=True)


CHECKS: dict[str, Callable[[str], Any]] = {
    "request": check_request,
    "sh": check_shell,
    "json": check_json,
    "settings": check_settings,
    "python": check_python,
    "toml": tomllib.loads,
    "sql": check_sql,
    "yaml": yaml.safe_load,
    "labcrew": lambda text: None,  # compared with the terminal elsewhere
    "fields": lambda text: None,
    "formula": lambda text: None,
    "drawing": lambda text: None,
}


@pytest.mark.parametrize("snippet", SNIPPETS, ids=str)
def test_a_snippet_is_what_it_says(snippet: Snippet) -> None:
    CHECKS[kind_of(snippet)](snippet.text)


def named_requests() -> list[tuple[str, str, str]]:
    """(page, method, path) of each request that a sentence or a table names."""
    return sorted(
        {
            (page.name, *match)
            for page in PAGES
            for match in re.findall(rf"`{REQUEST.pattern}[^`]*`", page.read_text())
        }
    )


@pytest.mark.parametrize(("page", "method", "address"), named_requests())
def test_a_request_that_a_page_names_exists(page: str, method: str, address: str) -> None:
    address = address.rstrip("`,.;")
    served_at_root = {"/readyz", "/healthz", "/metrics", "/docs", "/openapi.json", "/"}
    assert address.partition("?")[0] in served_at_root or find_operation(method, address)


def test_pages_have_snippets_of_every_kind() -> None:
    kinds = {kind_of(snippet) for snippet in SNIPPETS}
    assert kinds >= {"request", "sh", "json", "settings", "python", "toml", "sql", "yaml", "drawing"}
