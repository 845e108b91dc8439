"""One small file per resource, its Strategy, and one literal table of all resources."""
