"""The paper as experiments."""
