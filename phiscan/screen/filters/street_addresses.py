"""What the tagger takes for a street address and is none: "GCS 15", "Permobil M3", "msp 97120".

It was taught addresses of a number and words, so a word and a number looks like one. An address says street,
box or floor, holds a postal code, or begins with its number before a name. Where it does not, but holds a
number as registers give them, that number is the finding.
"""

from __future__ import annotations

import re

from phiscan.screen.validators.codes import no_public_number
from phiscan.screen.validators.verdicts import Verdict

_STREET_WORDS = (
    r"street|st|str|avenue|ave?|boul|boulevard|blvd|bd|road|rd|drive|dr|lane|ln|court|ct|cres(?:cent)?"
    r"|circle|cir|place|pl|square|sq|terrace|terr?|trail|trl|tr|way|parkway|pkwy|highway|hwy|freeway"
    r"|expressway|county road|cr|close|gate|grove|heights|hts|hill|hills|row|walk|alley|bay|bend|bluff"
    r"|bridge|brook|common|corner|cove|creek|crossing|dale|estates?|falls|farm|ferry|fields?|flats?"
    r"|gardens?|glen|green|harbou?r|hollow|island|isle|junction|knoll|lake|landing|loop|mall|manor"
    r"|meadows?|mews|mills?|mount|mountain|mtn|orchard|park|pass|path|pike|plaza|plz|point|port|ranch"
    r"|ridge|river|route|rte|rt|run|shores?|springs?|station|stn|turnpike|tpke|valley|view|village|vista"
    r"|wharf|woods|line|concession|conc|sideroad|townline|rang|rg|rue|chemin|ch\.?(?= d)|mont[ée]e"
    r"|c[ôo]te|all[ée]e|impasse|quai|ruelle|croissant|promenade|sentier|box|b\.?p|c\.?p|p\.?o|r\.?r"
    r"|rural|hc|drawer|general delivery|gen del|poste restante|site|comp|suite|ste|apt|apartment|unit"
    r"|app|appartement|appt|bureau|floor|fl|[ée]tage|bldg|building|b[âa]timent|lot(?= \d{1,3}\b)|slip"
    r"|trailer|house|hse|maison|pavillon|tower|tour|fm|calle|via|rua|stra(?:ss|ß)e|weg|platz"
)
_WORD = re.compile(rf"(?<![^\W_])(?:{_STREET_WORDS})(?![^\W_]|-)", re.IGNORECASE)
_POSTAL = re.compile(
    r"(?<!\w)[A-Za-z]\d[A-Za-z] ?\d[A-Za-z]\d(?!\w)"
    r"|(?:[A-Z][a-z]+|(?<!\w)[A-Z]{2}|, (?:[A-Z][A-Za-z]+ )?[A-Z]+),? \d{5}(?:-\d{4})?(?!\w)"
)
_NUMBERED = re.compile(r"\W{0,2}\d{1,5}[A-Za-z]?(?:-\d{1,4})?,? \w{0,2}\.? ?[A-ZÀ-Ý][a-zà-ÿ’'-]{2,}")  # noqa: RUF001 (names are written with it)
_NUMBER = re.compile(
    r"(?<=[^\W\d_][ .:#-])(?<![\d./-])"
    r"(?P<number>(?:[A-Z]{1,4}-?)?(?=(?:[A-Z .-]?\d){5})\d[\dA-Z]*(?:[-. ]\d[\dA-Z]*)*"
    r"|\d{2}-\d{2,4})(?![^\W_])(?![-/.]\d)"
)
_MAX_CHARS = 200
# The label of an address, which in small letters looks like its beginning.
_LABEL = re.compile(
    r"(?:(?:old|new|home|mailing|current|prev(?:ious)?|temp|his|her|their|pt|nouvelle|ancienne)[ ])?"
    r"(?:addr?(?:ess)?|adresse)\b(?:[ ](?:is|est))?[ .:,]{1,3}(?=\w)",
    re.IGNORECASE,
)


def reads_as_address(name: str) -> bool:
    """Tell whether what the tagger took for a street address can be one.

    >>> reads_as_address("12 Elm"), reads_as_address("po box 1190 moapa"), reads_as_address("GCS 15")
    (True, True, False)
    """
    return bool(_WORD.search(name) or _POSTAL.search(name) or _NUMBERED.match(name))


def label_chars(name: str) -> int:
    """Return how many characters of a label begin what the tagger took for a street address.

    >>> label_chars("old addr 204 W 4th Ave"), label_chars("12 Elm St")
    (9, 0)
    """
    label = _LABEL.match(name)
    return 0 if label is None else label.end()


def number_in(name: str) -> tuple[int, int] | None:
    """Return where a number as registers give them is in what is no address; None where there is none.

    >>> number_in("msp 97120"), number_in("GCS 15")
    ((4, 9), None)
    """
    match = _NUMBER.search(name[:_MAX_CHARS])
    return None if match is None or no_public_number(match["number"]) is Verdict.VETO else match.span()
