"""Hidden states to links: similarity, directional probabilities, matching, symmetrisation, words."""
