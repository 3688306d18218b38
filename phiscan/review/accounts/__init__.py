"""Accounts, sessions, sign-in and saved credentials of the users of the desk."""
