"""The share of the browser tests: the sample corpus, and files whose names and contents attack the pages."""

import shutil
from pathlib import Path

CORPUS = Path(__file__).parents[2] / "sample_corpus"
NOT_SHARED = ("Scans",)  # pictures take most of the time

HOSTILE_NAME = "<img src=x onerror=alert(1)>.txt"
HOSTILE_FOLDER = '"><script>alert(2)<'
BIDI_NAME = "letter \u202efdp.txt"
SURNAME = "Quillfeather"  # stands in these files only: it must not be on a page that was not asked to reveal

LETTER = """Referral letter
Re: Bramwell {surname}, date of birth 1948-03-07, health card 3085-222-580-TU, telephone 613-555-0142
<script>document.title = 'owned'</script><img src=x onerror="document.title='owned'">
Dear Dr. Whitlock, thank you for seeing this patient with hypertension and type 2 diabetes, treated with
metformin and ramipril after a myocardial infarction. Blood pressure was 152/88; the ECG showed T wave
changes. He reports chest pain on exertion and shortness of breath since January. {rest}
"""


def make_share(folder: Path) -> None:
    """Copy the corpus, and put the attacking files and some near-duplicates beside it."""
    shutil.copytree(CORPUS, folder, ignore=shutil.ignore_patterns(*NOT_SHARED))
    letter = LETTER.format(surname=SURNAME, rest="He will be seen in the clinic next month.")
    (folder / HOSTILE_NAME).write_text(letter, encoding="utf-8")
    (folder / BIDI_NAME).write_text(letter.replace("Bramwell", "Ottoline"), encoding="utf-8")
    (folder / HOSTILE_FOLDER).mkdir()
    for number in range(3):
        rest = f"Copy number {number} goes to the records office together with the chart."
        (folder / HOSTILE_FOLDER / f"copy {number}.txt").write_text(
            LETTER.format(surname=SURNAME, rest=rest), encoding="utf-8"
        )
