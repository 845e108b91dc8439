"""Encryption at rest, as Kubernetes' EncryptionConfiguration has it: what lies on disk or in etcd is sealed, reads are plain.

`transformers` seal single values, `configuration` reads which resources are sealed by what, `values` applies it to the store's
keys and takes a changed configuration while it runs, `journal` puts it below the local store; etcd's backend asks `values`
where its bytes come and go. Everything above the store protocol, the watch cache included, sees plain values only, so an
object is opened once, when it is read from disk or comes by etcd's watch, whoever asks for it afterwards.
"""
