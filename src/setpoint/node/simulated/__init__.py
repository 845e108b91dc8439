"""Simulated nodes: thousands in one process, on any clock, without a single process of their own.

They register, renew their leases, and move the pods bound to them through stages with delays — all by writes that a kubelet would
make, so that controllers and scheduler cannot tell the difference. They carry the tests on virtual time and the tests of scale.
Promises: what a pod does next depends on its status and on how long it has been in its stage here; a node that is frozen writes
nothing; one that was killed restarts its containers when it returns.
"""

from setpoint.node.simulated.fleet import Beats, Declared, SimulatedNodes
from setpoint.node.simulated.node_objects import NodeSpec
from setpoint.node.simulated.stages import Stages

__all__ = ["Beats", "Declared", "NodeSpec", "SimulatedNodes", "Stages"]
