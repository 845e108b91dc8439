"""The only door to the state: HTTP, the filter chain, one handler file per verb, watches, discovery."""
