"""Who may come in, against a whole server: an issuer of OpenID Connect tokens, a webhook that judges tokens, no strangers."""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from aiohttp import web
from tests.apiserver.authentication.issuer import LocalIssuer

from setpoint.testing.real import Cluster

CONFIGURATION = """
apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
anonymous: {{enabled: true, conditions: [{{path: /readyz}}]}}
jwt:
- issuer: {{url: "{url}", audiences: [setpoint], certificateAuthority: {ca!r}}}
  claimMappings:
    username: {{expression: "'oidc:' + claims.sub"}}
    groups: {{claim: roles, prefix: "oidc:"}}
"""
WEBHOOK = """
apiVersion: v1
kind: Config
clusters: [{{name: judge, cluster: {{server: "http://127.0.0.1:{port}/judge"}}}}]
contexts: [{{name: judge, context: {{cluster: judge, user: judge}}}}]
current-context: judge
users: [{{name: judge, user: {{}}}}]
"""


async def judge(request: web.Request) -> web.Response:
    good = (await request.json())["spec"]["token"] == "friend"
    status = {"authenticated": True, "user": {"username": "hook:friend"}} if good else {"authenticated": False}
    return web.json_response({"status": status})


async def ask(cluster: Cluster, path: str, *headers: str) -> str:
    """What curl says of a GET: the answer and its code."""
    url = (cluster.data_dir / "run" / "address").read_text().strip()
    command = ["curl", "-s", "-w", "%{http_code}", "--cacert", str(cluster.data_dir / "pki" / "ca.crt"), url + path]
    for header in headers:
        command += ["-H", header]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=False)
    return done.stdout


async def test_tokens_of_others(make_cluster: Callable[..., Cluster], tmp_path: Path) -> None:
    issuer = LocalIssuer(tmp_path)
    await issuer.start()
    app = web.Application()
    app.router.add_post("/judge", judge)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        configuration, webhook = tmp_path / "authentication.yaml", tmp_path / "webhook.yaml"
        configuration.write_text(
            CONFIGURATION.format(url=issuer.url, ca=issuer.ca).replace("'-----", '"-----').replace("\\n'", '\\n"')
        )
        webhook.write_text(WEBHOOK.format(port=runner.addresses[0][1]))
        flags = ("--authentication-config", str(configuration), "--authentication-token-webhook-config-file", str(webhook))
        cluster = await asyncio.to_thread(make_cluster, "--nodes", "0", *flags)
        token = issuer.token(sub="jane", aud="setpoint", roles=["dev"], exp=time.time() + 600)
        assert 'User \\"oidc:jane\\" cannot list' in await ask(cluster, "/api/v1/pods", f"Authorization: Bearer {token}")
        assert 'User \\"hook:friend\\" cannot list' in await ask(cluster, "/api/v1/pods", "Authorization: Bearer friend")
        expired = issuer.token(sub="jane", aud="setpoint", exp=time.time() - 10)
        for wrong in (expired, token[:-4] + "AAAA", "foe"):
            answer = await ask(cluster, "/api/v1/pods", f"Authorization: Bearer {wrong}")
            assert answer.endswith("401")
            assert wrong not in answer
        assert (await ask(cluster, "/readyz")).endswith("200")
        assert (await ask(cluster, "/healthz")).endswith("401")
        assert (await ask(cluster, "/readyz", "X-Remote-User: root", "X-Remote-Group: system:masters")).endswith("200")
        written = [file.read_text() for file in cluster.data_dir.rglob("*.log")]
        assert not [text for text in written if token in text or "friend" in text]
    finally:
        await runner.cleanup()
        await issuer.stop()
