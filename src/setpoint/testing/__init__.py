"""What tests of Setpoint and of its users share. Nothing imports it."""
