"""The node authoriser: what a node's agent may do, by the pods that are bound to its node."""
