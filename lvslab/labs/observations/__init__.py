"""The observations that questions and predictions are compared with, by subject."""
