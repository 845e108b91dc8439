"""`setpoint demo`: the loop at work on this machine, step by step, on real processes."""
