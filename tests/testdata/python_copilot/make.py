#!/usr/bin/env python3
"""Makes the databases and `expected.json` of this folder with gns3-server's own AI copilot. See README.md.

    make.py [--work DIR] [--slot N]

Needs python 3.11 or later, pip, vpcs, and some minutes. Everything is below DIR; the server it starts is stopped again.
"""
import argparse
import http.client
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LAB = os.path.join(HERE, "..", "..", "lab")
sys.path[:0] = [HERE, LAB]
import lab  # noqa: E402
from model import Model, calls, refuse, text  # noqa: E402

VERSION = "3.1.0a7"
LONG_TURNS = 160

ODD = "“Ça va?” 你好，世界 🛰️👩‍🔧 ‮עברית‬ e\u0301 tab\t CR\r\n \u2028 \\ \" ' </script>"


def script(project):
    pcs = [{"device_name": "PC1", "commands": ["ip 10.0.0.1/24", "show ip"]},
           {"device_name": "PC2", "commands": ["ip 10.0.0.2/24"]}]
    vpcs = {"tool_input": json.dumps({"project_id": project, "device_configs": pcs})}
    wait = lambda seconds: {"tool_input": json.dumps({"seconds": seconds})}
    return {
        "What is OSPF?": [text("OSPF is a link-state routing protocol.\n\n1. It floods LSAs.\n2. It runs Dijkstra.")],
        "Set up both PCs.": [
            calls(("call_1", "execute_vpcs_commands", vpcs), ("call_2", "wait_seconds", wait(1)), say="I set them up."),
            # The ids are those of the first turn's calls again, as some models do it.
            calls(("call_1", "wait_seconds", wait(9999)), ("call_2", "wait_seconds", {"tool_input": "no json"})),
            calls(("call_3", "wait_seconds", {"seconds": 1})),
            text("Both are set up; waiting that long was refused.")],
        "Again, please.": [calls(("call_1", "wait_seconds", wait(1))), text("Done again.")],
        ODD: [calls(("呼叫-1", "wait_seconds", {"tool_input": json.dumps({"seconds": "一秒 ⏱️"}, ensure_ascii=False)})),
              text("Echo: " + ODD)],
        "Wait for a while.": [calls(("w1", "wait_seconds", wait(1)), ("w2", "wait_seconds", wait(1)), delay=2)],
        "Use a tool that you do not have.": [calls(("x1", "no_such_tool", {"a": 1}))],
        "Break your arguments.": [calls(("b1", "wait_seconds", '{"tool_input": '), ("b2", "wait_seconds", wait(1)))],
        "Fail.": [refuse(400, "The model refuses this.")],
        "Wait for an hour.": [calls(("k1", "wait_seconds", wait(1)), ("k2", "wait_seconds", wait(600)))],
        "Say nothing.": [text("")],
    }


class Copilot:
    """The chat routes of the running server, for one user."""

    def __init__(self, state, user, model_url):
        self.api = lab.Api(state["base_url"])
        self.api.token = state["tokens"][user]
        admin = lab.Api(state["base_url"])
        admin.token = state["tokens"]["admin"]
        self.user = self.api("GET", "/v3/access/users/me")["user_id"]
        self.chat = f"/v3/copilot/projects/{state['project']['project_id']}/chat"
        admin("POST", f"/v3/access/users/{self.user}/llm-model-configs", {
            "name": "scripted", "model_type": "text", "is_default": True, "provider": "openai", "base_url": model_url,
            "model": "scripted-1", "api_key": "no-key", "context_limit": 128,
            "copilot_mode": "lab_automation_assistant"})

    def ask(self, session, message):
        """The whole answer; returns the events' types."""
        request = lab.urllib.request.Request(
            self.api.base + self.chat + "/stream", method="POST",
            data=json.dumps({"message": message, "session_id": session}).encode(),
            headers={"Content-Type": "application/json", "Authorization": f"Bearer {self.api.token}"})
        with lab.urllib.request.urlopen(request, timeout=120) as answer:
            lines = answer.read().decode().split("\n")
        kinds = [json.loads(line[6:])["type"] for line in lines if line.startswith("data: ")]
        print(session, repr(message[:30]), len(kinds), set(kinds), file=sys.stderr)
        return kinds

    def later(self, session, message):
        def run():
            try:
                self.ask(session, message)
            except (OSError, http.client.HTTPException):
                pass  # The server was killed.
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        return thread

    def act(self, method, session, action="", body=None):
        return self.api(method, f"{self.chat}/sessions/{session}{action}", body)


def talk(alice, admin):
    """Everything but the turn that is cut off by a crash."""
    for message in ("What is OSPF?", "And BGP?", "Thanks!"):
        alice.ask("plain", message)
    for message in ("Set up both PCs.", "Again, please."):
        alice.ask("tools", message)
    alice.ask("odd-text", ODD)
    alice.ask("renamed", "What is OSPF?")
    alice.act("PATCH", "renamed", "", {"title": "Lab 4 “OSPF” 第四课 🧪"})
    alice.act("PUT", "renamed", "/pin")
    waiting = alice.later("stopped", "Wait for a while.")
    time.sleep(1)
    alice.act("POST", "stopped", "/abort")
    waiting.join()
    alice.ask("unknown-tool", "Use a tool that you do not have.")
    alice.ask("bad-arguments", "Break your arguments.")
    alice.ask("failed", "Fail.")
    alice.ask("failed", "Say nothing.")
    admin.ask("of-another-user", "What is OSPF?")
    alice.ask("deleted", "This is deleted.")
    alice.act("DELETE", "deleted")


