"""The only state: the store protocol, its backends, and the watch cache that decorates them."""
