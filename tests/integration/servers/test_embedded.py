"""The embedded servers as `labcrew up` uses them: private, durable, and no trouble after a crash."""

import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest
from redis import Redis

from app.errors import Conflict
from app.servers.embedded import EmbeddedServers, FolderLock
from app.servers.os_user import Account

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def embedded(home: Path) -> Iterator[EmbeddedServers]:
    servers = EmbeddedServers(home)
    yield servers
    servers.stop()


async def value(url: str, sql: str) -> object:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(sql)
    finally:
        await connection.close()


async def test_a_stop_keeps_the_data_and_the_next_start_finds_it(home: Path, embedded: EmbeddedServers) -> None:
    await value(embedded.start_postgres(), "CREATE TABLE kept AS SELECT 7 AS n")
    embedded.stop()
    assert await value(embedded.start_postgres(), "SELECT n FROM kept") == 7


def test_the_data_of_postgres_is_made_once(embedded: EmbeddedServers) -> None:
    assert embedded.prepare_postgres().create()
    assert not embedded.prepare_postgres().create()
    embedded.start_postgres()


def test_a_stop_leaves_no_socket_and_no_pid_file(home: Path, embedded: EmbeddedServers) -> None:
    embedded.start_valkey()
    embedded.start_postgres()
    sockets = embedded.prepare_folders().sockets
    embedded.stop()
    assert not sockets.exists()
    assert not list(home.rglob("*.pid"))


async def test_postgres_is_as_durable_as_one_installed_by_hand(embedded: EmbeddedServers) -> None:
    """Of a server of its own: the one that the tests share is not."""
    url = embedded.start_postgres()
    for setting in ("fsync", "synchronous_commit", "full_page_writes", "data_checksums"):
        assert await value(url, f"SHOW {setting}") == "on", setting


async def test_postgres_listens_on_no_port(servers) -> None:
    assert await value(servers.admin_url, "SHOW listen_addresses") == ""


async def test_postgres_asks_everybody_for_the_password(servers) -> None:
    stranger = servers.admin_url.replace(servers.admin_url.split(":")[2].split("@")[0], "guessed")
    with pytest.raises(asyncpg.InvalidPasswordError):
        await value(stranger, "SELECT 1")


@as_root
def test_another_local_user_reaches_neither_server(servers) -> None:
    attempt = (
        "import os, socket, sys\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "for path in sys.argv[1:]:\n"
        "    try: socket.socket(socket.AF_UNIX).connect(path)\n"
        "    except PermissionError: continue\n"
        "    sys.exit('reached ' + path)\n"
    )
    folder = Path(servers.admin_url.partition("host=")[2])
    paths = [folder / ".s.PGSQL.5432", folder / "valkey.sock"]
    assert all(path.exists() for path in paths)
    subprocess.run([sys.executable, "-c", attempt, *paths], check=True)


