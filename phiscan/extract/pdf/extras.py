"""What a PDF holds beside its page text: form values, XFA, annotations, outline, metadata, attachments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import pikepdf

from phiscan.extract.core.content import Content, Sink
from phiscan.formats.sensitivity_labels import label_properties
from phiscan.model import FailReason

_MAX_ANNOTATIONS = 20_000  # of one page; entries of an outline
_MOST_OPTIONS = 5_000
_MOST_PARENTS = 50  # of a field
_DAMAGE = (RuntimeError, ValueError, TypeError, AttributeError, KeyError, IndexError)


def read_page_extras(content: Content, sink: Sink, page: Any, index: int) -> None:
    """Add the filled form fields, their choices and the notes of one page; attached files are members."""
    fields: list[str] = []
    notes: list[str] = []
    choices: list[str] = []
    found = annotations_of(page)
    if len(found) > _MAX_ANNOTATIONS:
        detail = f"annotations {_MAX_ANNOTATIONS + 1} to {len(found)} are not read"
        sink.fail(content.place(f"p{index + 1}/notes"), FailReason.TOO_LARGE, detail)
    for number, annotation in enumerate(found[:_MAX_ANNOTATIONS], 1):
        if annotation.get("/Subtype") == "/Widget":
            label = text_of(_inherited(annotation, "/TU")) or ".".join(_names(annotation))
            value = text_of(_inherited(annotation, "/V"))
            if value and value != "Off":
                fields.append(f"{label}: {value}" if label else value)
            default = text_of(_inherited(annotation, "/DV"))
            choices += [f"default: {default}"] if default else []
            options = _items(_inherited(annotation, "/Opt"))
            choices += filter(None, (text_of(_last(option)) for option in options[:_MOST_OPTIONS]))
        else:
            if annotation.get("/Subtype") == "/FileAttachment":
                _read_file(content, sink, lambda file=annotation: file.FS, f"file{number}")  # type: ignore[misc]
            notes += filter(None, (text_of(annotation.get(key)) for key in ("/T", "/Subj", "/Contents")))
    for lines, place in ((fields, "form"), (notes, "notes"), (list(dict.fromkeys(choices)), "choices")):
        sink.add("\n".join(lines), content.place(f"p{index + 1}/{place}"))


def annotations_of(page: Any) -> list[Any]:
    """Return the dictionaries of a page's annotations."""
    found = _items(page.get("/Annots"))
    return [annotation for annotation in found if isinstance(annotation, pikepdf.Dictionary)]


def has_appearance(page: Any) -> bool:
    """Tell a page with an annotation, other than a link, that is drawn by a stream of its own."""
    return any(
        "/N" in annotation.get("/AP", {}) and annotation.get("/Subtype") not in ("/Link", "/Popup")
        for annotation in annotations_of(page)[:_MAX_ANNOTATIONS]
    )


def read_extras(content: Content, sink: Sink, pdf: Any) -> None:
    """Add XFA values, scripts, the outline, the metadata and every attachment of an opened PDF."""
    with sink.part(content.place("xfa"), *_DAMAGE):
        _read_xfa(content, sink, pdf)
    with sink.part(content.place("scripts"), *_DAMAGE):
        tree = pdf.Root.get("/Names", {}).get("/JavaScript")
        named = islice(pikepdf.NameTree(tree).items(), _MOST_OPTIONS) if tree is not None else ()
        scripts = [text for name, action in named for text in (str(name), text_of(action.get("/JS")))]
        sink.add("\n".join(scripts), content.place("scripts"))
    with sink.part(content.place("outline"), *_DAMAGE):
        titles = list(islice(_titles(pdf.Root.get("/Outlines")), _MAX_ANNOTATIONS + 2))
        if len(titles) > _MAX_ANNOTATIONS + 1:
            detail = f"entries from {_MAX_ANNOTATIONS + 2} on are not read"
            sink.fail(content.place("outline"), FailReason.TOO_LARGE, detail)
        sink.add("\n".join(titles[: _MAX_ANNOTATIONS + 1]), content.place("outline"))
    with sink.part(content.place("properties"), *_DAMAGE):
        about = [(str(key)[1:], text_of(value)) for key, value in pdf.docinfo.items()]
        sink.add("\n".join(f"{key}: {text}" for key, text in about if text), content.place("properties"))
        if isinstance(metadata := pdf.Root.get("/Metadata"), pikepdf.Stream) and not content.locator:
            sink.label_properties += label_properties(bytes(metadata.read_bytes()))
    with sink.part(content.place("attachments"), *_DAMAGE):
        names = list(pdf.attachments)[: sink.limits.member_count]
        for number, name in enumerate(names, 1):
            _read_file(content, sink, lambda name=name: pdf.attachments[name].obj, f"attachment{number}")  # type: ignore[misc]


