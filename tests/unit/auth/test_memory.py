from uuid import uuid4

from app.auth.memory import Memory


def test_an_answer_from_before_a_revocation_is_not_remembered() -> None:
    memory: Memory[bool] = Memory(lambda: 0.0)
    user = uuid4()
    generation = memory.generation
    memory.forget(user)
    assert memory.keep("key", user, True, 10.0, generation) is True
    assert memory.fresh("key") is None
    memory.keep("key", user, True, 10.0, memory.generation)
    assert memory.fresh("key") is True
