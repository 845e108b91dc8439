"""The command: a cluster, the steps, the end."""

from __future__ import annotations

import asyncio

import typer

from setpoint.app.remote import connect
from setpoint.cli.demo.cluster import demo_cluster
from setpoint.cli.demo.narrator import Narrator
from setpoint.cli.demo.script import Demo


def demo() -> None:
    """Show the loop at work: declare, heal, scale, roll, lose a node, recover (about half a minute)."""
    asyncio.run(_demo())
    typer.echo()
    typer.echo("That is all. Your turn: setpoint up --detach, then kubectl.")


async def _demo() -> None:
    narrator = Narrator()
    narrator.step("Start a cluster of three nodes, every part a process of its own")
    narrator.command("setpoint up --split --nodes 3")
    async with demo_cluster() as cluster:
        narrator.good(cluster.ready)
        client, transport = connect(cluster.data.admin_kubeconfig, "setpoint-demo")
        demo = Demo(cluster, client, narrator)
        try:
            await demo.run()
        finally:
            demo.end()
            await transport.close()
        narrator.step("Stop the cluster")
    narrator.good("every part has ended")
