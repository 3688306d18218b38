"""Train the name tagger: examples, weights, folds, measures, gate and model card."""
