"""Messages in words: their channel, recipient and condition."""

import re
from typing import Any

from app.modeling.problem.name_resolution import nearest_names

_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{0,190}\w")
_URL = re.compile(r"https?://\S+")
_CHANNEL = re.compile(r"#([a-z][\w-]*)")
_NO_RECIPIENT = frozenset(
    {
        "me",
        "us",
        "it",
        "that",
        "this",
        "a",
        "an",
        "the",
        "if",
        "when",
        "whenever",
        "once",
        "as",
        "know",
        "every",
        "each",
        "always",
        "and",
        "after",
        "before",
        "of",
        "on",
        "in",
        "with",
        "only",
        "by",
        "for",
        "step",
        "message",
    }
)
_RECIPIENT = re.compile(
    r"\b(?:tell|alert|notify|warn|ping|inform|text|page|message|e-?mail|mail|let|to) (?:the |our |my "
    r")?(?!to\b)([a-z][\w-]*)"
)
NOTICE = re.compile(
    r"\b(?:send|tell|alert|notify|notified|warn|ping|inform|text|page|e-?mail|mail|message|notification|"
    r"let \w+ know|slack|post)\b"
)
FAILURE = re.compile(r"\b(?:fails?|failed|failure|errors?|breaks?|crash(?:es)?|goes wrong|problem)\b")
_NUMBER = r"(?P<value>-?\d[\d,]*(?:\.\d+)?)"
_COMPARED = re.compile(
    r"\b(?:(?P<low>below|under|less than|fewer than|lower than|cheaper than|at most|smaller than)|"
    r"(?P<high>above|over|more than|greater than|higher than|exceeds?|at least|beyond))\s+[$€£]?" + _NUMBER
)
_MOVED = re.compile(
    r"\b(?P<noun>[\w ]{1,60}?) (?:(?P<drops>drops?|falls?|decreases?|goes down|sinks?|gets cheaper|declines?)|"
    r"(?P<rises>rises?|increases?|goes up|climbs?|grows?)|(?P<changes>changes?))\b"
)
_ROWS = re.compile(
    r"\b(?:there are|has|have) (?:(?P<none>no)|(?:(?:more than|over) )?(?P<count>\d+)) (?:rows?|results?|"
    r"orders?|entries)\b"
)


def read_notice(message: str) -> dict[str, Any] | None:
    """Return the configuration of a `notify` node, or None if no message is to be sent."""
    text = message.lower()
    if NOTICE.search(text) is None and re.search(r"\badd (?:a )?notif", text) is None:
        return None
    address, url, channel = _ADDRESS.search(message), _URL.search(message), _CHANNEL.search(text)
    recipient = next((m[1] for m in _RECIPIENT.finditer(text) if m[1] not in _NO_RECIPIENT), None)
    is_mail = re.search(r"\be-?mails?\b|\bmails?\b", text) is not None
    if address is not None:
        to: dict[str, Any] = {"channel": "email", "to": address[0]}
    elif url is not None:
        to = {"channel": "slack" if "slack" in text else "webhook", "to": url[0].rstrip(".,;")}
    elif channel is not None:
        to = {"channel": "slack", "to": channel[1]}
    elif "slack" in text and not is_mail:
        to = {"channel": "slack", "to": recipient if recipient and recipient != "slack" else "slack"}
    elif is_mail or recipient is None:
        to = (
            {"channel": "email"}
            if recipient is None or recipient in ("mail", "email")
            else {"channel": "email", "to": recipient}
        )
    else:
        to = {"channel": "slack", "to": recipient}
    subject = re.search(r"\bsubject (?:to |is )?[\"“']([^\"”']{1,200})[\"”']", message, re.IGNORECASE)
    return {**to, **({"subject": subject[1]} if subject else {})}


def read_condition(message: str, columns: list[str]) -> dict[str, Any] | None:
    """Return the configuration of a `condition` node for `if the price drops`, or None."""
    text = message.lower()
    governed = re.search(
        r"\b(?:if|when|whenever|once|as soon as|unless|every time|each time|only if) (?P<test>.*)", text
    )
    if governed is None:
        return None
    # The condition ends where the action begins; a comma within `1,000` ends nothing.
    test = re.split(r",(?!\d)| then |\b(?:send|tell|alert|notify|e-?mail|post|ping|warn)\b", governed["test"])[
        0
    ].strip()
    rows = _ROWS.search(test)
    if rows is not None:
        count = 0 if rows["none"] else int(rows["count"])
        return {"function": "count", "op": "=" if rows["none"] else ">", "value": count}
    compared = _COMPARED.search(test)
    if compared is not None:
        noun = test[: compared.start()]
        is_pronoun = re.search(r"^(?:it|that|they|this)\b", noun) is not None
        # `the price, if it drops`: a pronoun means what was named before.
        column = find_column(text[: governed.start()] if is_pronoun else noun, columns)
        value, is_low = float(compared["value"].replace(",", "")), compared["low"] is not None
        # Some row is below a value if the least is. Without a column the words can only mean the rows.
        figure = {"function": "min" if is_low else "max", "column": column} if column else {"function": "count"}
        return {**figure, "op": "<" if is_low else ">", "value": value}
    moved = _MOVED.search(test)
    if moved is not None:
        op = next(name for name in ("drops", "rises", "changes") if moved[name])
        column = find_column(moved["noun"], columns)
        return {"function": "max" if op == "rises" else "min", "column": column, "op": op} if column else None
    return None


def find_column(words: str, columns: list[str]) -> str | None:
    """Return the column that a noun means; without known columns the last word is its name."""
    nouns = [
        word
        for word in re.findall(r"[a-z_]\w*", words)
        if word not in ("the", "a", "an", "is", "goes", "falls", "of", "number")
    ]
    # The last noun of a phrase is its head: `the price of the house` is rare beside `the house price`.
    for noun in reversed(nouns):
        for name in (noun, noun.removesuffix("s")):
            exact = [
                column for column in columns if column.lower() == name or name in column.lower().split("_")
            ]
            # Short words are near to too many names.
            close = exact or (nearest_names(name, columns) if len(name) > 3 else [])
            if close:
                return str(close[0])
    return nouns[-1] if nouns and not columns else None
