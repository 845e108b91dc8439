"""Admission: what needs other objects to decide whether a write may be, or to complete it."""
