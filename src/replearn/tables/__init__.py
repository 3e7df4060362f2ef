"""Frames, arrays and files in one shape."""
