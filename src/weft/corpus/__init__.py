"""Whole corpora, file to file: records and chunks of them, worker processes, shards that survive a kill, and Ray."""
