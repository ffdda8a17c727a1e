"""The sessions of the coding agent on the disk, so that a later process can go on with them.

`Worker` owns the database and a thread for it; a `SessionLog` writes down one session as it happens; `settings` says
where and how much. Nothing here is waited for by a turn.
"""
