"""What n samples can promise, and how many samples a promise needs."""
