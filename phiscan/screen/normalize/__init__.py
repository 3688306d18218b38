"""A document as it was meant: escapes resolved, spoken numbers as digits, offsets mapped back."""
