"""A running network: a plan applied in a kernel, captured, used and taken down again."""
