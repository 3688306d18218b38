"""The best labels of a linear chain and how sure they are: Viterbi and forward-backward, many chains at once.

Source: Lafferty, McCallum & Pereira (2001), "Conditional random fields"; Rabiner (1989), "A tutorial on
hidden Markov models", for the scaled forward and backward variables.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
BATCH_CELLS = 200_000  # padded tokens in one batch: bounds the memory
FEW_CHAINS = 64  # so many go together whatever their lengths: a step of numpy costs more than padding them


def decode(emission: Floats, transition: Floats, starts: Ints, lengths: Ints) -> Ints:
    """Return the label of every token on the best path through its chain.

    ``emission``: (n, L) scores; ``transition``: (L, L), from row to column; ``starts`` and ``lengths``: (u,),
    the chains, which cover the n tokens in order. Returns (n,); of equal paths the lowest labels win.

    >>> decode(np.array([[1, 0], [0, 1]], np.float32), np.array([[0, -9], [0, 0]], np.float32),
    ...        np.array([0]), np.array([2])).tolist()
    [0, 0]
    """
    labels = np.zeros(len(emission), dtype=np.int64)
    across = np.ascontiguousarray(transition)[:, :, None]
    for rows, mask in _batches(starts, lengths):
        n_steps = rows.shape[1]
        # One label after the other, all chains side by side: the order in which numpy compares fastest.
        scores = np.ascontiguousarray(emission[rows.T].transpose(0, 2, 1))  # (steps, L, b)
        best = np.empty_like(scores)
        best[0] = scores[0]
        for step in range(1, n_steps):
            np.maximum.reduce(best[step - 1][:, None, :] + across, axis=0, out=best[step])
            best[step] += scores[step]
        last = mask.sum(axis=1) - 1
        chosen = best[last, :, np.arange(len(rows))].argmax(axis=1)
        path = np.zeros((n_steps, len(rows)), dtype=np.int64)
        for step in range(n_steps - 1, 0, -1):
            path[step] = chosen
            # The predecessor is computed again for the one label of the path, not stored for all.
            before = (best[step - 1] + transition[:, chosen]).argmax(axis=0)
            chosen = np.where(step <= last, before, chosen)
        path[0] = chosen
        labels[rows[mask]] = path.T[mask]
    return labels


def marginals(emission: Floats, transition: Floats, starts: Ints, lengths: Ints) -> Floats:
    """Return the probability of every label at every token, (n, L); arguments as of ``decode``."""
    result = np.zeros_like(emission)
    step_weight = np.exp(transition - transition.max())
    for rows, mask in _batches(starts, lengths):
        scores = emission[rows]
        weight = np.exp(scores - scores.max(axis=2, keepdims=True))
        weight[~mask] = 1.0
        n_steps = rows.shape[1]
        forward = np.empty_like(weight)
        current = weight[:, 0]
        forward[:, 0] = current / current.sum(axis=1, keepdims=True)
        for step in range(1, n_steps):
            current = (forward[:, step - 1] @ step_weight) * weight[:, step]
            forward[:, step] = current / current.sum(axis=1, keepdims=True)
        backward = np.ones_like(weight)
        for step in range(n_steps - 2, -1, -1):
            current = (weight[:, step + 1] * backward[:, step + 1]) @ step_weight.T
            current /= current.sum(axis=1, keepdims=True)
            backward[:, step] = np.where(mask[:, step + 1, None], current, 1.0)
        both = forward * backward
        both /= both.sum(axis=2, keepdims=True)
        result[rows[mask]] = both[mask]
    return result


def _batches(starts: Ints, lengths: Ints) -> Iterator[tuple[Ints, npt.NDArray[np.bool_]]]:
    """Yield the token numbers of chains of like length, (b, longest), and which of them are no padding.

    Few chains go together whatever their lengths.
    """
    order = np.argsort(lengths, kind="stable")
    position = 0
    while position < len(order):
        shortest = int(lengths[order[position]])
        limit = shortest + max(2, shortest // 4)
        end = int(np.searchsorted(lengths[order], limit, side="right"))
        few = min(position + FEW_CHAINS, len(order))
        if (few - position) * int(lengths[order[few - 1]]) < BATCH_CELLS:
            end = max(end, few)
            limit = int(lengths[order[end - 1]])
        end = max(position + 1, min(end, position + max(1, BATCH_CELLS // limit)))
        chosen = np.sort(order[position:end])
        longest = int(lengths[chosen].max())
        offsets = np.arange(longest)
        mask = offsets[None] < lengths[chosen][:, None]
        rows = starts[chosen][:, None] + np.where(mask, offsets[None], 0)
        yield rows, mask
        position = end
