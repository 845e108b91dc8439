"""Services' traffic and DNS (to come)."""
