"""Measurements side by side with the official SDKs; see README.md here."""
