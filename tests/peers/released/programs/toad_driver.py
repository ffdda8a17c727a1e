"""Works in toad as a user would, in whose environment it runs, without a terminal: toad_driver.py FILE, JSON with

    agent, root    the program that toad starts, and the folder in which it works
    picture        where the screen after the last step goes
    steps          pairs, worked through in order:
        say TEXT    send a message
        see TEXT    wait until the screen shows it, aside from what was sent
        asked       wait for a question
        press KEY   press a key
        file PATH   wait until a command has made the file

It prints one line: the screen after the last step.
"""

import asyncio
import html
import json
import re
import sys
import time
from pathlib import Path

from toad.app import ToadApp
from toad.widgets.prompt import PromptTextArea
from toad.widgets.question import Question

#: How long anything may take on a busy machine, in seconds.
PATIENCE = 80


def agent_data(command):
    return {
        "identity": "duologue.custom",
        "name": "Duologue",
        "short_name": "agent",
        "url": "",
        "protocol": "acp",
        "type": "coding",
        "author_name": "",
        "author_url": "",
        "publisher_name": "",
        "publisher_url": "",
        "description": "",
        "tags": [],
        "help": "",
        "run_command": {"*": command},
        "actions": {},
    }


def save(path, text):
    Path(path).write_text(text, encoding="utf-8")


class Screen:
    def __init__(self, app, pilot):
        self.app = app
        self.pilot = pilot
        self.said = []

    def text(self):
        texts = re.findall(r"<text[^>]*>(.*?)</text>", self.app.export_screenshot())
        text = " ".join(html.unescape(text).replace("\xa0", " ") for text in texts)
        text = re.sub(r"\s+", " ", text)
        for said in self.said:
            text = text.replace(said, "")
        return text

    async def until(self, condition, what):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"waited in vain: {what}; the screen shows: {self.text()}")
            await self.pilot.pause(0.1)

    async def say(self, text):
        await self.until(lambda: self.app.screen.query(PromptTextArea), "the prompt")
        prompt = self.app.screen.query(PromptTextArea).first()
        await self.until(lambda: prompt.agent_ready, "the agent is ready")
        prompt.focus()
        prompt.insert(text)
        self.said.append(text)
        await self.pilot.press("enter")

    async def see(self, text):
        await self.until(lambda: text in self.text(), text)

    async def asked(self, _):
        def questions():
            return [question for question in self.app.screen.query(Question) if question.display and question.options]

        await self.until(questions, "a question")
        questions()[0].focus()
        await self.pilot.pause()

    async def press(self, key):
        await self.pilot.press(key)

    async def file(self, path):
        await self.until(lambda: Path(path).exists() and Path(path).stat().st_size, f"{path} is made")


async def drive(told):
    app = ToadApp(agent_data=agent_data(told["agent"]), project_dir=told["root"])
    screen = None
    try:
        async with app.run_test(size=(140, 50)) as pilot:
            at_work = Screen(app, pilot)
            try:
                for step, value in told["steps"]:
                    await getattr(at_work, step)(value)
                screen = at_work.text()
            finally:
                save(told["picture"], app.export_screenshot())
    except Exception:
        # A search for files that it began by itself fails when it ends.
        if screen is None:
            raise
    return screen


print(json.dumps(asyncio.run(drive(json.loads(Path(sys.argv[1]).read_text())))))
