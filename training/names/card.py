"""The model card: what the tagger was trained on, with hashes, and its figures on unseen text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from training.corpora.marked_texts import DISTURBED
from training.corpora.open_texts import ATTRIBUTION, FAMILIES, FOLDS
from training.names.gate import BEYOND, POINTS, TOKENS
from training.names.measure import KINDS

_HEADER = (
    "| set | words | person recall / any label | person precision / any label | unknown names, recall |"
    " persons beyond gold per 1,000 words | names that count: recall | precision | beyond gold |"
    " organization recall / that counts | precision | place recall / that counts | precision |\n"
    "| --- " + "| ---: " * 12 + "|"
)
_CARD = """# Model card: the name tagger

Finds names of people, organizations, places and street addresses in running text, where no label or title
gives them away. Two models, whose scores are added: a linear-chain conditional random field, trained by
CRFsuite, which sees three tokens to each side, and a bidirectional LSTM trained in JAX, which sees a window
of about 128 tokens ([why](../decisions/0016-names.md)). The field is run by
numpy, the LSTM by onnxruntime. Written by [`phiscan train names`](train.md); do not edit.

## What it does on text that it never saw

Tokens are runs without white space, all figures in percent, at the thresholds of the program. Precision
is missing where the source does not mark every name; persons beyond the gold are then right in part. The
first columns are of all names that are shown. A **doubtful** one among them is a finding of `phiscan
screen`, with the step `doubt` among its reasons, but it sets no characteristic, counts for no person at
risk, and is not stored by a scan; the columns of names that count leave those out, and so does what stands
behind a stroke at organizations and places.

{table}

* The foreign sets: each measured by a model trained **without the whole family of that set**, and without
  the held-out templates. Families: {families}. Left out together: {folds}. The shipped model was trained
  on all.
* Held-out templates: documents made from the tenth of the templates that no fold has seen, read by a model
  that left out nothing else; with the rules: by labels, titles, lists and the second pass over the document,
  too. A generator knows its own style: no promise, and it changes with the templates. Errors on this tenth
  were read before the rules at the ends of names were written; another tenth, of which none was, and
  [why the aim is not reached](../decisions/0016-names.md).
* The foreign sets are development sets: errors of the tagger on presidio_synth_v2, presidio_generated_large,
  wnut17_train, medquad_dev and fhir_synthea_dev were read, by kind, before the templates and thresholds of
  these weights were chosen. No model was trained on the set that it is measured on, but the figures flatter.
* Texts of our own: everyday texts (`training/corpora/texts/`), each written out by hand, with every name
  marked. A tenth of them was held out of all folds, and is read by the same model as the held-out templates;
  "seen" is the shipped weights, which have learned from them. How the program does on texts that nobody has
  read stands in [marked texts](../explanation/marked-texts.md).
* Recall under any label: found as anything. Precision under any label: the share of what is found as a person
  that is marked as anything; the rest of it is a street, a place or an organization called as people are.
* Unknown names: tokens of persons of which no word is on a list of names.

Recall of persons by what the lists of names say of a token (in brackets the number of tokens):

{kinds}

The tagger stands beside the rules (labels, titles, credentials, gazetteer forms); the figures of both
together are in [the explanation of screening](../explanation/screening.md).

{anew}## The gate

`phiscan train names` compares these figures with the last card's and refuses weights when a recall or a
precision of persons falls by more than {points} points (or {tokens} tokens, where that is more), or
persons beyond the gold rise by more than {beyond} per 1,000 words, on a set of the same content. Weights
of the last card's recipe pass: they are the same, and only the thresholds are others.

## Trained on

{n_documents} documents, {n_tokens} tokens, seed {seed}. The generator (`training/`) fills sentences,
forms, lists, letters, tables, dialogue, HL7, JSON, XML and French notes with names of Faker's locales, of
the gazetteers, and of syllables put together, and with drugs that no list has. A tenth is in capitals, a
tenth in lower case, a part has lines of both or is misread as by a scanner. Texts of our own and the files
of `--marked` are read {n_copies} times: as they are, and then with other people, {disturbed:.0%} of these in
capitals, in small letters or misread. In each document {hidden:.0%} of the name lists and
{hidden_words:.0%} of the words of the vocabulary are hidden, so that unknown names and unknown surroundings
are learned. The openly licensed sets had every marked name of a person replaced by a surrogate, and lines
that may hold an unmarked name left out; no text of theirs is stored in the weights beyond single words that
occur in {min_documents} documents and more.

| set | source and licence | SHA-256, first 16 digits |
| --- | --- | --- |
{sources}