def _read_file(content: Content, sink: Sink, find: Callable[[], Any], name: str) -> None:
    """Read the file of a specification, ``find()``, as a member."""
    with sink.part(content.place(name), *_DAMAGE):
        sink.take_member()
        specification = find()
        data = next(stream for key in ("/UF", "/F") if (stream := specification.EF.get(key)) is not None)
        data = bytes(data.read_bytes())
        sink.spend(len(data))
        names = (text_of(specification.get(key)) for key in ("/UF", "/F", "/Desc"))
        if sink.is_new_file(data) or data:
            sink.read_member(content.member(next(filter(None, names), name), data))


def _read_xfa(content: Content, sink: Sink, pdf: Any) -> None:
    """Add the values of an XFA form; its template holds captions and scripts, no values.

    A form is kept in packets, each with a name, or as one document without one that holds them all.
    """
    from phiscan.extract.structured.xml_markup import labelled_text, part_of  # noqa: PLC0415 (lxml)

    form = pdf.Root.get("/AcroForm", {}).get("/XFA")
    packets = [("", form)] if isinstance(form, pikepdf.Stream) else []
    packets += [(str(name), packet) for name, packet in zip(*[iter(_items(form))] * 2, strict=False)]
    for name, packet in packets:
        if name in ("", "datasets"):
            data = bytes(packet.read_bytes())
            sink.spend(len(data))
            sink.add(labelled_text(data if name else part_of(data, "datasets")), content.place("xfa"))


def _titles(root: Any) -> Iterator[str]:
    """Yield the titles of an outline, each entry before those within it."""
    pending, seen = [root], set()
    while pending:
        item = pending.pop()
        if isinstance(item, pikepdf.Dictionary) and item.objgen not in seen:
            seen.add(item.objgen)
            yield from filter(None, [text_of(item.get("/Title"))])
            pending += [item.get("/Next"), item.get("/First")]


def _inherited(field: Any, key: str) -> Any:
    """Return an entry of a form field, or of the nearest field above that has it."""
    return next((one.get(key) for one in _above(field) if key in one), None)


def _above(field: Any) -> Iterator[Any]:
    for _ in range(_MOST_PARENTS):
        yield field
        field = field.get("/Parent")
        if field is None:
            return


def _names(field: Any) -> list[str]:
    """Return the partial names of a form field, the outermost first."""
    return [name for one in _above(field) if (name := text_of(one.get("/T")))][::-1]


def _items(value: Any) -> list[Any]:
    """Return the items of an array; of anything else none."""
    return list(value) if isinstance(value, pikepdf.Array) else []


def _last(option: Any) -> Any:
    """Return the label of a choice: the choice itself, or the last of a pair of value and label."""
    return (_items(option) or [option])[-1]


def text_of(value: Any) -> str:
    """Return the text of a string, name, stream or array of an opened PDF; empty for anything else."""
    if isinstance(value, pikepdf.Array):
        text = "\n".join(filter(None, map(text_of, islice(value, _MOST_OPTIONS))))
    elif isinstance(value, pikepdf.Stream):
        text = str(pikepdf.String(value.read_bytes()))
    elif isinstance(value, pikepdf.Name):
        text = str(value)[1:]
    else:
        text = str(value) if isinstance(value, pikepdf.String | str) else ""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").strip()
