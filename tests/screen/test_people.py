import pytest

from tests.screen.whole import screened


@pytest.mark.parametrize(
    ("text", "n_people"),
    [
        ("Patient: Jean Roy\nMr. Roy is well. Jean agrees.", 1),
        ("Patient: Jean Roy\nPatient: Anna Kowalczyk", 2),
        ("PATIENT: ROY, JEAN\nPatient: Jean Roy", 1),
        ("seen by Dr. Jane Wong", 0),
        ("First name\tLast name\nAnna\tKowalczyk\nZorb\tQuill\n", 2),
        ("DOB: 1962-03-14\nDOB: 1971-05-02\nDOB: 1962-03-14", 2),
        ("nothing at all", 0),
    ],
)
def test_counts_distinct_people(text: str, n_people: int) -> None:
    assert screened(text).n_people == n_people
