"""Files to text: every format, safely, with the way through every container."""

from phiscan.extract.readers import available_readers
from phiscan.extract.reading import VERSION, extract, extract_bytes, identify

__all__ = ["VERSION", "available_readers", "extract", "extract_bytes", "identify"]
