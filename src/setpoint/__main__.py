"""`python -m setpoint`."""

from setpoint.cli.main import main

main()
