"""The review list: its rows, order, filters, counts, duplicate groups and samples."""
