"""`metrics.k8s.io`: what nodes and pods use now, from the nodes' own figures. What a metrics server adds to a cluster.

Nodes are asked only while somebody asks for metrics: a cluster whose metrics nobody reads pays nothing for them. Where another
server is registered as `v1beta1.metrics.k8s.io`, that one answers.
"""
