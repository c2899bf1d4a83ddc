"""Models: where they come from, what they are, and how they are loaded, saved, averaged and made small."""
