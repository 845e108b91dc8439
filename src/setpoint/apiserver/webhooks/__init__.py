"""How the server calls webhooks: conversion, admission, and what else configurations may name.

One client for all of them, with connections that are kept; certificates are checked against the configuration's bundle, services
are looked up in the store, redirects are not followed, and answers have a limit in size and time.
"""
