"""Alignments made visible: a page, the terminal, files of one pair, and a small web app."""
