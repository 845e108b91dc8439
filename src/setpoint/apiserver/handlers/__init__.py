"""One module per verb; each has `async handle(call) -> Response`."""
