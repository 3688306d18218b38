"""``phiscan init``: create the missing ones of configuration, key and empty database."""

from __future__ import annotations

import os
from pathlib import Path

import click

from phiscan.cli.output import print_json
from phiscan.config import CONFIG_NAME, load_config
from phiscan.errors import ConfigError, InputError
from phiscan.review.store import Store
from phiscan.store.identity import create_key, load_key

TEMPLATE = """\
# phiscan's configuration. A field that begins with # has the value shown, its default.
# What each means in full: docs/reference/configuration.md

# The folder with key, database and state; relative to this file. Keep it out of the shares that you scan.
home = ".phiscan"

# URL of the review database; empty = SQLite in home.
# database = ""

# Instead: a file that holds this URL, such as a secret of a container.
# database_file = ""

# Worker processes; 0 = one per core.
# workers = 0

# Paths to pass over, one pattern per line; the file lies beside this one, never on the share.
# ignore_file = ".phiscanignore"

# Folders or files with rules of your own.
# extra_patterns = []

# An installed spaCy pipeline whose person names are added to ours.
# name_pipeline = ""

# A file with one password per line, tried on encrypted files.
# passwords_file = ""

# Neighbours in the health classifier.
# k = 3

# The newest verdicts that act on files about the same from the next scan on; 0 = none.
# decided_examples = 500

# Share of the files that is taken to hold PHI before anything is read.
# prevalence = 0.01

# A missed file costs as much time as so many reviews; a file is referred from P = 1 / (1 + this) on.
# missed_file_cost = 30.0

# Messages about a patient that are health information by what they are; leave out what is none for you.
# messages_of_care = ["hl7", "x12", "fhir", "cda", "dicom"]
# language = "en"

# Share of the files on which everything is computed, also what cannot change whether they are referred.
# audit_share = 0.05

# What one file may cost; what is beyond is recorded as not read.
[limits]
# time_s = 60.0
# processor_s = 15.0
# memory_bytes = 2147483648
# file_bytes = 536870912
# text_chars = 16000000
# screen_chars = 600000
# member_count = 10000
# member_bytes = 1073741824
# depth = 8
# ratio = 1000
# ocr_s = 30.0

# What decides whether a text is health information: "model" (P(PHI)), or "knn" (equation 4 and the nearest
# prototypes alone, as in the paper).
[health]
# detector = "model"

# From which probability each detector marks a file, for the estimates and the second list; 0: as shipped.
[detectors]
# patterns = 0.0
# names = 0.0
# text = 0.0

# How long what is kept, in years; `phiscan db purge` removes the rest.
[retention]
# findings_years = 6.0
# decisions_years = 6.0
# logs_years = 6.0
# superseded_years = 1.0
"""


@click.command(epilog="Example: phiscan init /srv/phiscan")
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print what was made as one JSON object.")
@click.pass_obj
def init(obj: str | None, folder: str | None, as_json: bool) -> None:
    """Write phiscan.toml, the secret key and an empty database into DIR (default: here).

    Nothing is ever overwritten: existing files are kept, and reported as such. An older database is migrated.
    Anyone who has the key can test guesses against the stored hashes: it is readable by its owner only; keep
    a copy apart from the database's.
    """
    if obj and folder:
        message = "expected either --config FILE or DIR, not both"
        raise InputError(message)
    path = Path(obj) if obj else Path(folder or ".") / CONFIG_NAME
    made = [("configuration", str(path), _write_config(path))]
    config = load_config(path)
    made.append(("key", str(config.key_file), create_key(config.key_file)))
    load_key(config.key_file)  # an unusable existing key is reported now, not at the first scan
    with Store.open(config.database_url, create=True, audit_key=config.audit_key_file) as store:
        made.append(("database", store.name, store.is_new))
    if as_json:
        print_json({what: {"path": where, "created": is_new} for what, where, is_new in made})
        return
    for what, where, is_new in made:
        click.echo(f"{what:<14} {'written' if is_new else 'left as it is'}: {where}")


def _write_config(path: Path) -> bool:
    """Write the commented configuration unless there is one; it may contain a password: mode 0600."""
    if path.exists():
        return False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(TEMPLATE)
    except FileExistsError:
        return False
    except OSError as error:
        raise ConfigError(path, f"cannot be written: {error.strerror}") from None
    return True
