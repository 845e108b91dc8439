"""Volumes: what a pod's containers find at their mount paths.

ConfigMap, Secret, projected and downward volumes are written atomically: the files lie in a directory with a unique name,
`..data` is a symbolic link to it, each visible file a link through `..data`; an update replaces that one link.
"""
