"""Outcomes of benchmarks: for the terminal, for programs, and drawn."""
