"""The forward pass of weft's own int8 models in C, for processors with AVX2 or AVX-512; onnxruntime does the rest."""