Dictionaries, templates and marked texts:

| file | SHA-256, first 16 digits |
| --- | --- |
{files}

The random field: `{parameters}`. {n_features} features; weights {megabytes:.2f} MB in half precision, which
label {n_unlike_crfsuite} tokens of 400 documents otherwise than CRFsuite's own.

The LSTM: `{reader}`.
It learned from the same documents; vectors in eight bits, the rest in half precision:
{reader_megabytes:.2f} MB.

## Limits

* Organizations are found far less surely than people; those with a probability below 0.7 are doubtful.
* On social media (wnut17) most findings of people can be false: hashtags, brands and lower case.
* A name that stands alone and is also a word ("Hope called", "Will") is often missed without context.
* Trained on English and French in Latin letters. Names in other scripts are found by labels only.
* A coined company name may be taken for a person, and so may a drug that no list has; the queue shows the
  score.
"""


_ANEW = """The figures were measured again after the training, by a later
program (`--measure-only`): its rules, and its dictionaries where their hashes are others than below, are
newer than the weights.

"""
_KINDS_HEADER = (
    "| set | on a list, no ordinary word | on a list, and a word | on no list |\n"
    "| --- | ---: | ---: | ---: |"
)  # fmt: skip


def render(card: Mapping[str, Any]) -> str:
    """Return the text of docs/reference/model-card-names.md; ``card`` is what names.json says."""
    hashes: Mapping[str, str] = card["hashes"]
    families = "; ".join(f"{family} ({', '.join(names)})" for family, names in FAMILIES.items())
    folds = "; ".join(" + ".join(some) for some in FOLDS.values())
    used = [name for name in ATTRIBUTION if name in hashes]
    sources = [f"| {name} | {ATTRIBUTION[name]} | {hashes[name][:16]} |" for name in used]
    files = [f"| {name} | {digest[:16]} |" for name, digest in hashes.items() if "/" in name]
    return _CARD.format(
        table="\n".join([_HEADER, *(_row(name, figures) for name, figures in card["figures"].items())]),
        kinds="\n".join([_KINDS_HEADER, *filter(None, map(_kinds, card["figures"].items()))]),
        anew=_ANEW if card.get("measured_anew") else "",
        families=families,
        folds=folds,
        points=POINTS,
        tokens=TOKENS,
        beyond=BEYOND,
        sources="\n".join(sources) or "| none | the generator alone | - |",
        files="\n".join(files),
        parameters=json.dumps(card["parameters"]),
        reader=json.dumps(card["settings"]["reader"]),
        min_documents=card["settings"]["min_word_documents"],
        n_copies=card["settings"]["n_copies"],
        disturbed=DISTURBED,
        **{
            key: card[key]
            for key in (
                "n_documents",
                "n_tokens",
                "seed",
                "hidden",
                "hidden_words",
                "n_features",
                "megabytes",
                "reader_megabytes",
            )
        },
        n_unlike_crfsuite=card["n_unlike_crfsuite"],
    )


def _row(name: str, figures: Mapping[str, Any]) -> str:
    def shown(key: str, digits: int = 1) -> str:
        value = figures.get(key)
        return "-" if value is None else f"{value:.{digits}f}"

    cells = [name, str(figures["n_words"])]
    both = f"{shown('person_recall')} / {shown('person_recall_any_label')}"
    precision = f"{shown('person_precision')} / {shown('person_precision_any_label')}"
    cells.append(both if figures["n_person_tokens"] else "-")
    cells += [precision if precision != "- / -" else "-", shown("unknown_recall")]
    cells.append(shown("persons_beyond_gold_per_1000_words", 2))
    cells += [shown("counted_recall"), shown("counted_precision")]
    cells.append(shown("counted_beyond_gold_per_1000_words", 2))
    for group in ("organization", "place"):
        for what in ("recall", "precision"):
            every, sure = shown(f"{group}_{what}"), shown(f"{group}_counted_{what}")
            cells.append(every if every == sure == "-" else f"{every} / {sure}")
    return "| " + " | ".join(cells) + " |"


def _kinds(named: tuple[str, Mapping[str, Any]]) -> str:
    name, figures = named
    recalls = [figures.get(f"{kind}_recall") for kind in KINDS]
    sizes = [figures.get(f"n_{kind}_tokens") for kind in KINDS]
    if recalls == [None] * len(KINDS):
        return ""
    cells = ["-" if r is None else f"{r:.1f} ({n})" for r, n in zip(recalls, sizes, strict=True)]
    return f"| {name} | {' | '.join(cells)} |"
