"""A clock that the tests turn."""

from datetime import datetime, timedelta

from tests.review.results import NOW


class Clock:
    def __init__(self) -> None:
        self.time = NOW

    def __call__(self) -> datetime:
        return self.time

    def turn(self, **by: float) -> None:
        self.time += timedelta(**by)
