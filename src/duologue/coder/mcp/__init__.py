"""MCP servers that the coder uses: started, listed and called for one session.

Only `links` and `server` import the MCP library, which takes most of a second; they are loaded when a session has
servers.
"""
