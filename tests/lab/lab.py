#!/usr/bin/env python3
"""A real GNS3 server with real devices for tests, from registry packages only.

    lab.py up   [--version 3.1.0a7] [--dir DIR] [--vpcs 2] [--routers 0] [--template] [--slot 0]
    lab.py status [--dir DIR]
    lab.py restart [--dir DIR]
    lab.py down [--dir DIR] [--wipe]

`up` makes a venv with gns3-server when there is none, starts the server on
127.0.0.1 with its own config, data and sockets below DIR, and builds a project:
PC1..PCn (Debian's vpcs), SW1 (3.1 and later), and, with --routers, FRR routers
that run in QEMU; --template makes only a template for such routers.  It prints
one JSON object; the same object is kept in DIR/lab.json.  `down` stops what `up`
started and nothing else.

Needs: pip, vpcs; tshark to read captures.  For routers also what
get_router_packages.sh puts into the cache folder (and busybox-static for it).
"""
import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.path.join(HERE, "bin")
CACHE = os.environ.get("LAB_CACHE") or os.path.join(
    os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "gns3-lab")
ADMIN = ("admin", "lab-admin-password")
USERS = {"alice": "alice-lab-password", "bob": "bob-lab-password"}


# ------------------------------------------------------------------ api
class Api:
    def __init__(self, base):
        self.base = base
        self.token = None

    def __call__(self, method, path, body=None, token=None, ok=(200, 201, 204)):
        headers = {}
        data = None
        if isinstance(body, bytes):
            data = body
        elif body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        if token or self.token:
            headers["Authorization"] = f"Bearer {token or self.token}"
        began = time.monotonic()
        request = urllib.request.Request(self.base + path, data=data, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as r:
                raw, status = r.read(), r.status
        except urllib.error.HTTPError as e:
            raw, status = e.read(), e.code
        value = json.loads(raw) if raw else None
        if os.environ.get("LAB_TRACE"):
            print(f"{time.monotonic() - began:6.2f}s {method} {path} {status}", file=sys.stderr)
        if status not in ok:
            raise SystemExit(f"{method} {path}: {status} {raw[:400]!r}")
        return value

    def login(self, user, password):
        return self("POST", "/v3/access/users/authenticate",
                    {"username": user, "password": password})["access_token"]


# ------------------------------------------------------------------ processes
def session_members(sid):
    """Pids whose session is sid: the server is started as a session leader, and
    ubridge, vpcs and qemu stay in its session."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as f:
                    fields = f.read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[3]) == sid and fields[0] != "Z":
                found.append(int(name))
    return found


def is_ours(pid, conf):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return conf.encode() in f.read().split(b"\0")
    except OSError:
        return False


def stop(pid, conf):
    if not is_ours(pid, conf):
        return
    os.kill(pid, signal.SIGTERM)
    end = time.monotonic() + 15
    while time.monotonic() < end and is_ours(pid, conf):
        time.sleep(0.05)
    for sig in (signal.SIGTERM, signal.SIGKILL):
        left = session_members(pid)
        for p in left:
            try:
                os.kill(p, sig)
            except OSError:
                pass
        if left:
            time.sleep(0.3)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


# ------------------------------------------------------------------ steps
def make_venv(path, version):
    """uv (from PyPI) makes in seconds what pip makes in half a minute."""
    if os.path.exists(os.path.join(path, "bin", "gns3server")):
        return False
    uv = shutil.which("uv")
    if not uv:
        tools = os.path.join(os.path.dirname(path), "uv")
        uv = os.path.join(tools, "bin", "uv")
        if not os.path.exists(uv):
            subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check",
                            "--root-user-action", "ignore", "--target", tools, "uv"], check=True, stdout=sys.stderr)
    # The interpreter behind any pyenv or venv shim, at least 3.11 for 3.1.
    env = dict(os.environ, UV_CACHE_DIR=os.path.join(os.path.dirname(path), "uv-cache"))
    subprocess.run([uv, "venv", "-q", "--python", os.path.realpath(sys.executable), path], check=True, env=env)
    subprocess.run([uv, "pip", "install", "-q", "--compile-bytecode", "--python", os.path.join(path, "bin", "python"),
                    f"gns3-server=={version}"], check=True, stdout=sys.stderr, env=env)
    return True


def write_config(d, port, slot):
    for sub in ("conf", "images/QEMU", "projects", "appliances", "symbols", "configs",
                "secrets", "resources", "home", "run"):
        os.makedirs(os.path.join(d, sub), exist_ok=True)
    os.chmod(os.path.join(d, "run"), 0o700)
    console, udp, vnc = 5000 + slot * 100, 20000 + slot * 200, 6900 + slot * 20
    conf = os.path.join(d, "conf", "gns3_server.conf")
    with open(conf, "w") as f:
        f.write(f"""[Controller]
default_admin_username = {ADMIN[0]}
default_admin_password = {ADMIN[1]}

[Server]
host = 127.0.0.1
port = {port}
name = lab
report_errors = False
projects_path = {d}/projects
images_path = {d}/images
appliances_path = {d}/appliances
symbols_path = {d}/symbols
configs_path = {d}/configs
resources_path = {d}/resources
secrets_dir = {d}/secrets
ubridge_path = {BIN}/ubridge
console_start_port_range = {console}
console_end_port_range = {console + 99}
vnc_console_start_port_range = {vnc}
vnc_console_end_port_range = {vnc + 19}
udp_start_port_range = {udp}
udp_end_port_range = {udp + 199}
install_builtin_appliances = False
auto_discover_images = True
allow_raw_images = True
skills_auto_update = False
marker_listen_port = 0
enable_kernel_datapath = False

[VPCS]
vpcs_path = {BIN}/vpcs

[Qemu]
enable_hardware_acceleration = False

[WebWireshark]
enabled = False
""")
    return conf


def start_server(d, venv, conf):
    env = dict(os.environ, LAB_CACHE=CACHE, HOME=os.path.join(d, "home"), XDG_RUNTIME_DIR=os.path.join(d, "run"),
               PATH=BIN + os.pathsep + os.environ["PATH"], PYTHONUNBUFFERED="1")
    env.pop("GNS3_DATABASE_URI", None)
    with open(os.path.join(d, "server.log"), "ab") as log:
        # No --pid and no --daemon: with a pid file gns3server kills every process on
        # the machine that is called vpcs, ubridge or dynamips.
        p = subprocess.Popen([os.path.join(venv, "bin", "gns3server"), "--config", conf],
                             stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=d, env=env,
                             start_new_session=True)
    return p


def wait_ready(api, process, d):
    end = time.monotonic() + 90
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            return api("GET", "/v3/version")
        except OSError:
            time.sleep(0.05)
    with open(os.path.join(d, "server.log")) as f:
        raise SystemExit("the server did not come up:\n" + f.read()[-3000:])


def router(images, hostname):
    """The properties of a QEMU node, and of its template."""
    return {"qemu_path": shutil.which("qemu-system-x86_64", path=BIN + os.pathsep + os.environ["PATH"]),
            "ram": 192, "adapters": 4, "adapter_type": "virtio-net-pci",
            "kernel_image": images["kernel"], "initrd": images["initrd"],
            "kernel_command_line": f"console=ttyS0 quiet lab.hostname={hostname}", "on_close": "power_off"}


def upload_images(api):
    """Uploaded, an image is known at once; put into the folder, only when the server looks there."""
    images = {"kernel": "lab-router.vmlinuz", "initrd": "lab-router.cpio.gz"}
    for name in images.values():
        with open(os.path.join(CACHE, "router", name), "rb") as f:
            api("POST", f"/v3/images/upload/{name}", f.read())
    return images


def add_template(api, version, images):
    """GNS3 3.0 has no tags: there the name says what it is."""
    kind = {"name": "FRR"} if version.startswith("3.0") else {
        "name": "Lab router", "tags": ["device_type:gns3_frr_telnet"]}
    api("POST", "/v3/templates", {"template_type": "qemu", "compute_id": "local", "category": "router",
                                  "default_name_format": "R{0}", "symbol": ":/symbols/router.svg",
                                  **kind, **router(images, "router")})


def build(api, state, vpcs, routers, template):
    version = state["version"]
    api.token = api.login(*ADMIN)
    images = upload_images(api) if routers or template else {}
    if template:
        add_template(api, version, images)
    state["tokens"] = {"admin": api.token}
    known = {u["username"]: u for u in api("GET", "/v3/access/users")}
    role = {r["name"]: r["role_id"] for r in api("GET", "/v3/access/roles")}["User"]
    project = api("POST", "/v3/projects", {"name": f"lab-{int(time.time())}", "auto_close": False})
    other = api("POST", "/v3/projects", {"name": f"other-{int(time.time())}", "auto_close": False})
    pid = project["project_id"]
    state["project"], state["other_project"] = project, other
    # One pool for each user: GET /v3/projects lists a pooled project to the user, while
    # an ACE on the project's own path opens it without listing it.
    for name, p in (("alice", project), ("bob", other)):
        if name not in known:
            known[name] = api("POST", "/v3/access/users", {"username": name, "password": USERS[name],
                                                           "email": f"{name}@example.com"})
        pool = api("POST", "/v3/pools", {"name": f"{name}-{p['project_id'][:8]}"})
        api("PUT", f"/v3/pools/{pool['resource_pool_id']}/resources/{p['project_id']}")
        api("POST", "/v3/access/acl", {"ace_type": "user", "path": f"/pools/{pool['resource_pool_id']}",
                                       "propagate": True, "allowed": True,
                                       "user_id": known[name]["user_id"], "role_id": role})
        state["tokens"][name] = api.login(name, USERS[name])
    template = [t for t in api("GET", "/v3/templates") if t["template_type"] == "vpcs" and t["builtin"]][0]
    nodes = []
    for i in range(vpcs):
        nodes.append(api("POST", f"/v3/projects/{pid}/templates/{template['template_id']}",
                         {"x": -300 + 200 * i, "y": 0, "name": f"PC{i + 1}", "compute_id": "local"}))
    switch = None
    if not version.startswith("3.0"):
        switch = api("POST", f"/v3/projects/{pid}/nodes", {
            "name": "SW1", "node_type": "ethernet_switch", "compute_id": "local", "x": 0, "y": 150})
    for i in range(routers):
        nodes.append(api("POST", f"/v3/projects/{pid}/nodes", {
            "name": f"R{i + 1}", "node_type": "qemu", "compute_id": "local", "x": -200 + 200 * i, "y": 300,
            "symbol": ":/symbols/router.svg",
            "properties": router(images, f"R{i + 1}")}))
    links = []

    def link(a, aport, b, bport):
        links.append(api("POST", f"/v3/projects/{pid}/links", {"nodes": [
            {"node_id": a["node_id"], "adapter_number": aport[0], "port_number": aport[1]},
            {"node_id": b["node_id"], "adapter_number": bport[0], "port_number": bport[1]}]}))

    pcs, rts = nodes[:vpcs], nodes[vpcs:]
    if switch:
        for i, n in enumerate((pcs + rts)[:8]):
            link(n, (0, 0), switch, (0, i))
        nodes.append(switch)
    else:
        for i in range(0, len(pcs) - 1, 2):
            link(pcs[i], (0, 0), pcs[i + 1], (0, 0))
    for i in range(len(rts) - 1):
        link(rts[i], (1, 0), rts[i + 1], (2, 0))
    api("POST", f"/v3/projects/{pid}/nodes/start", {})
    now = api("GET", f"/v3/projects/{pid}/nodes")
    state["nodes"] = [{k: n.get(k) for k in ("name", "node_id", "node_type", "status", "console",
                                             "console_type", "console_host")} for n in now]
    state["links"] = [l["link_id"] for l in links]


def up(a):
    d = os.path.abspath(a.dir)
    lab_json = os.path.join(d, "lab.json")
    if os.path.exists(lab_json):
        with open(lab_json) as f:
            old = json.load(f)
        stop(old["server_pid"], old["config"])
    times = {}
    t = time.monotonic()
    os.makedirs(d, exist_ok=True)
    venv = os.path.join(os.path.abspath(a.venvs), f"gns3-{a.version}")
    times["venv_made"] = make_venv(venv, a.version)
    times["venv_s"] = round(time.monotonic() - t, 2)
    for tool in ("/usr/bin/vpcs",):
        if not os.path.exists(tool):
            raise SystemExit(f"{tool} is missing: apt-get install vpcs")
    port = a.port or free_port()
    conf = write_config(d, port, a.slot)
    t = time.monotonic()
    process = start_server(d, venv, conf)
    base = f"http://127.0.0.1:{port}"
    state = {"base_url": base, "server_pid": process.pid, "config": conf, "dir": d, "venv": venv,
             "admin": {"username": ADMIN[0], "password": ADMIN[1]},
             "users": USERS, "jwt_secret_file": os.path.join(d, "secrets", "gns3_jwt_secret_key")}
    with open(lab_json, "w") as f:
        json.dump(state, f)
    api = Api(base)
    state["version"] = wait_ready(api, process, d)["version"]
    times["server_s"] = round(time.monotonic() - t, 2)
    t = time.monotonic()
    build(api, state, a.vpcs, a.routers, a.template)
    times["topology_s"] = round(time.monotonic() - t, 2)
    state["times"] = times
    with open(lab_json, "w") as f:
        json.dump(state, f, indent=1)
    os.chmod(lab_json, 0o600)
    print(json.dumps(state, indent=1))


def restart(a):
    """The server anew, as after a reboot: same port, same data, projects closed."""
    lab_json = os.path.join(os.path.abspath(a.dir), "lab.json")
    with open(lab_json) as f:
        state = json.load(f)
    stop(state["server_pid"], state["config"])
    process = start_server(state["dir"], state["venv"], state["config"])
    state["server_pid"] = process.pid
    with open(lab_json, "w") as f:
        json.dump(state, f, indent=1)
    wait_ready(Api(state["base_url"]), process, state["dir"])
    print("restarted")


def down(a):
    d = os.path.abspath(a.dir)
    try:
        with open(os.path.join(d, "lab.json")) as f:
            state = json.load(f)
    except OSError:
        print("nothing to stop")
        return
    stop(state["server_pid"], state["config"])
    os.remove(os.path.join(d, "lab.json"))
    if a.wipe:
        shutil.rmtree(d)
    print("stopped")


def status(a):
    try:
        with open(os.path.join(os.path.abspath(a.dir), "lab.json")) as f:
            state = json.load(f)
    except OSError:
        print("down")
        return
    print("up" if is_ours(state["server_pid"], state["config"]) else "dead", state["base_url"],
          len(session_members(state["server_pid"])), "processes")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = ap.add_subparsers(dest="command", required=True)
    for name, fn in (("up", up), ("restart", restart), ("down", down), ("status", status)):
        p = sub.add_parser(name)
        p.add_argument("--dir", default=os.path.join(CACHE, "state"))
        p.set_defaults(fn=fn)
        if name == "up":
            p.add_argument("--version", default="3.1.0a7")
            p.add_argument("--venvs", default=os.path.join(CACHE, "venvs"))
            p.add_argument("--port", type=int, default=0)
            p.add_argument("--slot", type=int, default=0, help="labs that run side by side need different slots")
            p.add_argument("--vpcs", type=int, default=2)
            p.add_argument("--routers", type=int, default=0)
            p.add_argument("--template", action="store_true")
        if name == "down":
            p.add_argument("--wipe", action="store_true")
    a = ap.parse_args()
    a.fn(a)


if __name__ == "__main__":
    main()
