"""From the API server to a node: logs, exec, attach and ports, over the node agent's kubelet-shaped HTTPS port (decision 11).

The API server shows its own client certificate and trusts the cluster's CA only. Streams are relayed as they come; nothing is
buffered beyond one frame.
"""
