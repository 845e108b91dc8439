"""Devices for pods (dynamic resource allocation, KEP-4381): which devices of a node a pod's claims get."""
