"""Fine-tune or train encoders for alignment: the paper's objectives, with links, without, or with some of both."""
