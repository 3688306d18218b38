import os
import subprocess
import sys

import pytest

from phiscan.threads import one_thread, use_one_thread


def test_what_the_environment_says_otherwise_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    use_one_thread()
    assert (os.environ["OPENBLAS_NUM_THREADS"], os.environ["OMP_NUM_THREADS"]) == ("3", "1")


def test_a_process_that_is_started_meanwhile_has_one_and_afterwards_all_is_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    ask = "import os; print(os.environ['OPENBLAS_NUM_THREADS'], os.environ['MKL_NUM_THREADS'])"
    with one_thread():
        said = subprocess.run([sys.executable, "-c", ask], check=True, capture_output=True, text=True).stdout
    assert said.split() == ["1", "1"]
    assert os.environ["OPENBLAS_NUM_THREADS"] == "3"
    assert "MKL_NUM_THREADS" not in os.environ
