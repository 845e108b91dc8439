"""What runs a container: processes of this host, or a simulation of them."""
