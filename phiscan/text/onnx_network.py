"""The bytes of an ONNX graph to a network that onnxruntime runs in one thread."""

from __future__ import annotations

import os
from typing import Any

# Newer versions than we install send telemetry unless this is said before they are loaded.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as errors

_UNREADABLE = (
    errors.Fail,
    errors.InvalidArgument,
    errors.InvalidGraph,
    errors.InvalidProtobuf,
    errors.NoModel,
    errors.NotImplemented,
    errors.RuntimeException,
)


def network_of(graph: bytes) -> Any:
    """Return the network of a graph; memory is given back after each run.

    Raises:
        ValueError: these bytes are no graph that onnxruntime reads.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    try:
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    except _UNREADABLE as error:
        message = f"expected an ONNX graph: {type(error).__name__}"
        raise ValueError(message) from None
