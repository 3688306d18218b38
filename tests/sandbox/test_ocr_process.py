"""OCR in a process of its own: what the program reads, with limits, and no reading that costs another."""

import importlib.util
import io
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from phiscan.config import Limits
from phiscan.extract.ocr.recognition import languages
from phiscan.extract.ocr.words import words_of
from phiscan.sandbox import channel, programs
from phiscan.sandbox.ocr import messages, ocr_client
from phiscan.sandbox.ocr.messages import OcrReply
from phiscan.sandbox.ocr.ocr_client import OcrClient, loaded_version
from phiscan.sandbox.ocr.tesseract_library import (
    SYSTEM_LIBRARY,
    Greymap,
    Tesseract,
    data_folder,
    library_files,
)
from phiscan.sandbox.services import program_service
from tests.waiting import wait_until

MEMORY = 6 * 1024**3  # half of it is more than the test process holds, which its child is said to have held
SECONDS = 300.0  # on a busy machine
TEXT = "Patient Lena Okafor\nof ward nine was seen\non the fourth of May"
ATTACKS = """
import os, socket
from phiscan.sandbox.ocr.ocr_process import _isolate
_isolate({folder!r}, 1 << 30, os.getppid())
attempts = {{
    "open": lambda: open("/etc/hostname").read(),
    "write": lambda: open({place!r}, "w"),
    "socket": lambda: socket.socket(),
    "fork": os.fork,
    "exec": lambda: os.execv("/bin/true", ["/bin/true"]),
    "kill": lambda: os.kill(os.getppid(), 0),
    "memory": lambda: bytearray(4 << 30),
}}
for name, attempt in attempts.items():
    try:
        attempt()
        print(name, "was possible")
    except (OSError, MemoryError) as error:
        print(name, type(error).__name__)
"""


def _is_loadable() -> bool:
    command = [sys.executable, "-c", "import sys, ctypes; ctypes.CDLL(sys.argv[1])", SYSTEM_LIBRARY]
    return subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode == 0


pytestmark = pytest.mark.skipif(
    not languages() or not _is_loadable(), reason="tesseract or its library is not installed"
)


def picture(text: str = TEXT, *, quarter_turns: int = 0, size: tuple[int, int] = (900, 400)) -> bytes:
    image = Image.new("L", size, 255)
    font = ImageFont.load_default(size=32)
    ImageDraw.Draw(image).multiline_text((40, 40), text, fill=0, font=font, spacing=16)
    stream = io.BytesIO()
    image.rotate(90 * quarter_turns, expand=True).save(stream, "PPM")
    return stream.getvalue()


def read(client: OcrClient, data: bytes, job: str = "ocr", seconds: float = SECONDS) -> tuple[int, bytes]:
    descriptor = channel.in_memory(data)
    try:
        found = client.read(job, descriptor, seconds, languages())
    finally:
        os.close(descriptor)
    assert found is not None
    return found


def by_program(data: bytes, job: str) -> bytes:
    names = {"languages": languages(), "segmentation": "3", "folder": "", "input": ""}
    arguments = [part.format_map(names) for part in programs.JOBS[job].arguments]
    done = subprocess.run(["tesseract", *arguments], input=data, capture_output=True, check=True)
    return done.stdout


@pytest.fixture
def client() -> Iterator[OcrClient]:
    client = OcrClient(MEMORY, [SYSTEM_LIBRARY])
    yield client
    client.close()


def pid_of(client: OcrClient) -> int:
    assert client._process is not None
    return client._process.pid


def test_words_are_those_of_the_program_whatever_was_read_before(client: OcrClient) -> None:
    pages = [picture(), picture("Le dossier de Zoé\nest à la clinique"), picture()]
    tables = [read(client, page) for page in pages]
    assert tables == [(0, by_program(page, "ocr")) for page in pages]
    assert b"Okafor" in tables[0][1]


@pytest.mark.parametrize("quarter_turns", [0, 1, 2, 3])
def test_orientation_is_that_of_the_program(client: OcrClient, quarter_turns: int) -> None:
    lines = "\n".join(f"The patient of ward {n} was discharged in the afternoon" for n in range(9))
    page = picture(lines, quarter_turns=quarter_turns, size=(1100, 700))
    expected = next(line for line in by_program(page, "orientation").splitlines() if b"Rotate" in line)
    assert read(client, page, "orientation") == (0, expected + b"\n")


