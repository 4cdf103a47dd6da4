#!/usr/bin/env python3
"""Builds a small router (Debian cloud kernel + busybox + FRR) as kernel+initrd
for a GNS3 QEMU node.  Our own code; everything inside comes from Debian packages
unpacked under --root (or / when they are installed).

    mkrouter.py --root root --out DIR        (get_router_packages.sh does it)
"""
import argparse
import gzip
import os
import re
import stat
import subprocess

INIT = r"""#!/bin/busybox sh
B=/bin/busybox
$B mkdir -p /proc /sys /dev /tmp /run /var/run /var/tmp /var/run/frr /root
$B mount -t proc proc /proc
$B mount -t sysfs sysfs /sys
$B mount -t devtmpfs dev /dev 2>/dev/null
$B mkdir -p /dev/pts
$B mount -t devpts devpts /dev/pts
$B --install -s /bin
export PATH=/bin:/usr/bin:/usr/lib/frr HOME=/root TERM=dumb
for m in $(cat /modules.order); do insmod $m; done
NAME=router
CONSOLE=vtysh
for w in $(cat /proc/cmdline); do
  case $w in
    lab.hostname=*) NAME=${w#lab.hostname=} ;;
    lab.console=*) CONSOLE=${w#lab.console=} ;;
  esac
done
hostname $NAME
echo "127.0.0.1 localhost $NAME" > /etc/hosts
echo 1 > /proc/sys/net/ipv4/ip_forward
echo 1 > /proc/sys/net/ipv6/conf/all/forwarding
ip link set lo up
for i in /sys/class/net/eth*; do [ -e $i ] && ip link set ${i##*/} up; done
echo "hostname $NAME" > /etc/frr/frr.conf
chown -R frr:frr /etc/frr /var/run/frr
for d in zebra staticd ospfd bgpd; do
  /usr/lib/frr/$d -d -A 127.0.0.1 -f /etc/frr/frr.conf >/dev/null 2>&1
done
echo; echo "$NAME is ready."
# vtysh at once, as on a router; a login with a shell behind it, as on a host or a network appliance.
case $CONSOLE in
  login) while :; do getty -L 115200 ttyS0 vt100; sleep 1; done ;;
  *) while :; do setsid cttyhack /usr/bin/vtysh; sleep 1; done ;;
esac
"""
# lab.console=login asks for root and the password "lab-router-password".
SHADOW = "root:$1$labroute$ybXpM6o88dDvUTuTn.u7G/:19000:0:99999:7:::\n"
PROFILE = "export PATH=/bin:/usr/bin:/usr/lib/frr HOME=/root PS1='\\u@\\h:\\w\\$ '\n"
PASSWD = "root:x:0:0:root:/root:/bin/sh\nfrr:x:100:100:frr:/:/bin/false\n"
GROUP = "root:x:0:\nfrr:x:100:\nfrrvty:x:101:frr\n"


class Cpio:
    def __init__(self, path):
        self.f = gzip.open(path, "wb", compresslevel=4)
        self.ino = 0
        self.dirs = set()

    def _entry(self, name, mode, data=b"", rdev=(0, 0)):
        self.ino += 1
        n = name.encode() + b"\0"
        head = "070701" + "".join(f"{v:08X}" for v in (
            self.ino, mode, 0, 0, 1, 0, len(data), 0, 0, rdev[0], rdev[1], len(n), 0))
        buf = head.encode() + n
        buf += b"\0" * (-len(buf) % 4) + data
        self.f.write(buf + b"\0" * (-len(buf) % 4))

    def mkdirs(self, name):
        parts = name.strip("/").split("/")
        for i in range(1, len(parts) + 1):
            d = "/".join(parts[:i])
            if d and d not in self.dirs:
                self.dirs.add(d)
                self._entry(d, stat.S_IFDIR | 0o755)

    def file(self, name, data, mode=0o644):
        self.mkdirs(os.path.dirname(name))
        self._entry(name.lstrip("/"), stat.S_IFREG | mode, data)

    def link(self, name, target):
        self.mkdirs(os.path.dirname(name))
        self._entry(name.lstrip("/"), stat.S_IFLNK | 0o777, target.encode())

    def node(self, name, major, minor):
        self.mkdirs(os.path.dirname(name))
        self._entry(name.lstrip("/"), stat.S_IFCHR | 0o600, rdev=(major, minor))

    def close(self):
        self._entry("TRAILER!!!", 0)
        self.f.close()


