import ssl

import pytest
from kombu.transport import virtual

from app.worker.celery_app import broker, make_celery


@pytest.mark.parametrize(
    ("redis_url", "address"),
    [
        ("redis://:secret@host:6379/2", "redis://:secret@host:6379/2"),
        ("unix:///run/valkey.sock?db=3", "redis+socket:///run/valkey.sock?virtual_host=3"),
        ("unix:///run/valkey.sock", "redis+socket:///run/valkey.sock?virtual_host=0"),
        ("redis+sentinel://a,b:2/lab/3", "sentinel://a:26379/3;sentinel://b:2/3"),
    ],
)
def test_kombu_is_told_of_sockets_and_sentinels_in_its_own_words(redis_url: str, address: str) -> None:
    assert broker(redis_url).address == address


def test_a_service_is_named_to_kombu_and_its_certificates_are_verified() -> None:
    app = make_celery("rediss+sentinel://:word@a,b/lab?sentinel_password=other")
    assert app.conf.broker_transport_options["master_name"] == "lab"
    asking = app.conf.broker_transport_options["sentinel_kwargs"]
    assert asking.items() >= {"password": "other", "ssl": True, "socket_connect_timeout": 2}.items()
    assert app.conf.broker_transport_options["ack_emulation"] is False
    assert app.conf.broker_use_ssl == make_celery("rediss://a").conf.broker_use_ssl
    assert app.conf.broker_use_ssl["ssl_cert_reqs"] == ssl.CERT_REQUIRED
    assert make_celery("redis://a").conf.broker_use_ssl is None


def test_an_acknowledgement_needs_no_redis(redis_url: str) -> None:
    """One that Redis lost keeps its prefetch credit; a consumer without credits reads nothing for ever."""
    with make_celery(redis_url).connection_for_read() as connection:
        assert connection.default_channel.QoS is virtual.QoS
