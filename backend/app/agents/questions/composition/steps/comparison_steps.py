"""Steps of a sketch over words that set groups or times against each other."""

from collections.abc import Iterator, Sequence

from app.agents.questions.composition.cues import Cue
from app.agents.questions.composition.sketch import Sketch

Places = Sequence[int]


def likelihood_steps(sketch: Sketch, cue: Cue, places: Places) -> Iterator[Sketch]:
    """`more likely to cancel than men` compares shares; `more often than` compares numbers of rows too."""
    shares = sketch.flagged("compared", "share")
    yield sketch.advance(places, flags=shares, share_place=places[0])
    if "often" in cue.argument:
        yield sketch.advance(places, flags=sketch.flagged("compared"))


def shift(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    """`how much did sales fall`: a change, if there are two periods that are compared."""
    return sketch.advance(places, flags=sketch.flagged("change"))


def excess(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    """`how much longer`, and `by how much` at the beginning: the difference of two groups."""
    # Behind a comparison `by how much` asks for its margin.
    if cue.argument == "by how much" and places[0] and "compared" in sketch.flags:
        return None
    return sketch.advance(places, flags=sketch.flagged(cue.kind))


def margin(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    """`is the wait longer for men, and by how much`: the difference beside the two figures."""
    return (
        sketch.advance(places, flags=sketch.flagged("margin"))
        if places[0] and "compared" in sketch.flags
        else None
    )


def versus(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    """`women versus men`: the values on both sides are compared."""
    return sketch.advance(places, link="versus", flags=sketch.flagged("versus"))
