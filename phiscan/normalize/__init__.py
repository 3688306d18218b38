"""A normalized document: escapes resolved, spoken numbers as digits, offsets mapped back."""
