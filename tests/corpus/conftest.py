"""The corpus modules lie beside the tests, not in a package: put their folder on the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
