"""Large files made from seeded records: one table of patients in many formats, and files with one PHI row."""

import io
import json
import random
import zipfile
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path

N_PATIENTS = 75_000
HEAD = ("Patient name", "Date of birth", "Chart number", "Phone", "Diagnosis")
Record = tuple[str, str, str, str, str]

# fmt: off
_FIRST = (
    "Ann", "Brenda", "Carla", "Denis", "Edward", "Fiona", "George", "Helen", "Ivan", "Julia", "Karl",
    "Laura", "Marc", "Nadia", "Oscar", "Paula", "Quentin", "Rosa", "Samuel", "Teresa", "Ursula",
    "Victor", "Wendy", "Xavier", "Yvonne", "Zachary", "Pierre", "Sylvie", "Gilles",
)
_LAST = (
    "Abbott", "Bouchard", "Carter", "Desjardins", "Evans", "Fortin", "Gagnon", "Harris", "Irving",
    "Johnson", "Kowalski", "Lavoie", "Murphy", "Nguyen", "Ouellet", "Pelletier", "Quinn", "Robinson",
    "Simard", "Tremblay", "Underwood", "Vaillancourt", "Wilson",
)
# fmt: on
_MIDDLE = "ABCDEFGHIJKLMNOPRSTVW"
_ILLNESS = (
    "Type 2 diabetes mellitus",
    "Hypertension",
    "Asthma",
    "Major depressive disorder",
    "Chronic kidney disease",
    "Breast cancer",
    "Hepatitis C",
    "Atrial fibrillation",
    "Rheumatoid arthritis",
    "Epilepsy",
)
_PARTS = (
    "hinge",
    "bracket",
    "washer",
    "gasket",
    "bearing",
    "pulley",
    "spindle",
    "flange",
    "bushing",
    "rivet",
)
_SHEET_ROWS = 1_000_000  # a worksheet holds 1,048,576


def records(n_records: int, seed: int = 31) -> Iterator[Record]:
    """Yield the records of patients, the same ones for the same seed."""
    draw = random.Random(seed)
    for number in range(n_records):
        name = f"{draw.choice(_FIRST)} {draw.choice(_MIDDLE)}. {draw.choice(_LAST)}"
        born = f"{draw.randint(1930, 2010)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
        phone = f"{draw.choice(('613', '514', '416'))}-555-{draw.randint(100, 199):04}"
        yield name, born, f"{1_000_000 + number * 7}", phone, draw.choice(_ILLNESS)


def write_csv(path: Path, n_records: int) -> None:
    """Write a table with a header row."""
    with path.open("w", encoding="utf-8") as stream:
        stream.write(",".join(HEAD) + "\n")
        stream.writelines(",".join(record) + "\n" for record in records(n_records))


