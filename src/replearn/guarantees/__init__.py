"""What is promised, by which theorem, under which assumptions; and what a promise needs."""
