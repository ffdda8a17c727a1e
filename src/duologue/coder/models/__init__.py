"""Models that can drive the coder: `base` is the interface, `offline` ships inside, `remote` speaks to providers."""
