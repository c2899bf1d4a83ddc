"""Gold made by people: annotation projects on disk, what each annotator did, and the gold that comes of it."""
