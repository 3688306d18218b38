"""Make the lists of names that the Census and Faker for Python lack: of Africa, Asia, the Arctic, Quebec.

    npm pack @faker-js/faker@10.6.0 && tar xzf faker-js-faker-10.6.0.tgz
    .venv/bin/python dictionaries/build/world_names.py package

Needs node and the package (MIT); its names are joined to those of ``world/*.src``, which were written for
phiscan. Only what is on no other list is taken, so no word of a language becomes a name by this.
"""  # noqa: INP001 (a build script)

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from phiscan.lexicon.dictionary import load_dictionary
from phiscan.lexicon.gazetteer import PARTICLES, fold

HERE = Path(__file__).resolve().parent
DICTIONARIES = HERE.parent
VERSION, DATE, MIN_LENGTH = "10.6.0", "2026-11-22", 3
# Not the made-up ones, nor the Italian, whose first names are in part words.
LOCALES = tuple(
    "af_ZA az bn_BD cs_CZ da de de_CH en_GH en_HK en_IN en_NG en_NP en_ZA es es_MX fr fr_BE fr_CH fr_SN"  # noqa: SIM905 (a list of words reads best as a text)
    " hr hu id_ID ku_kmr_latin lv nb_NO nl pl pt_BR pt_PT ro ro_MD sk sl_SI sr_RS_latin tr uz_UZ_latin vi"
    " yo_NG zu_ZA".split()
)
_HEALTH = (
    "eponyms",
    "health_abbreviations",
    "health_body",
    "health_conditions",
    "health_drugs",
    "health_labs",
    "health_procedures",
)
_NAME = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")  # noqa: RUF001 (names are written with it)
_DUMP = """
const flat = v => v == null ? [] : Array.isArray(v) ? v.flatMap(flat) : typeof v === 'string' ? [v]
  : v.value ? flat(v.value) : typeof v === 'object' ? Object.values(v).flatMap(flat) : [];
const out = {first: [], last: []};
for (const id of %s) {
  const person = (await import('./dist/locale/' + id + '.js')).faker.rawDefinitions.person ?? {};
  out.first.push(...flat(person.first_name), ...flat(person.middle_name));
  out.last.push(...flat(person.last_name));
}
console.log(JSON.stringify(out));
"""


def packaged(folder: Path) -> dict[str, list[str]]:
    """Return the first and the last names of the package that is unpacked in a folder."""
    code = _DUMP % json.dumps(LOCALES)
    command = ["node", "--input-type=module", "-e", code]
    run = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    names: dict[str, list[str]] = json.loads(run.stdout)
    return names


def listed(name: str) -> frozenset[str]:
    """Return the terms of a dictionary that stands already, if it does."""
    return frozenset(row[0] for row in load_dictionary(DICTIONARIES / f"{name}.txt").rows)


def main() -> None:
    """Write ``first_names_world.txt`` and ``last_names_world.txt``."""
    found = packaged(Path(sys.argv[1]))
    others = ("first_names", "last_names", "ordinary_words", "ordinary_words_fr")
    cues = {fold(row[0]) for row in load_dictionary(DICTIONARIES / "name_cues.txt").rows}
    known = frozenset().union(*map(listed, (*others, *_HEALTH))) | PARTICLES | cues
    for kind in ("first", "last"):
        written = set((HERE / "world" / f"{kind}.src").read_text(encoding="utf-8").split())
        words = {fold(word) for name in found[kind] for word in _NAME.findall(name)}
        plain = {word for word in words - known if word.isascii() and len(word) >= MIN_LENGTH}
        head = (
            f"# source: @faker-js/faker {VERSION}, {len(LOCALES)} locales; written for phiscan\n"
            f"# licence: MIT (@faker-js/faker); Apache-2.0\n# version: 1\n# date: {DATE}\n"
            "# normalisation: lower case, accents removed\n# columns: term\n"
        )
        path = DICTIONARIES / f"{kind}_names_world.txt"
        path.write_text(head + "\n".join(sorted(plain | written)) + "\n", encoding="utf-8")
        print(f"{path.name}: {len(plain | written)} terms")  # noqa: T201 (a build script)


if __name__ == "__main__":
    main()
