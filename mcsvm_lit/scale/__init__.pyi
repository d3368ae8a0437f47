# Written by tools/stubs.py, for editors and type checkers.
from mcsvm_lit.scale.export import to_onnx as to_onnx
from mcsvm_lit.scale.streamed import StreamedCrammerSingerSVC as StreamedCrammerSingerSVC
from mcsvm_lit.scale.streamed import (
    StreamedKernelLogisticRegression as StreamedKernelLogisticRegression,
)

__all__ = [
    "to_onnx",
    "StreamedCrammerSingerSVC",
    "StreamedKernelLogisticRegression",
]