def test_picture_with_too_few_letters_has_no_orientation(client: OcrClient) -> None:
    assert read(client, picture("I"), "orientation") == (messages.NOT_READ, b"")


@pytest.mark.parametrize("data", [b"", b"P5 9 9 255\nabc", b"P5 0 0 255\n", b"P6 1 1 255\nabc", b"%PDF-1.7"])
def test_what_is_no_grey_picture_is_refused_and_the_process_lives(client: OcrClient, data: bytes) -> None:
    assert read(client, data) == (messages.NOT_READ, b"")
    pid = pid_of(client)
    assert read(client, picture())[0] == messages.OK
    assert pid_of(client) == pid
    with pytest.raises(ValueError, match="picture"):
        Greymap.parse(data)


def test_process_that_hangs_is_ended_and_replaced(client: OcrClient) -> None:
    read(client, picture())
    pid = pid_of(client)
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(subprocess.TimeoutExpired):
        read(client, picture(), seconds=0.3)
    assert not Path(f"/proc/{pid}").exists()
    assert read(client, picture())[0] == messages.OK
    assert pid_of(client) != pid


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT])
def test_crash_costs_one_reading_and_names_its_signal(client: OcrClient, number: signal.Signals) -> None:
    read(client, picture())
    pid = pid_of(client)
    os.kill(pid, signal.SIGSTOP)
    found: list[tuple[int, bytes]] = []
    reading = threading.Thread(target=lambda: found.append(read(client, picture())))
    reading.start()
    wait_until(lambda: client._n_readings == 2, "the reading is asked for")
    os.kill(pid, number)
    os.kill(pid, signal.SIGCONT)
    reading.join()
    assert found == [(-number, b"")]
    assert read(client, picture())[0] == messages.OK


@pytest.mark.slow
@pytest.mark.parametrize("n_megabytes", [24, 200])  # too little for the pixels, and for what is made of them
def test_page_that_needs_too_much_memory_says_so(n_megabytes: int) -> None:
    client = OcrClient(n_megabytes * 1024**2, [SYSTEM_LIBRARY])
    noise = Image.effect_noise((5000, 5000), 90)
    assert read(client, b"P5\n5000 5000\n255\n" + noise.tobytes()) == (messages.NO_MEMORY, b"")
    assert read(client, picture(size=(300, 100)))[0] == messages.OK
    client.close()


@pytest.mark.parametrize("reply", [b"x", b"[]", b'{"status":"0","output":""}', b'{"status":0}', b"[0,1]"])
def test_reply_of_another_form_ends_the_process(client: OcrClient, reply: bytes) -> None:
    read(client, picture())
    pid = pid_of(client)
    ours, theirs = socket.socketpair()
    assert client._connection is not None
    client._connection.close()
    client._connection = ours
    channel.send(theirs, reply)
    assert read(client, picture()) == (70, b"")
    assert not Path(f"/proc/{pid}").exists()
    assert read(client, picture())[0] == messages.OK
    theirs.close()


def test_process_is_replaced_after_so_many_readings(
    client: OcrClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ocr_client, "MOST_READINGS", 2)
    pids = []
    for _ in range(4):
        read(client, picture(size=(300, 100)))
        pids.append(pid_of(client))
    assert pids[0] == pids[1] != pids[2] == pids[3]


