import pytest
from redis.exceptions import RedisError

from app.redis_address import SentinelService, parse_sentinel_service
from app.redis_client import open_redis


def test_the_address_of_one_server_is_no_sentinel_service() -> None:
    for address in ("redis://host/2", "rediss://host", "unix:///run/valkey.sock?db=3"):
        assert parse_sentinel_service(address) is None


def test_a_sentinel_address_has_hosts_and_a_service_name() -> None:
    assert parse_sentinel_service("redis+sentinel://a,b:7,[::1]:8/lab") == SentinelService(
        (("a", 26379), ("b", 7), ("::1", 8)), "lab"
    )
    assert parse_sentinel_service(
        "rediss+sentinel://me:p%40ss@a/lab/3?sentinel_password=other"
    ) == SentinelService((("a", 26379),), "lab", 3, True, "me", "p@ss", "other")


@pytest.mark.parametrize(
    "rest", ["a,b", "a,b/", "a/lab/three", "a/lab/3/4", "a,,b/lab", "a/lab?timeout=3", "a:port/lab"]
)
def test_an_invalid_sentinel_address_is_refused_without_being_repeated(rest: str) -> None:
    with pytest.raises(ValueError, match=r"host|port") as refused:
        parse_sentinel_service(f"redis+sentinel://:hunter2@{rest}")
    assert "hunter2" not in str(refused.value)


async def test_a_client_shows_no_password_and_closes_what_it_opened() -> None:
    client = open_redis(
        "redis+sentinel://:hunter2@127.0.0.1:1/lab?sentinel_password=hunter3", socket_timeout=1
    )  # clock: nobody is there
    with pytest.raises(RedisError) as refused:
        await client.ping()
    assert "hunter" not in repr(client) + str(refused.value)
    await client.aclose()
