"""Characters and files: sentence pairs, links and raw text. No model is known here."""
