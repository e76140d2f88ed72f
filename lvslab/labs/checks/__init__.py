"""The checks that lab.yaml may name, by subject."""
