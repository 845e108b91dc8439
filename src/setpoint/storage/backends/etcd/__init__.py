"""etcd as the store behind the watch cache: several API servers share one, and no machine's end loses anything.

`layout` names keys as Kubernetes does, `stand_in` is how a stored object learns its revision, `connection` speaks gRPC to one
member after another, `fence` and `writes` see to it that the outcome of every write is known, `watching` follows everything,
`compacting` forgets old history, `store` puts them together.
"""
