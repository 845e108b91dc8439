"""The `proxy` subresources of pods, services and nodes: HTTP through the API server to what they serve.

`destination` finds out where a name leads, `forwarding` passes the request on and its answer back, `rewriting` keeps what the
answer links to on this side of the proxy. Who may do so is a right like any other: the method's verb on `pods/proxy`.
"""
