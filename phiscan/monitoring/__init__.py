"""Monitoring: metrics, logs, SIEM events and notifications; only SIEM events contain paths."""
