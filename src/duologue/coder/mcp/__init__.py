"""MCP servers that the coder uses: started, listed and called for one session.

`entries`, `hub`, `library`, `results` and `tools` load nothing heavy. The others import the MCP library, which takes
most of a second, or what it stands on; they are loaded when a session has servers.
"""