def recorded(people, sessions=None):
    """What the copilot's own routes say."""
    listed = {p.user: p.api("GET", p.chat + "/sessions") for p in people}
    histories = {s["thread_id"]: p.act("GET", s["thread_id"], "/history?limit=1000")["messages"]
                 for p in people for s in listed[p.user]}
    return {"sessions": listed, "histories": histories}


def keep(source, name):
    """Copies a database, its -wal included, into this folder, compressed."""
    whole = source + ".whole"
    if os.path.exists(whole):
        os.remove(whole)
    with sqlite3.connect(source) as db:
        db.execute("VACUUM INTO ?", (whole,))
    with open(whole, "rb") as f:
        data = f.read()
    for word in (os.path.dirname(source), os.path.expanduser("~"), os.uname().nodename):
        if len(word) > 1 and word.encode() in data:
            raise SystemExit(f"{name} holds {word!r}, which does not belong there")
    import brotli  # installed below
    with open(os.path.join(HERE, name + ".db.br"), "wb") as f:
        f.write(brotli.compress(data, quality=11, lgwin=24))
    print(name, len(data), "bytes", file=sys.stderr)


def install(work):
    """The server with its AI features, where lab.py looks for it."""
    venv = os.path.join(work, "venvs", f"gns3-{VERSION}")
    python = os.path.join(venv, "bin", "python")
    if not os.path.exists(os.path.join(venv, "bin", "gns3server")):
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", f"gns3-server[ai-features]=={VERSION}"], check=True)
    extra = os.path.join(work, "brotli")
    if not os.path.exists(extra):
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--target", extra, "brotli"], check=True)
    sys.path.insert(0, extra)
    return python


def prompts(directory):
    """The copilot reads its prompts from a git repository in its configuration's folder."""
    folder = os.path.join(directory, "conf", "skills", "prompts")
    os.makedirs(folder)
    for name in ("title", "teaching_assistant", "lab_automation_assistant"):
        with open(os.path.join(folder, name + ".md"), "w") as f:
            f.write("TITLE" if name == "title" else "You help with a network lab. {{topology}}")
    subprocess.run(["git", "init", "-q", os.path.dirname(folder)], check=True)


def run_lab(command, directory, work, slot):
    args = ["--dir", directory]
    if command == "up":
        args += ["--venvs", os.path.join(work, "venvs"), "--version", VERSION, "--slot", str(slot)]
    subprocess.run([sys.executable, os.path.join(LAB, "lab.py"), command, *args], check=True, stdout=sys.stderr)
    path = os.path.join(directory, "lab.json")
    return json.load(open(path)) if os.path.exists(path) else None


def reopen(api, project):
    """The server's own compute is not there at once after a start."""
    for _ in range(60):
        try:
            return api("POST", f"/v3/projects/{project}/open")
        except SystemExit:
            time.sleep(1)
    raise SystemExit("the project did not open again")


def through_the_server(work, slot):
    directory = tempfile.mkdtemp(dir=work)
    prompts(directory)
    state = run_lab("up", directory, work, slot)
    project = state["project"]["project_id"]
    database = os.path.join(directory, "projects", project, "gns3-copilot", "copilot_checkpoints.db")
    other = os.path.join(directory, "projects", state["other_project"]["project_id"])
    try:
        with Model(script(project)) as model:
            alice, admin = Copilot(state, "alice", model.url), Copilot(state, "admin", model.url)
            talk(alice, admin)
            alice.later("cut", "Wait for an hour.")
            time.sleep(6)
            os.kill(state["server_pid"], signal.SIGKILL)
            state = run_lab("restart", directory, work, slot)
            for closed in (project, os.path.basename(other)):
                reopen(admin.api, closed)
            expected = {"copilot": recorded((alice, admin))}
            admin.chat = admin.chat.replace(project, os.path.basename(other))
            for i in range(LONG_TURNS):
                admin.ask("long", f"Question number {i}")
            expected["long"] = recorded((admin,))
    finally:
        run_lab("down", directory, work, slot)
    keep(database, "copilot")
    keep(os.path.join(other, "gns3-copilot", "copilot_checkpoints.db"), "long")
    shutil.rmtree(directory)
    return expected


def through_the_saver(python, work):
    directory = tempfile.mkdtemp(dir=work)
    out = os.path.join(directory, "expected.json")
    subprocess.run([python, os.path.join(HERE, "saver_rows.py"), directory, out], check=True,
                   env={**os.environ, "HOME": directory, "XDG_CONFIG_HOME": directory})
    keep(os.path.join(directory, "gns3-copilot", "copilot_checkpoints.db"), "kinds")
    expected = json.load(open(out))
    shutil.rmtree(directory)
    return expected


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", default=os.path.join(lab.CACHE, "python-copilot"))
    parser.add_argument("--slot", type=int, default=8)
    options = parser.parse_args()
    work = os.path.abspath(options.work)
    os.makedirs(work, exist_ok=True)
    python = install(work)
    expected = {"kinds": through_the_saver(python, work), **through_the_server(work, options.slot)}
    with open(os.path.join(HERE, "expected.json"), "w") as f:
        json.dump(expected, f, ensure_ascii=False, indent=1, sort_keys=True)


main()