def write_xlsx(path: Path, n_records: int) -> None:
    """Write a workbook, one sheet for each million rows, as a database's export does (inline texts)."""
    import openpyxl  # noqa: PLC0415 (a development dependency)

    book, empty, rows = openpyxl.Workbook(write_only=True), io.BytesIO(), records(n_records)
    for _ in range(-(-n_records // _SHEET_ROWS)):
        book.create_sheet()
    book.save(empty)
    with (
        zipfile.ZipFile(empty) as made,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as package,
    ):
        for name in made.namelist():
            with package.open(name, "w", force_zip64=True) as stream:
                before, mark, after = made.read(name).partition(b"<sheetData>")
                stream.write(before + mark)
                if mark:
                    for number, row in enumerate(chain([HEAD], islice(rows, _SHEET_ROWS)), 1):
                        stream.write(_sheet_row(number, row))
                stream.write(after)


def _sheet_row(row: int, cells: Record) -> bytes:
    written = "".join(
        f'<c r="{column}{row}" t="inlineStr"><is><t>{cell}</t></is></c>'
        for column, cell in zip("ABCDE", cells, strict=True)
    )
    return f'<row r="{row}">{written}</row>'.encode()


def write_json_lines(path: Path, n_records: int) -> None:
    """Write one JSON object a line."""
    fields = ("patientName", "birthDate", "chartNumber", "phone", "diagnosis")
    with path.open("w", encoding="utf-8") as stream:
        for record in records(n_records):
            stream.write(json.dumps(dict(zip(fields, record, strict=True))) + "\n")


def write_sql(path: Path, n_records: int) -> None:
    """Write a dump: one INSERT statement a record."""
    with path.open("w", encoding="utf-8") as stream:
        stream.write(
            "CREATE TABLE patients (patient_name text, birth_date date, chart_number text, phone text, "
            "diagnosis text);\n"
        )
        for record in records(n_records):
            insert = "INSERT INTO patients (patient_name, birth_date, chart_number, phone, diagnosis)"
            values = ", ".join(f"'{value}'" for value in record)
            stream.write(f"{insert} VALUES ({values});\n")


def write_pdf(path: Path, n_records: int) -> None:
    """Write a printed list of 25 patients a page."""
    from reportlab.lib.pagesizes import letter  # noqa: PLC0415 (a development dependency)
    from reportlab.pdfgen.canvas import Canvas  # noqa: PLC0415

    canvas = Canvas(str(path), pagesize=letter, pageCompression=1, invariant=1)
    rows = list(records(n_records))
    for start in range(0, n_records, 25):
        text = canvas.beginText(40, 750)
        text.setFont("Helvetica", 9)
        text.textLine("   ".join(HEAD))
        for record in rows[start : start + 25]:
            text.textLine("   ".join(record))
        canvas.drawText(text)
        canvas.showPage()
    canvas.save()


def repeat_pages(path: Path, source: Path, n_times: int) -> None:
    """Write a PDF whose page tree names the pages of another so many times."""
    import pypdfium2  # noqa: PLC0415

    with pypdfium2.PdfDocument(source) as pdf:
        made = pypdfium2.PdfDocument.new()
        n_pages = len(pdf)
        for _ in range(n_times):
            made.import_pages(pdf, range(n_pages))
        made.save(path)
        made.close()


def write_mailbox(path: Path, n_records: int) -> None:
    """Write a mailbox of one message a patient."""
    with path.open("w", encoding="utf-8") as stream:
        for number, (name, born, chart, phone, illness) in enumerate(records(n_records)):
            stream.write(
                f"From intake@clinic.example Mon Jan  5 09:00:00 2026\nFrom: intake@clinic.example\n"
                f"To: records@clinic.example\nSubject: Chart {chart}\n"
                f"Message-ID: <{number}@clinic.example>\n\n"
                f"Patient name: {name}\nDate of birth: {born}\nChart number: {chart}\nPhone: {phone}\n"
                f"Diagnosis: {illness}\n\n"
            )


def write_zip(path: Path, n_records: int) -> None:
    """Write a ZIP archive of the table."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package,
        package.open("export.csv", "w", force_zip64=True) as member,
        io.TextIOWrapper(member, encoding="utf-8") as stream,
    ):
        stream.write(",".join(HEAD) + "\n")
        stream.writelines(",".join(record) + "\n" for record in records(n_records))


WRITERS: Mapping[str, Callable[[Path, int], None]] = {
    "patients.csv": write_csv,
    "patients.xlsx": write_xlsx,
    "patients.jsonl": write_json_lines,
    "patients.sql": write_sql,
    "patients.pdf": write_pdf,
    "patients.mbox": write_mailbox,
    "patients.zip": write_zip,
}


def write_inventory(path: Path, n_bytes: int, row: str = "") -> None:
    """Write a stock list of hardware; ``row`` stands in its middle."""
    draw = random.Random(5)
    n_written, is_due = 0, bool(row)
    with path.open("w", encoding="utf-8") as stream:
        stream.write("Item,Shelf,Quantity,Supplier,Remark\n")
        while n_written < n_bytes:
            if is_due and n_written > n_bytes // 2:
                stream.write(row + "\n")
                is_due = False
            line = (
                f"{draw.choice(_PARTS)} {draw.randint(10, 99)} mm,"
                f"{draw.choice('ABCDEF')}{draw.randint(1, 40)},"
                f"{draw.randint(1, 900)},{draw.choice(('Norwell', 'Astrid Tools', 'Kappa Metal'))} Ltd,"
                f"checked {draw.randint(1, 28)} May\n"
            )
            n_written += stream.write(line)


def write_prose(path: Path, n_bytes: int, sentence: str = "") -> None:
    """Write minutes of committees; ``sentence`` stands in their middle."""
    draw = random.Random(6)
    subjects = ("The committee", "The working group", "The board", "The secretary", "The contractor")
    verbs = ("discussed", "approved", "postponed", "reviewed", "amended")
    things = (
        "the budget of the car park",
        "the repair of the roof",
        "the new signs",
        "the cleaning contract",
    )
    n_written, is_due = 0, bool(sentence)
    with path.open("w", encoding="utf-8") as stream:
        while n_written < n_bytes:
            if is_due and n_written > n_bytes // 2:
                stream.write(sentence + " ")
                is_due = False
            words = f"{draw.choice(subjects)} {draw.choice(verbs)} {draw.choice(things)}"
            words += f" by {draw.randint(2, 30)} votes. "
            n_written += stream.write(words + ("\n\n" if draw.random() < 0.2 else ""))
