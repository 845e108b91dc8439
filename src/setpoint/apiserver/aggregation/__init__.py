"""API aggregation: groups that other servers serve behind this one, as APIServices say.

`following` reads the APIServices; `proxy` passes requests on to their servers under the front proxy's certificate; `availability`
finds out which of those answer, and writes that down; `documents` fetches what they serve, for discovery and OpenAPI;
`automanaged` keeps the APIServices of custom kinds, which are this server's own.

Source: kube-aggregator.
"""
