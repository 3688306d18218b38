"""Keeping the review list: the rows of ``work_item``, made from the other tables."""
