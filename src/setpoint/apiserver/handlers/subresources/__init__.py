"""Subresources that are no part of the parent's own object: each module has `async handle(call) -> Response`."""
