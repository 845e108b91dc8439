"""One module per backend; each passes setpoint.testing.storage's conformance suite."""
