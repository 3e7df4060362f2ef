"""What a certificate binds a promise to, and what the data of a run can refute."""
