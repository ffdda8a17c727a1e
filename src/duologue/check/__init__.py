"""Tells which requirements of the protocol a program keeps, by talking to it and by looking on."""
