"""Opens a chat of JupyterLab in headless Chromium and works in it as a user would, in whose environment it runs:
jupyter_driver.py FILE, JSON with

    home, root     the server's home, and the folder that it serves
    agent          the program that the chat's persona starts
    chromium       the browser and its driver, as two paths
    picture        where the screenshot of the last step goes
    steps          pairs, worked through in order:
        say TEXT       send a message
        see TEXT       wait until the chat shows it, aside from what was sent
        asked LABEL    wait for a question with this answer
        choose LABEL   wait for it, and press the button of the answer
        file PATH      wait until a command has made the file
        stop           press the button that ends the turn
        idle           wait until no turn runs

It prints one line: the text of the chat without what was sent.
"""

import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

PERSONA = """\
import os

from jupyter_ai_acp_client.base_acp_persona import BaseAcpPersona
from jupyter_ai_persona_manager import PersonaDefaults


class DuologuePersona(BaseAcpPersona):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, executable=[os.environ["DUOLOGUE_AGENT"]], **kwargs)

    @property
    def defaults(self):
        return PersonaDefaults(name="Duologue", description="the agent", avatar_path="", system_prompt="unused")
"""

#: How long a page or a turn may take on a busy machine, in seconds.
PATIENCE = 80

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1200,900",
)

SEND = ".jp-chat-send-button"
STOP = ".jp-jai-stopButton:not([disabled])"
ANSWER = ".jp-jupyter-ai-acp-client-permission-btn"


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def start_server(told, token, port):
    root, home = Path(told["root"]), Path(told["home"])
    personas = root / ".jupyter" / "personas"
    personas.mkdir(parents=True, exist_ok=True)
    (personas / "duologue_persona.py").write_text(PERSONA, encoding="utf-8")
    (root / "talk.chat").touch()
    # A question about news would lie over the button that sends.
    settings = home / ".jupyter/lab/user-settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text('{"fetchNews": "false", "checkForUpdates": false}', encoding="utf-8")
    words = ["--allow-root", "--no-browser", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    variables = {"HOME": str(home), "DUOLOGUE_AGENT": told["agent"], "JUPYTER_TOKEN": token}
    with (home / "server.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *words, f"--ServerApp.root_dir={root}"],
            cwd=root,
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


def wait_for_port(server, port):
    def listens(_):
        assert server.poll() is None, "the server ended; see server.log in its home"
        with socket.socket() as sock:
            return sock.connect_ex(("127.0.0.1", port)) == 0

    WebDriverWait(None, PATIENCE).until(listens)


def start_browser(told, profile):
    browser, driver = told["chromium"]
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    return webdriver.Chrome(options=options, service=Service(driver))


class Chat:
    def __init__(self, browser):
        self.browser = browser
        self.said = []

    def wait(self, condition, what):
        WebDriverWait(self.browser, PATIENCE).until(lambda _: condition(), what)

    def find(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def text(self):
        script = "return [...document.querySelectorAll('.jp-chat-messages-container')].map(e => e.innerText).join('')"
        text = self.browser.execute_script(script)
        for said in self.said:
            text = text.replace(said, "")
        return text

    def say(self, text):
        field = ".jp-chat-input-textfield textarea"
        self.wait(lambda: self.find(field), "the chat opens")
        self.wait(lambda: "Duologue" in self.find(".jp-chat-input-container")[0].text, "the persona is there")
        self.find(field)[0].send_keys(text)
        self.said.append(text)
        self.wait(lambda: self.find(SEND) and self.find(SEND)[0].is_enabled(), "the message can be sent")
        self.find(SEND)[0].click()

    def see(self, text):
        self.wait(lambda: text in self.text(), f"the chat shows {text}")

    def answers(self, label):
        return [button for button in self.find(ANSWER) if button.text.strip() == label]

    def asked(self, label):
        self.wait(lambda: self.answers(label), f"there is a question with the answer {label}")

    def choose(self, label):
        self.asked(label)
        self.answers(label)[0].click()

    def file(self, path):
        self.wait(lambda: Path(path).exists() and Path(path).stat().st_size, f"{path} is made")

    def stop(self, _):
        self.wait(lambda: self.find(STOP), "there is a button to stop")
        self.find(STOP)[0].click()

    def idle(self, _):
        self.wait(lambda: not self.find(STOP), "the turn ends")


def drive(told):
    token, port = secrets.token_hex(16), free_port()
    server = start_server(told, token, port)
    try:
        wait_for_port(server, port)
        with tempfile.TemporaryDirectory() as profile:
            browser = start_browser(told, profile)
            try:
                browser.get(f"http://127.0.0.1:{port}/lab/tree/talk.chat?reset&token={token}")
                chat = Chat(browser)
                try:
                    for step, value in told["steps"]:
                        getattr(chat, step)(value)
                finally:
                    browser.save_screenshot(told["picture"])
                return chat.text()
            finally:
                browser.quit()
    finally:
        server.terminate()
        server.wait(PATIENCE)


print(json.dumps(drive(json.loads(Path(sys.argv[1]).read_text()))))
