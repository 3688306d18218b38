"""Accounts, sessions, sign-in and saved credentials of the people who review."""
