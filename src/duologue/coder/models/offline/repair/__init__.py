"""Repair a failing test by a proven change of one token: run, localise, mutate, prove, decide."""
