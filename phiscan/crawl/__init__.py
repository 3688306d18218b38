"""Share -> SourceFile: walk folders in a stable order and say of each entry whether it is to be read."""

from phiscan.crawl.changes import is_same_file
from phiscan.crawl.ignore import IgnoreRules, load_ignore
from phiscan.crawl.local import Crawled, check_roots, crawl

__all__ = ["Crawled", "IgnoreRules", "check_roots", "crawl", "is_same_file", "load_ignore"]