def libs(paths, root):
    env = dict(os.environ)
    dirs = [f"{root}/usr/lib/x86_64-linux-gnu/frr", f"{root}/usr/lib/x86_64-linux-gnu", f"{root}/lib/x86_64-linux-gnu"]
    env["LD_LIBRARY_PATH"] = ":".join(dirs)
    found = {}
    for p in paths:
        out = subprocess.run(["ldd", p], env=env, capture_output=True, text=True).stdout
        for line in out.splitlines():
            m = re.search(r"=> (\S+) \(|^\s+(/\S+) \(", line)
            if "not found" in line:
                raise SystemExit(f"{p}: {line.strip()}")
            if m:
                path = m.group(1) or m.group(2)
                found[os.path.basename(path)] = path
    return found


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--root", default="/")
    ap.add_argument("--out", required=True)
    a = ap.parse_args()
    root = a.root.rstrip("/")
    os.makedirs(a.out, exist_ok=True)
    kernel = sorted(f for f in os.listdir(f"{root}/boot") if f.startswith("vmlinuz-"))[-1]
    version = kernel[len("vmlinuz-"):]
    with open(f"{root}/boot/{kernel}", "rb") as i, open(f"{a.out}/lab-router.vmlinuz", "wb") as o:
        o.write(i.read())
    c = Cpio(f"{a.out}/lab-router.cpio.gz")
    c.file("init", INIT.encode(), 0o755)
    c.node("dev/console", 5, 1)
    c.file("etc/passwd", PASSWD.encode())
    c.file("etc/group", GROUP.encode())
    c.file("etc/shadow", SHADOW.encode(), 0o600)
    c.file("etc/profile", PROFILE.encode())
    # A login gets a real terminal's manners; without this file every terminal is a dumb one.
    with open("/lib/terminfo/v/vt100", "rb") as f:
        c.file("lib/terminfo/v/vt100", f.read())
    c.file("etc/frr/vtysh.conf", b"no service integrated-vtysh-config\n")
    with open("/bin/busybox", "rb") as f:
        c.file("bin/busybox", f.read(), 0o755)
    bins = [f"usr/lib/frr/{d}" for d in ("zebra", "staticd", "ospfd", "bgpd")] + ["usr/bin/vtysh"]
    for b in bins:
        with open(f"{root}/{b}", "rb") as f:
            c.file(b, f.read(), 0o755)
    for name, path in libs([f"{root}/{b}" for b in bins], root).items():
        with open(path, "rb") as f:
            where = "lib64" if name.startswith("ld-linux") else "lib/x86_64-linux-gnu"
            c.file(f"{where}/{name}", f.read(), 0o755)
    pam = "lib/x86_64-linux-gnu/security/pam_permit.so"   # vtysh asks PAM for an account check
    with open(f"/{pam}", "rb") as f:
        c.file(pam, f.read(), 0o755)
    c.file("etc/pam.d/frr", b"auth sufficient pam_permit.so\naccount sufficient pam_permit.so\n")
    c.link("etc/pam.d/other", "frr")
    tree = {}
    for folder, _, names in os.walk(f"{root}/lib/modules/{version}/kernel"):
        for n in names:
            if n.endswith(".ko"):
                tree[n[:-3].replace("-", "_")] = os.path.join(folder, n)
    order = []

    def add(module):
        """Dependencies first; a module built into the kernel is simply absent."""
        path = tree.get(module.replace("-", "_"))
        if not path or f"/mods/{os.path.basename(path)}" in order:
            return
        with open(path, "rb") as f:
            data = f.read()
        m = re.search(rb"(?:^|\0)depends=([^\0]*)\0", data)
        for dep in (m.group(1).decode().split(",") if m and m.group(1) else []):
            add(dep)
        c.file(f"mods/{os.path.basename(path)}", data)
        order.append(f"/mods/{os.path.basename(path)}")

    for module in ("virtio_pci", "virtio_net", "dummy", "8021q"):
        add(module)
    c.file("modules.order", "\n".join(order).encode() + b"\n")
    c.close()
    # For tests that need more than an older image had.
    with open(f"{a.out}/lab-router.consoles", "w") as f:
        f.write("vtysh login\n")
    print({f: os.path.getsize(f"{a.out}/{f}") for f in ("lab-router.vmlinuz", "lab-router.cpio.gz")}, version)


if __name__ == "__main__":
    main()
