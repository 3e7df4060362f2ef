"""What is promised, by which theorem, under which assumptions."""
