"""One file per plugin; the framework holds the literal table of them."""
