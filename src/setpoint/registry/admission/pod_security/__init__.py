"""PodSecurity: what pods may ask of their node, by the levels that a namespace's labels name.

`levels` reads the labels, `checks` has the rules of the Pod Security Standards by version, `step` is the admission plugin.
Source: `k8s.io/pod-security-admission`.
"""
