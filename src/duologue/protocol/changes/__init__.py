"""The table of differences between the versions, and the edge that goes by it."""
