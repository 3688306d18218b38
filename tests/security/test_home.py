"""An operator's mistakes with phiscan's home are said before anything is read or written with its keys."""

from pathlib import Path

import pytest

from phiscan.errors import ConfigError
from phiscan.store.identity import create_key, load_key


@pytest.mark.parametrize("mode", [0o777, 0o703, 0o722])
def test_a_key_in_a_folder_where_everybody_may_write_is_refused(tmp_path: Path, mode: int) -> None:
    home = tmp_path / "home"
    create_key(home / "key")
    home.chmod(mode)
    with pytest.raises(ConfigError, match=rf"home: has mode {mode:04o}, expected 0700"):
        load_key(home / "key")


@pytest.mark.parametrize("mode", [0o700, 0o750, 0o1777])
def test_other_folders_are_taken(tmp_path: Path, mode: int) -> None:
    home = tmp_path / "home"
    create_key(home / "key")
    home.chmod(mode)
    assert len(load_key(home / "key")) == 32
