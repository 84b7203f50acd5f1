import pytest

from app.worker.celery_app import broker_url
from app.worker.watchdog import stalled


@pytest.mark.parametrize(
    ("can_consume", "reserved", "active", "verdict"),
    [
        (False, 0, 0, True),
        (True, 0, 0, False),
        (False, 1, 0, False),
        (False, 0, 1, False),
    ],
)
def test_a_consumer_without_credits_or_work_has_stalled(
    can_consume: bool, reserved: int, active: int, verdict: bool
) -> None:
    assert stalled(can_consume, reserved, active) is verdict


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
