"""Level-triggered loops: observe, diff, act. One file or folder each."""
