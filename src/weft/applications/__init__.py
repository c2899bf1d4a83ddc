"""What alignments are for: labels carried over, lexicons, phrase tables, and corpora without noise."""
