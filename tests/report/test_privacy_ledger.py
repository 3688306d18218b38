"""The ledger of private releases."""

import stat
from pathlib import Path

import pytest

from phiscan.errors import InputError
from phiscan.report.private.release import Charge, charge, data_set_id


def test_identifies_a_data_set_in_any_order_with_a_key_of_its_own(tmp_path: Path) -> None:
    examples = [(0.5, True), (0.25, False)]
    one = data_set_id(tmp_path / "a", examples)
    assert one == data_set_id(tmp_path / "a", reversed(examples))
    assert one != data_set_id(tmp_path / "a", [*examples, (0.5, True)])
    assert one != data_set_id(tmp_path / "b", examples)
    assert stat.S_IMODE((tmp_path / "a/privacy/key").stat().st_mode) == 0o600


def test_refuses_for_delta_alone(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="delta"):
        charge(tmp_path, "d", Charge("auc_roc", "laplace", 0.1, 0.06), None)


@pytest.mark.parametrize(
    "content", ["x", "[]", "{}", '{"budget": {}, "releases": []}', '{"budget": 1, "releases": 2}']
)
def test_refuses_without_a_readable_ledger(tmp_path: Path, content: str) -> None:
    (tmp_path / "privacy").mkdir()
    (tmp_path / "privacy/d.json").write_text(content)
    with pytest.raises(InputError, match="refusing to release"):
        charge(tmp_path, "d", Charge("accuracy", "cauchy", 0.1, 0.0), None)


def test_says_when_the_home_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    with pytest.raises(InputError, match="PHISCAN_HOME"):
        charge(tmp_path / "home", "d", Charge("accuracy", "cauchy", 0.1, 0.0), None)
