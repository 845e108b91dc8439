"""Custom resources: what CustomResourceDefinitions make the server serve.

`following` watches the definitions and serves their kinds; `kinds` turns a definition into rows that the pipeline serves;
`codec` reads and writes their objects; `strategy` holds their rules; `naming` and `cleanup` keep the definitions' status.
Source: Kubernetes' apiextensions-apiserver.
"""
