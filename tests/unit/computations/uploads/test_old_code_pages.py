"""Text of DOS and of old Macs is recognised by the letters inside its words; other text stays Windows-1252."""

from pathlib import Path

import pytest

from app.computations.uploads.encoding import as_utf8

WORDS = {
    "German": "Müller,Köln,Straße,Bäcker,grün,Füße,schön",
    "Spanish": "niño,España,corazón,música,Muñoz,Martínez,Jiménez",
    "Portuguese": "São Paulo,João,Gonçalves,Conceição,Guimarães",
    "Danish": "København,smørrebrød,blåbær,Helsingør",
}


def encoding_of(text: str, encoding: str, folder: Path) -> str:
    (folder / "upload").write_bytes(f"a,b\n{text}\n".encode(encoding))
    converted = as_utf8(folder / "upload", folder)
    if converted.encoding == encoding:
        assert converted.path.read_text(encoding="utf-8") == f"a,b\n{text}\n"
    return converted.encoding


@pytest.mark.parametrize("language", WORDS)
@pytest.mark.parametrize("encoding", ["cp850", "mac_roman", "cp1252"])
def test_letters_inside_words_tell_the_code_page(language: str, encoding: str, tmp_path: Path) -> None:
    assert encoding_of(WORDS[language], encoding, tmp_path) == encoding


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("He said \u201chello\u201d \u2013 it\u2019s fine,don\u2019t,\u20ac 5,1\u2026", "cp1252"),
        ("\u017di\u017eek,Du\u0161an,Tom\u00e1\u0161", "cp1252"),
        ("Wałęsa,Dąbrowski,Świętochłowice,Poznań", "cp1250"),
        ("Beşiktaş,Çağr\u0131,Iş\u0131k,Doğan", "cp1254"),
    ],
)
def test_signs_and_other_letters_are_not_those_of_old_code_pages(
    text: str, encoding: str, tmp_path: Path
) -> None:
    assert encoding_of(text, encoding, tmp_path) == "cp1252"
