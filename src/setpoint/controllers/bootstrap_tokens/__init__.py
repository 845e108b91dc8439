"""Bootstrap tokens: taken away when their time is over (`cleaning`), vouching for what joining machines must trust (`signing`).

Source: Kubernetes `pkg/controller/bootstrap`.
"""
