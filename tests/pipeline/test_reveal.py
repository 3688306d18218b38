"""Reading a file again: only what was examined, in memory only, and never without a record."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from phiscan.config import Config
from phiscan.errors import ConflictError
from phiscan.model import EntityType
from phiscan.pipeline.rereading.reveal import Rereader
from phiscan.review.store import Store
from tests.pipeline.harness import ToolHere, write_share

NOW = datetime(2026, 11, 20, 8, 30, tzinfo=UTC)


def test_shows_what_was_examined_and_nothing_else(
    tool_here: ToolHere, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PHISCAN_AUDIT_SHARE", "0")  # the random sample would be searched for names
    tool = tool_here
    share = write_share(tmp_path / "share", 3)
    (share / "vetoed.txt").write_text(
        "Social insurance number: 123 456 789\nthe same again, SIN 123 456 789\n"
    )
    (share / "plain.txt").write_text("Gordon Winslow will bring the chairs to the garden club.\n")
    assert tool.run("init").returncode == 0
    done = tool.run("scan", share, "--exit-zero")
    assert done.returncode == 0, done.stderr
    with Store.open(f"sqlite:///{tool.database}") as store, Rereader(Config(home=tool.home)) as rereader:
        item = store.desk.items(viewer="ana", now=NOW).items[0]
        reveal = store.desk.reveal(item.file_id, purpose="canary purpose", by="ana", now=NOW)
        place = share / item.path
        text = place.read_text()
        document = rereader.read(reveal)
        assert document.text.rstrip() == text.rstrip()
        assert {kind for _, _, kind in reveal.spans} >= {"PERSON"}
        assert "canary" not in repr((document, reveal.spans))
        assert text.split()[0] not in repr(document)
        refused = rereader.vetoes(store.desk.examined(store.find("vetoed.txt")))
        numbers = [one for one in refused.first if one.entity_type is EntityType.SIN]
        assert [(one.preview, one.reasons[-1].kind) for one in numbers] == [("999 999 999", "veto")] * 2
        assert refused.n >= 2
        assert "No findings" in tool.run("queue", "show", "plain.txt").stdout
        again = tool.run("queue", "show", "plain.txt", "--again").stdout
        assert "1 finding: name 1" in again
        assert " is not written or laid out like a record" in again, again
        assert "Winslow" not in again
        assert "456" not in repr(refused)
        os.utime(place, (1, 1))  # other dates, the same bytes
        assert rereader.read(reveal).text == document.text
        place.write_text(text + " ")
        with pytest.raises(ConflictError, match="has changed since it was examined"):
            rereader.read(reveal)
        place.unlink()
        with pytest.raises(ConflictError, match="or is gone"):
            rereader.read(reveal)
        assert store.verify_audit().ok
        assert [one.what for one in store.desk.history(item.file_id, viewer="ana")] == ["reveal"]
    kept = [path for path in tool.temp.rglob("*") if path.is_file()]
    assert not [path for path in kept if text.encode()[:40] in path.read_bytes()]
    assert text.split("\n")[3].encode() not in tool.database.read_bytes()
