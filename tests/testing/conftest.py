"""The fixtures that authors use."""

pytest_plugins = ["duologue.testing.fixtures"]
