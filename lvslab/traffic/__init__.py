"""What lives in the nodes and talks: test calls and their outcomes, the standard drive of a topology."""
