"""What the checker says to a model, in plain words. An agent may do something else; then nothing was observed."""

HELLO = "Say hello. Do not use any tool."
#: Characters of one to four bytes, and one that is put together of two.
WORLD = "Say hello to this: é 你好 🙂 e\u0301. Do not use any tool."
READ = "Read the file notes.txt and tell me what it says."
RUN = "Run the command `echo duologue-check`."
WRITE = "Create the file made.txt with the content hello."
#: A command that leaves a trace and takes a while when it is allowed.
TOUCH = "Run the command `touch touched.txt`."
SLEEP = "Run the command `sleep 30`."

#: What the file notes.txt of the working folder says.
NOTES = "The word of the day is quagmire.\n"
SECRET = "quagmire"
