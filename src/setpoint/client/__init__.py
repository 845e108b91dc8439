"""Transports, reflector, informer, work queue, controller runtime: all that a component needs."""
