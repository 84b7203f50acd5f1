"""One Postgres and one Valkey per pytest run, shared by its xdist workers; a database of its own per test.

They are the servers that the product installs. They start with the first test that asks for them, or in the
controller of xdist before its workers.
"""

import os

# Before any library that computes in threads is loaded: the tests run in more processes than there are
# processors, and threads that wait for each other in a busy loop made models fifteen times slower there.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import fcntl
import gc
import importlib
import inspect
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch
from uuid import uuid4

import hypothesis
import pytest
from redis import Redis
from tests.database_pool import DatabasePool
from tests.patience import end_when_hanging, ended

from app.db.migrations import upgrade
from app.servers.embedded import EmbeddedServers
from app.servers.postgres import SETTINGS
from app.storage.folder import FolderBlobs

TEMPLATE = "template_labcrew"

NOT_DURABLE = {"fsync": "off", "full_page_writes": "off"}
"""Settings of the shared Postgres, whose data need not outlive its machine. To make and drop a database, which
writes out what the server holds, takes half of the time without waiting for the disk."""

# `make test` draws the same examples each time, so that it says the same of the same code; `make fuzz` others.
hypothesis.settings.register_profile("repeatable", derandomize=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

# Tests must neither send data to a provider nor cost money because somebody has a key in the environment.
for _name in ("OPENAI", "AZURE_OPENAI", "ANTHROPIC", "GOOGLE", "GEMINI", "OPENROUTER"):
    os.environ.pop(f"{_name}_API_KEY", None)
for _name in ("LLM_PROVIDER", "LLM_MODEL", "LLM_BASE_URL"):
    os.environ.pop(_name, None)


@dataclass(frozen=True)
class Servers:
    """`admin_url`: a database to say CREATE DATABASE in; `redis_url` ends with `db=`."""

    admin_url: str
    redis_url: str
    folder: Path
    psql: Path

    def sql(self, *statements: str, database: str = "labcrew") -> str:
        """Run statements, each in a transaction of its own, and return the last line that they print."""
        command: list[str | Path] = [self.psql, "--no-psqlrc", "-qtA", "-v", "ON_ERROR_STOP=1"]
        command += [part for statement in statements for part in ("-c", statement)]
        command.append(self.url(database))
        done = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE)
        return done.stdout.strip().rpartition("\n")[2]

    def url(self, database: str) -> str:
        return self.admin_url.replace("/labcrew?", f"/{database}?")


class Running:
    """The servers that this process started, if it did."""

    def __init__(self) -> None:
        self._embedded: EmbeddedServers | None = None
        self._folder: Path | None = None

    def start(self) -> Servers:
        self._folder = Path(tempfile.mkdtemp(prefix="labcrew-tests-"))
        self._embedded = EmbeddedServers(self._folder)
        psql = self._embedded.prepare_folders().postgres / "bin" / "psql"
        redis_url = self._embedded.start_valkey().removesuffix("0")
        with patch.dict(SETTINGS, NOT_DURABLE):
            admin_url = self._embedded.start_postgres()
        return Servers(admin_url, redis_url, self._folder, psql)

    def stop(self) -> None:
        if self._embedded and self._folder:
            self._embedded.stop()
            shutil.rmtree(self._folder)


RUNNING = pytest.StashKey[Running]()
SHARED = pytest.StashKey[Servers]()

MAX_NEW_OBJECTS = 5_000
"""Objects that begin a collection, instead of Python's 700: collections take 4 % of the time instead of 7 %."""


def pytest_configure(config: pytest.Config) -> None:
    config.stash[RUNNING] = Running()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj):
            item.obj = end_when_hanging(item.obj)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector off modules and tests: they stay, and a full collection visits each object."""
    gc.disable()
    result = yield
    gc.freeze()
    # Full collections take 0.1 s each once the libraries of models are imported; most find nothing.
    gc.set_threshold(MAX_NEW_OBJECTS)
    gc.enable()
    return result


def pytest_sessionstart(session: pytest.Session) -> None:
    """Import skops before the modules of a whole folder of tests, if one is collected here.

    It looks for the module of each of 800 functions in every module that is imported by then: 3 s at the end of
    the imports, 0.2 s here.
    """
    if not hasattr(session.config, "workerinput") and session.config.getoption("numprocesses", None):
        return  # the controller of xdist collects nothing
    if any(Path(argument.partition("::")[0]).is_dir() for argument in session.config.args):
        importlib.import_module("skops.io")


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[RUNNING].stop()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node) -> None:  # type: ignore[no-untyped-def]  # xdist has no types
    """In xdist's controller, before each worker starts."""
    stash = node.config.stash
    if SHARED not in stash:
        stash[SHARED] = stash[RUNNING].start()
    servers = stash[SHARED]
    node.workerinput["servers"] = [str(part) for part in vars(servers).values()]


@pytest.fixture(scope="session")
def servers(pytestconfig: pytest.Config) -> Servers:
    worker_servers = getattr(pytestconfig, "workerinput", {}).get("servers")
    if worker_servers:
        return Servers(worker_servers[0], worker_servers[1], Path(worker_servers[2]), Path(worker_servers[3]))
    return pytestconfig.stash[RUNNING].start()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def template(servers: Servers) -> str:
    """The name of a migrated database that nobody is connected to."""
    with locked(servers.folder / "template.lock"):
        if not servers.sql(f"SELECT 1 FROM pg_database WHERE datname = '{TEMPLATE}'"):
            unfinished = f"{TEMPLATE}_unfinished"
            servers.sql(f"CREATE DATABASE {unfinished}")
            # In a thread, because alembic's environment runs an event loop of its own.
            with ThreadPoolExecutor(1) as thread:
                thread.submit(upgrade, servers.url(unfinished)).result()
            servers.sql(f"ALTER DATABASE {unfinished} RENAME TO {TEMPLATE}")
    return TEMPLATE


@pytest.fixture
def empty_database_url(servers: Servers) -> Iterator[str]:
    """A database of this test's own with nothing in it."""
    name = f"test_{uuid4().hex}"
    servers.sql(f"CREATE DATABASE {name}")
    yield servers.url(name)
    servers.sql(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def database_pool(servers: Servers, template: str) -> DatabasePool:
    return DatabasePool(servers.sql, template)


@pytest.fixture
def database_url(servers: Servers, database_pool: DatabasePool) -> Iterator[str]:
    """A migrated database that nobody else uses meanwhile."""
    with database_pool.lend() as name:
        yield servers.url(name)


@pytest.fixture
def redis_url(servers: Servers) -> str:
    """An empty logical database of this xdist worker's own; channels of pub/sub are shared by all of them."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    url = servers.redis_url + worker
    with Redis.from_url(url) as client:
        client.flushdb()
    return url


@pytest.fixture(scope="session")
def cells_socket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Socket of the one zygote for every test of this process: to start one takes seconds."""
    folder = Path(tempfile.mkdtemp(prefix="labcrew-cells-"))
    command = [sys.executable, "-m", "app.cli.program", "cells", "--socket", str(folder / "socket")]
    home = tmp_path_factory.mktemp("cells")
    process = subprocess.Popen(command, env={**os.environ, "LABCREW_HOME": str(home)}, cwd=home)
    yield folder / "socket"
    process.terminate()
    ended(process)
    shutil.rmtree(folder)


@pytest.fixture
def blob_store(tmp_path: Path) -> FolderBlobs:
    return FolderBlobs(tmp_path / "blobs")
