"""Build hook: makes the schema packs that the wheel holds (design, decision 1)."""
