"""Make the name tagger that is shipped: documents with known names, training, its card and its gate.

Never needed to scan: the weights lie in ``phiscan/screen/data``. Needs the extra ``train``.
"""
