"""Speed of the pattern part on one core, beside the same rules through `regex` one by one.

    .venv/bin/python tests/bench/bench_patterns.py

The texts are the development sets beside the checkout, if they are there, and a made table of numbers.
"""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import regex

from phiscan.model import Document
from phiscan.screen.patterns import PatternRecognizer
from phiscan.screen.rule_files import load_rules

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "text"


def texts() -> dict[str, str]:
    made = random.Random(1)
    rows = (",".join(str(made.randrange(10 ** made.randint(1, 7))) for _ in range(8)) for _ in range(20_000))
    found = {"table of numbers": "a,b,c,d,e,f,g,h\n" + "\n".join(rows)}
    for label, name in (("notes", "aci_bench_train_valid"), ("health prose", "medquad_dev"),
                        ("speeches", "state_union_inaugural"), ("records", "fhir_synthea_dev")):  # fmt: skip
        path = DATA / f"{name}.jsonl"
        if path.is_file():
            lines = path.read_text(encoding="utf-8").splitlines()[:200]
            found[label] = "\n\n".join(json.loads(line)["text"] for line in lines)
    return found


def main() -> None:
    ruleset = load_rules()
    recognizer = PatternRecognizer(ruleset)
    singly = [regex.compile(rule.pattern) for rule in ruleset.rules if not rule.needs_evidence]
    print(
        f"{'text':18} {'MB':>6} {'scanner MB/s':>13} {'all MB/s':>9} {'one by one MB/s':>16} {'findings':>9}"
    )
    for label, text in texts().items():
        raw = text.encode()
        n_findings = len(list(recognizer.recognize(Document(text, (), ""))))  # also warms the automaton
        start = time.process_time()
        for _ in recognizer._scanner._scanner.finditer(raw):
            pass
        scanned = time.process_time()
        for _ in recognizer.recognize(Document(text, (), "")):
            pass
        done = time.process_time()
        part = text[:50_000]
        for pattern in singly:
            for _ in pattern.finditer(part):
                pass
        single = time.process_time() - done
        megabytes = len(raw) / 1e6
        speeds = (megabytes / max(scanned - start, 1e-9), megabytes / max(done - scanned, 1e-9))
        print(
            f"{label:18} {megabytes:6.2f} {speeds[0]:13.0f} {speeds[1]:9.1f} "
            f"{len(part.encode()) / 1e6 / single:16.2f} {n_findings:9d}"
        )


if __name__ == "__main__":
    main()
