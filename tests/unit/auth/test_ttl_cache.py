from uuid import uuid4

from app.auth.ttl_cache import TtlCache


def test_an_answer_from_before_a_revocation_is_not_remembered() -> None:
    cache: TtlCache[bool] = TtlCache(lambda: 0.0)
    user = uuid4()
    generation = cache.generation
    cache.forget(user)
    assert cache.keep("key", user, True, 10.0, generation) is True
    assert cache.fresh("key") is None
    cache.keep("key", user, True, 10.0, cache.generation)
    assert cache.fresh("key") is True
