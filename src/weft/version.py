"""The version of weft; it is part of every score's signature."""

__version__ = "0.2.0"
