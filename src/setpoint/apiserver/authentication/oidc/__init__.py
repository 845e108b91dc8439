"""Tokens of issuers elsewhere: OpenID Connect.

`keys` finds an issuer's keys, `claims` and `expressions` make users of claims, `authenticator` puts them together. Source:
Kubernetes `plugin/pkg/authenticator/token/oidc`.
"""
