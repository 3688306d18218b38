"""Scheduled scans: cron expressions, time windows of the week, and missed starts."""

from phiscan.schedule.plan import Schedule, State, next_start, read_schedules
from phiscan.schedule.windows import Windows, read_windows

__all__ = ["Schedule", "State", "Windows", "next_start", "read_schedules", "read_windows"]