def test_existing_folders_are_unchanged(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    before = [(folder, folder.stat().st_mode, folder.stat().st_uid) for folder in (private, tmp_path)]
    servers = EmbeddedServers(private / "home")
    try:
        servers.start_postgres()
    finally:
        servers.stop()
    assert before == [(folder, folder.stat().st_mode, folder.stat().st_uid) for folder, *_ in before]


def test_all_files_are_private_to_their_owner(home: Path, embedded: EmbeddedServers) -> None:
    embedded.start_valkey()
    embedded.start_postgres()
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert stat.S_IMODE(embedded.prepare_folders().sockets.stat().st_mode) == 0o700
    assert stat.S_IMODE(next(home.rglob("postgres.password")).stat().st_mode) == 0o600


def test_a_long_path_gets_sockets_with_a_short_one(tmp_path: Path) -> None:
    servers = EmbeddedServers(tmp_path / ("long-" * 30))
    try:
        servers.start_valkey()
        servers.start_postgres()
        folder = servers.prepare_folders().sockets
        assert len(bytes(folder / ".s.PGSQL.5432")) <= 107
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    finally:
        servers.stop()
    assert not folder.exists()


async def test_two_services_on_one_machine_are_separate(tmp_path: Path) -> None:
    one, other = EmbeddedServers(tmp_path / "one"), EmbeddedServers(tmp_path / "other")
    try:
        await value(one.start_postgres(), "CREATE TABLE mine (n int)")
        assert await value(other.start_postgres(), "SELECT to_regclass('mine')") is None
        Redis.from_url(one.start_valkey()).set("mine", 1)
        assert Redis.from_url(other.start_valkey()).get("mine") is None
    finally:
        one.stop()
        other.stop()


OWNER = """
import signal, sys
from pathlib import Path
from app.servers.embedded import EmbeddedServers
servers = EmbeddedServers(Path(sys.argv[1]))
servers.start_valkey()
servers.start_postgres()
print(servers.postgres.daemon.process.pid, servers.valkey.daemon.process.pid, flush=True)
signal.pause()
"""


def start_owner(home: Path) -> tuple["subprocess.Popen[str]", list[int]]:
    owner = subprocess.Popen([sys.executable, "-c", OWNER, home], stdout=subprocess.PIPE, text=True)
    assert owner.stdout
    return owner, [int(pid) for pid in owner.stdout.readline().split()]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


async def test_the_servers_of_a_killed_owner_end_and_the_next_start_finds_the_data(
    home: Path, embedded: EmbeddedServers
) -> None:
    owner, pids = start_owner(home)
    with owner:
        owner.kill()
    await value(embedded.start_postgres(), "SELECT 1")
    embedded.start_valkey()
    assert not any(alive(pid) for pid in pids)


async def test_servers_killed_together_with_their_owner_start_again(
    home: Path, embedded: EmbeddedServers
) -> None:
    owner, pids = start_owner(home)
    with owner:
        for pid in (owner.pid, *pids):
            os.kill(pid, signal.SIGKILL)
    assert await value(embedded.start_postgres(), "SELECT 1") == 1
    assert Redis.from_url(embedded.start_valkey()).ping()


async def test_a_reused_pid_does_not_stop_the_start(home: Path, embedded: EmbeddedServers) -> None:
    embedded.start_postgres()
    data = embedded.prepare_folders().data / "postgres"
    embedded.stop()
    (data / "postmaster.pid").write_text(f"{os.getppid()}\n{data}\n")
    (data.parent / "postgres.pid").write_text(f"{os.getppid()} 1 another-boot")
    assert await value(embedded.start_postgres(), "SELECT 1") == 1
    assert alive(os.getppid())


def test_an_unfinished_data_folder_is_replaced(home: Path, embedded: EmbeddedServers) -> None:
    unfinished = embedded.prepare_folders().data / "postgres.unfinished"
    unfinished.mkdir()
    (unfinished / "PG_VERSION").write_text("18")
    embedded.start_postgres()
    assert not unfinished.exists()


def test_a_second_service_on_a_folder_is_refused_with_the_owners_pid(tmp_path: Path) -> None:
    first, second = FolderLock(tmp_path / "lock"), FolderLock(tmp_path / "lock")
    first.take()
    with pytest.raises(Conflict, match=f"already runs on {tmp_path}.*process {os.getpid()}"):
        second.take()
    first.release()
    second.take()
    second.release()


def test_a_folder_whose_service_stops_is_waited_for(tmp_path: Path) -> None:
    first, second = FolderLock(tmp_path / "lock"), FolderLock(tmp_path / "lock")
    first.take()
    waits: list[str] = []

    def stop_the_first() -> bool:
        first.release()
        return True

    second.take(stop_the_first, lambda: waits.append("once"))
    assert waits == ["once"]
    assert (tmp_path / "lock").read_text() == str(os.getpid())
    second.release()


def uid_of(pid: int) -> int:
    return Path(f"/proc/{pid}").stat().st_uid


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """A place that another user can reach, unlike `tmp_path`."""
    folder = Path(tempfile.mkdtemp(prefix="labcrew-elsewhere-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


@as_root
async def test_where_namespaces_are_refused_root_hands_everything_to_another_user(
    home: Path, elsewhere: Path
) -> None:
    nobody = pwd.getpwnam("nobody").pw_uid
    account = Account(str(nobody), nobody)
    servers = EmbeddedServers(home, account=account, other_user_root=elsewhere)
    try:
        await value(servers.start_postgres(), "CREATE TABLE kept AS SELECT 7 AS n")
        assert Redis.from_url(servers.start_valkey()).ping()
        assert servers.postgres
        assert servers.postgres.daemon.process
        assert uid_of(servers.postgres.daemon.process.pid) == nobody
        servers.stop()
        servers = EmbeddedServers(home, account=account, other_user_root=elsewhere)
        assert await value(servers.start_postgres(), "SELECT n FROM kept") == 7
    finally:
        servers.stop()


def readable_for(uid: int) -> bool:
    try:
        attempt = subprocess.run([sys.executable, "-c", "import app"], check=False, user=uid, group=uid)
    except PermissionError:
        return False
    return attempt.returncode == 0


@as_root
def test_an_ordinary_user_runs_them_without_any_privilege(tmp_path: Path) -> None:
    """In a place that an ordinary user can reach: the interpreter and the wheels must be readable."""
    nobody = pwd.getpwnam("nobody").pw_uid
    if not readable_for(nobody):
        pytest.skip("an ordinary user cannot read this interpreter's packages")
    home = Path(tempfile.mkdtemp(prefix="labcrew-nobody-"))
    os.chown(home, nobody, -1)
    script = OWNER.replace("signal.pause()", "servers.stop()")
    try:
        subprocess.run(
            [sys.executable, "-c", script, home],
            check=True,
            user=nobody,
            group=nobody,
            extra_groups=[],
            cwd=home,
        )
    finally:
        shutil.rmtree(home)
