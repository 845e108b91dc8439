"""The Kubernetes API as data: machinery that knows no kind, and typed views of the kinds."""
