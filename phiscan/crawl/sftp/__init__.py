"""SFTP servers."""
