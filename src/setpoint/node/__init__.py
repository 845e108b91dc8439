"""The loop of one node: what is bound to it runs, and its status is told."""
