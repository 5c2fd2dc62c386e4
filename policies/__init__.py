"""The pure core: values in, values out. It knows no Flask, no database, no clock and no randomness."""

__version__ = "0.1.0"
