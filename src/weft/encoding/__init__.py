"""Words to hidden states: subwords, windows, batches, and the encoders of both halves."""

import os

# onnxruntime from 1.29 on reports to its makers unless this is set before it is imported. Sentences, and the fact that
# somebody aligns them, stay where they are.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
