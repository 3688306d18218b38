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


def decode(emission: Floats, transition: Floats, starts: Ints, lengths: Ints) -> Ints:
    """Return the label of every token on the best path through its chain.

    ``emission``: (n, L) scores; ``transition``: (L, L), from row to column; ``starts`` and ``lengths``: (u,),
    the chains, which cover the n tokens in order. Returns (n,); of equal paths the lowest labels win.

    >>> decode(np.array([[1, 0], [0, 1]], np.float32), np.array([[0, -9], [0, 0]], np.float32),
    ...        np.array([0]), np.array([2])).tolist()
    [0, 0]
    """
    labels = np.zeros(len(emission), dtype=np.int64)
    for rows, mask in _batches(starts, lengths):
        scores = emission[rows]
        n_steps = rows.shape[1]
        back = np.zeros((*rows.shape, emission.shape[1]), dtype=np.int8)
        best = scores[:, 0]
        last = mask.sum(axis=1) - 1
        final = best.copy()
        for step in range(1, n_steps):
            paths = best[:, :, None] + transition[None]
            back[:, step] = paths.argmax(axis=1)
            best = paths.max(axis=1) + scores[:, step]
            ended = last == step
            final[ended] = best[ended]
        chosen = final.argmax(axis=1)
        path = np.zeros(rows.shape, dtype=np.int64)
        every = np.arange(len(rows))
        for step in range(n_steps - 1, -1, -1):
            path[:, step] = chosen
            inside = (step <= last) & (step > 0)
            chosen = np.where(inside, back[every, step, chosen], chosen)
        labels[rows[mask]] = path[mask]
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
    """Yield the token numbers of chains of like length, (b, longest), and which of them are no padding."""
    order = np.argsort(lengths, kind="stable")
    position = 0
    while position < len(order):
        shortest = int(lengths[order[position]])
        limit = shortest + max(2, shortest // 4)
        end = int(np.searchsorted(lengths[order], limit, side="right"))
        end = max(position + 1, min(end, position + max(1, BATCH_CELLS // limit)))
        chosen = np.sort(order[position:end])
        longest = int(lengths[chosen].max())
        offsets = np.arange(longest)
        mask = offsets[None] < lengths[chosen][:, None]
        rows = starts[chosen][:, None] + np.where(mask, offsets[None], 0)
        yield rows, mask
        position = end
