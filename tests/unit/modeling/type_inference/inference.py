"""Inference and parsing of raw frames in one call, for tests."""

from collections.abc import Mapping

import pandas as pd

from app.modeling.type_inference.column_decisions import infer_types, make_parsers
from app.modeling.type_inference.parsers import ParsersJson, parse_columns


def infer_parsers(
    frame: pd.DataFrame, target: str | None = None, types: Mapping[str, str] | None = None
) -> ParsersJson:
    return make_parsers(infer_types(frame, target, types))


def parse_frame(
    frame: pd.DataFrame, target: str | None = None, types: Mapping[str, str] | None = None
) -> pd.DataFrame:
    return parse_columns(frame, infer_parsers(frame, target, types))
