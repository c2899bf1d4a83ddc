"""Words to hidden states: subwords, windows, batches, and the encoders of both halves."""
