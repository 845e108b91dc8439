"""Services: defaults, validation, and the allocation of cluster addresses and node ports."""
