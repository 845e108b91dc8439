"""Imports of libraries that do more when imported than a server of ours needs: for processes that are wholly ours."""

from __future__ import annotations

import os


def aiohttp_without_system_files() -> None:
    """Import aiohttp without its reading of the system's certificate authorities (70 ms) and MIME types (8 ms).

    Its two default TLS contexts then trust nobody, so that what forgot to bring a context of its own fails at once. Ours do:
    they trust the cluster's authority, or what a kubeconfig or a webhook names.
    """
    import mimetypes

    mimetypes.init(files=())
    names = ("SSL_CERT_FILE", "SSL_CERT_DIR")
    held = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, os.devnull))
    try:
        import aiohttp.connector  # noqa: F401  for what its import does
    finally:
        for name, value in held.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
