"""SPDY/3.1 as far as Kubernetes' clients use it: streams with headers, data both ways, ends, resets and pings.

There is no flow control, as in the library of Kubernetes' own: a stream whose reader is slow holds the connection, and TCP the
client. `frames` is the form on the wire, `connection` the streams. Source: the SPDY protocol, draft 3.1, and moby/spdystream.
"""

from setpoint.node.server.spdy.connection import Connection, Stream
from setpoint.node.server.spdy.frames import ProtocolError

__all__ = ["Connection", "ProtocolError", "Stream"]
