"""Retention: policy, legal holds, the deletion plan and the purge with its certificate."""
