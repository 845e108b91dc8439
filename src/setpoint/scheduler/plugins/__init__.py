"""One file per plugin, named as in Kubernetes. `registry.py` lists them; nothing registers itself."""
