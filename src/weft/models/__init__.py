"""Models: what is known about other people's, and the ones that come with weft."""
