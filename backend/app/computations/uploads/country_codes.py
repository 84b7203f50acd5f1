"""Columns of ISO 3166 codes of countries, in which `NA` is Namibia and no missing value."""

from collections.abc import Iterable

from app.modeling.type_inference.vocabulary import split_words

NAMIBIA = "NA"
MIN_CODES = 4
"""Distinct codes that show countries, those of states of the USA not counted."""
_COUNTRIES = split_words(
    "AD|AE|AF|AG|AI|AL|AM|AO|AQ|AR|AS|AT|AU|AW|AX|AZ|BA|BB|BD|BE|BF|BG|BH|BI|BJ|BL|BM|BN|BO|BQ|BR|BS"
    "|BT|BV|BW|BY|BZ|CA|CC|CD|CF|CG|CH|CI|CK|CL|CM|CN|CO|CR|CU|CV|CW|CX|CY|CZ|DE|DJ|DK|DM|DO|DZ|EC|EE"
    "|EG|EH|ER|ES|ET|FI|FJ|FK|FM|FO|FR|GA|GB|GD|GE|GF|GG|GH|GI|GL|GM|GN|GP|GQ|GR|GS|GT|GU|GW|GY|HK|HM"
    "|HN|HR|HT|HU|ID|IE|IL|IM|IN|IO|IQ|IR|IS|IT|JE|JM|JO|JP|KE|KG|KH|KI|KM|KN|KP|KR|KW|KY|KZ|LA|LB|LC"
    "|LI|LK|LR|LS|LT|LU|LV|LY|MA|MC|MD|ME|MF|MG|MH|MK|ML|MM|MN|MO|MP|MQ|MR|MS|MT|MU|MV|MW|MX|MY|MZ|NC"
    "|NE|NF|NG|NI|NL|NO|NP|NR|NU|NZ|OM|PA|PE|PF|PG|PH|PK|PL|PM|PN|PR|PS|PT|PW|PY|QA|RE|RO|RS|RU|RW|SA"
    "|SB|SC|SD|SE|SG|SH|SI|SJ|SK|SL|SM|SN|SO|SR|SS|ST|SV|SX|SY|SZ|TC|TD|TF|TG|TH|TJ|TK|TL|TM|TN|TO|TR"
    "|TT|TV|TW|TZ|UA|UG|UM|US|UY|UZ|VA|VC|VE|VG|VI|VN|VU|WF|WS|XK|YE|YT|ZA|ZM|ZW|UK|EU|EL"
)
"""Codes of countries but Namibia, with those that offices of statistics use beside them."""
_STATES = split_words("AL|AR|AZ|CA|CO|DE|GA|ID|IL|IN|LA|MA|MD|ME|MN|MO|MS|MT|NC|NE|PA|SC|SD|TN|VA")
"""Codes of states of the USA that are codes of countries too."""


def are_countries(cells: Iterable[str]) -> bool:
    """Test for codes of countries, whether `NA` is among them or not."""
    codes = {cell.strip() for cell in cells} - {"", NAMIBIA}
    return len(codes - _STATES) >= MIN_CODES and codes <= _COUNTRIES
