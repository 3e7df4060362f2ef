"""A choice by shared random numbers, keyed by what a candidate is, never by its place in a list."""
