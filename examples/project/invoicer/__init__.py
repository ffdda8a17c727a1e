"""Invoices from a list of order lines."""
