"""The experiments of the five papers that phiscan rests on, repeated: ``phiscan benchmark``."""
