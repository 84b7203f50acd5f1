import pytest
from kombu.transport import virtual

from app.worker.celery_app import broker_url, make_celery


@pytest.mark.parametrize(
    ("redis_url", "broker"),
    [
        ("redis://:secret@host:6379/2", "redis://:secret@host:6379/2"),
        ("unix:///run/valkey.sock?db=3", "redis+socket:///run/valkey.sock?virtual_host=3"),
        ("unix:///run/valkey.sock", "redis+socket:///run/valkey.sock?virtual_host=0"),
    ],
)
def test_kombu_is_told_of_sockets_in_its_own_words(redis_url: str, broker: str) -> None:
    assert broker_url(redis_url) == broker


def test_an_acknowledgement_needs_no_redis(redis_url: str) -> None:
    """One that Redis lost keeps its prefetch credit; a consumer without credits reads nothing for ever."""
    with make_celery(redis_url).connection_for_read() as connection:
        assert connection.default_channel.QoS is virtual.QoS