def test_limits_and_layers_of_the_process(client: OcrClient) -> None:
    read(client, picture())
    pid = pid_of(client)
    limits = Path(f"/proc/{pid}/limits").read_text().splitlines()
    found = {line[:26].strip(): line[26:].split()[:2] for line in limits}
    memory, most_memory = map(int, found["Max address space"])
    assert MEMORY < memory == most_memory < 2 * MEMORY
    assert found["Max file size"] == found["Max core file size"] == ["0", "0"]
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    status = {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
    assert (status["NoNewPrivs"], int(status["CapEff"], 16)) == ("1", 0)


def test_code_that_took_the_process_over_finds_nothing(tmp_path: Path) -> None:
    folder = data_folder("eng")
    assert folder is not None
    code = ATTACKS.format(folder=folder, place=str(tmp_path / "new"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    refused = dict.fromkeys(["open", "write", "socket", "fork", "exec", "kill"], "PermissionError")
    assert found == refused | {"memory": "MemoryError"}


def test_process_ends_with_the_process_that_asked(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        client = OcrClient(MEMORY, [SYSTEM_LIBRARY])
        read(client, picture())
        (tmp_path / "new").write_text(str(pid_of(client)))
        (tmp_path / "new").rename(tmp_path / "pid")
        signal.pause()
    wait_until((tmp_path / "pid").exists, "it has started")
    served = int((tmp_path / "pid").read_text())
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    wait_until(lambda: not _runs(served), "it has ended")


def _runs(pid: int) -> bool:
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    except OSError:
        return False


def test_without_a_library_the_program_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    client = OcrClient(MEMORY, ["libno-such-library.so"])
    descriptor = channel.in_memory(picture())
    assert client.read("ocr", descriptor, SECONDS, languages()) is None
    limits = programs.ProgramLimits()
    monkeypatch.setattr(ocr_client, "_CLIENTS", {limits.memory_bytes: client})
    values = {"languages": languages(), "segmentation": "3"}
    found = programs.execute("ocr", values, descriptor, SECONDS, limits)
    os.close(descriptor)
    assert (found.status, found.output) == (0, by_program(picture(), "ocr"))


def test_version_is_that_of_the_first_library_that_loads() -> None:
    client = OcrClient(MEMORY, ["libno-such-library.so", "libc.so.6", SYSTEM_LIBRARY])
    program = subprocess.run(["tesseract", "--version"], capture_output=True, text=True, check=True).stdout
    assert client.start(languages()) == program.split()[1]
    client.close()
    assert OcrClient(MEMORY, ["libno-such-library.so"]).start(languages()) == ""
    assert loaded_version(languages())[0] in "45"


def test_library_of_another_kind_is_refused() -> None:
    with pytest.raises(OSError, match="not libtesseract"):
        Tesseract("libc.so.6", "/nowhere", "eng")
    assert data_folder("no-such-language") is None


def test_worker_reads_through_the_process_that_starts_programs(tmp_path: Path) -> None:
    service = program_service(Limits())
    service.open(str(tmp_path))
    programs.ask_at(str(tmp_path))
    try:
        descriptor = channel.in_memory(picture())
        found = programs.run("ocr", descriptor, SECONDS, languages=languages(), segmentation="3")
        os.close(descriptor)
    finally:
        programs._Connection.channel = None
        service.close()
    assert found.status == 0
    assert b"Okafor" in found.output


def test_reply_does_not_show_the_text() -> None:
    assert "Okafor" not in repr(OcrReply(0, "Okafor"))


def test_library_inside_an_installed_tesserocr_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tesserocr").mkdir()
    (tmp_path / "tesserocr" / "__init__.py").touch()
    (tmp_path / "tesserocr.libs").mkdir()
    carried = tmp_path / "tesserocr.libs" / "libtesseract-0a1b2c3d.so.5.5.4"
    carried.touch()
    spec = importlib.util.spec_from_file_location("tesserocr", tmp_path / "tesserocr" / "__init__.py")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: spec)
    assert list(library_files()) == [str(carried), SYSTEM_LIBRARY]
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert list(library_files()) == [SYSTEM_LIBRARY]


def test_every_library_of_this_machine_reads_a_clear_page_alike() -> None:
    texts = set()
    for library in library_files():
        client = OcrClient(MEMORY, [library])
        status, table = read(client, picture())
        client.close()
        assert status == 0
        texts.add(" ".join(word.text for word in words_of(table.decode())))
    assert texts == {" ".join(TEXT.split())}


def test_copy_of_the_client_made_by_fork_has_a_process_of_its_own(client: OcrClient) -> None:
    read(client, picture())
    pid = pid_of(client)
    child = os.fork()
    if child == 0:
        is_right = read(client, picture())[0] == 0 and pid_of(client) != pid
        client.close()
        os._exit(0 if is_right else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert read(client, picture())[0] == 0
    assert pid_of(client) == pid
