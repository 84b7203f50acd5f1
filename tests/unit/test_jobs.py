import json
from base64 import b64decode
from pathlib import Path
from uuid import UUID

from kombu import Connection
from redis.asyncio import Redis

from app.jobs import QUEUES, JobName, JobSender, Outbox, advance_job, encode_message, fit_job

SESSION = UUID(int=7)


def test_a_job_is_a_celery_message_of_protocol_two() -> None:
    envelope = json.loads(encode_message(fit_job(SESSION, "4.round", 2)))
    args, kwargs, embed = json.loads(b64decode(envelope["body"]))
    assert (args, kwargs) == ([str(SESSION), "4.round", 2], {})
    assert set(embed) == {"callbacks", "errbacks", "chain", "chord"}
    assert envelope["headers"]["task"] == "labcrew.fit"
    assert envelope["properties"]["delivery_info"]["routing_key"] == "compute"


def test_kombu_reads_a_message_as_its_own() -> None:
    with Connection("memory://") as connection, connection.channel() as channel:
        read = channel.Message(json.loads(encode_message(advance_job(SESSION))), channel=channel)
        assert read.payload[0] == [str(SESSION)]
        assert read.headers["task"] == "labcrew.advance"
        assert read.properties["delivery_tag"]


def test_every_job_has_a_queue() -> None:
    assert set(QUEUES) == set(JobName)


def test_an_outbox_is_emptied_once() -> None:
    outbox = Outbox()
    outbox.add(advance_job(SESSION))
    assert outbox.drain() == [advance_job(SESSION)]
    assert outbox.drain() == []


async def test_what_redis_does_not_take_is_counted_and_fails_nobody(tmp_path: Path) -> None:
    dropped: list[int] = []
    async with Redis(unix_socket_path=str(tmp_path / "nobody")) as redis:
        send = JobSender(redis, dropped.append)
        send(advance_job(SESSION))
        send(fit_job(SESSION, "4.round", 2))
        await send.close()
    assert dropped == [2]
