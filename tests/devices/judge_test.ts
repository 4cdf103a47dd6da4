// What only reads and what does more, for every platform, after abbreviations, prefixes and pipes.
import assert from "node:assert/strict";
import { judge } from "../../src/devices/judge.ts";
import { PLATFORMS } from "../../src/devices/platforms/mod.ts";
import { ciscoIos } from "../../src/devices/platforms/cisco_ios.ts";
import { frr } from "../../src/devices/platforms/frr.ts";
import { huaweiVrp } from "../../src/devices/platforms/huawei_vrp.ts";
import { linux } from "../../src/devices/platforms/linux.ts";
import { ruijieRgos } from "../../src/devices/platforms/ruijie_rgos.ts";
import type { Platform } from "../../src/devices/platform.ts";
import { DISGUISED } from "./disguised.ts";

const kinds = (platform: Platform, commands: string[]) =>
  Object.fromEntries(commands.map((command) => [command, judge(platform, command).kind]));
const all = (commands: string[], kind: string) =>
  Object.fromEntries(commands.map((command) => [command, kind]));
const reading = (platform: Platform, commands: string[]) =>
  assert.deepEqual(kinds(platform, commands), all(commands, "read"));

// F7
Deno.test("judge lets no disguised command pass as reading, on any platform", () => {
  let count = 0;
  for (const { deviceTypes, title, ...platform } of PLATFORMS) {
    const commands = DISGUISED[deviceTypes[0]!];
    assert.ok(commands, `${title}: give it disguised commands`);
    const passed = commands.filter((command) =>
      judge({ deviceTypes, title, ...platform }, command).kind === "read"
    );
    assert.deepEqual(passed, [], title);
    count += commands.length;
  }
  assert.ok(count >= 40, `${count} disguised commands`);
});

Deno.test("judge resolves IOS's abbreviations, prefixes and filters", () => {
  reading(ciscoIos, [
    "show version",
    "sh ip int br",
    "SH IP ROUTE",
    "sho run",
    "do sh run",
    "DO show clock",
    "show run | include hostname",
    "show run | i hostname|interface",
    "sh run | inc ^router|access-list 10",
    "show ip route | begin Gateway",
    "show run | section router ospf",
    "show interfaces | e unassigned",
    "show run | count interface",
    "show run | i a|b|c",
    "ping 10.0.0.2",
    "pin 10.0.0.2 repeat 3 source Loopback0",
    "ping vrf RED 10.0.0.2",
    "ping ipv6 2001:db8::1",
    "traceroute 10.0.0.2",
    "trace 10.0.0.2",
    "dir",
    "dir flash:",
    "more nvram:startup-config",
    "write terminal",
    "wr t",
    "  show version  ",
  ]);
});

Deno.test("judge resolves the manners of VRP, RGOS and FRR", () => {
  reading(huaweiVrp, [
    "display version",
    "dis ip int b",
    "disp cu",
    "display current-configuration | include ospf",
    "dis ip rou | exclude Direct",
    "display ospf peer brief | no-more",
    "dis cu | i sysname|ip address",
    "ping 10.0.0.2",
    "ping -c 3 -a 1.1.1.1 10.0.0.2",
    "ping -vpn-instance A 10.0.0.2",
    "tracert 10.0.0.2",
    "dir flash:/",
    "display diagnostic-information",
  ]);
  reading(ruijieRgos, [
    "show version",
    "sh vlan",
    "do show ip route",
    "show run | include vlan",
    "ping 10.0.0.2",
  ]);
  reading(frr, [
    "show ip ospf neighbor",
    "sh ip ro",
    "do show ip route",
    "show running-config | include router",
    "show ip bgp summary json",
    "ping 10.0.0.2",
    "traceroute 10.0.0.2",
    "write terminal",
    "find ospf",
  ]);
});

Deno.test("judge lets a shell run programs that look, with the arguments that keep it so", () => {
  reading(linux, [
    "ip addr",
    "ip a",
    "ip -br addr",
    "ip -4 route show table main",
    "ip r",
    "ip route get 10.0.0.1",
    "ip -s link show dev eth0",
    "ip neigh",
    "ip addr show eth0",
    "ifconfig",
    "ifconfig -a",
    "ifconfig eth0",
    "arp -an",
    "route -n",
    "netstat -rn",
    "ss -tulpn",
    "ss -tn state established",
    "ping -c 3 10.0.0.2",
    "ping -c3 -W 1 10.0.0.2",
    "ping -c 2 -I eth0 host.example",
    "ping6 -c 1 fe80::1%eth0",
    "traceroute -n 10.0.0.2",
    "tracepath 10.0.0.2",
    "cat /etc/resolv.conf",
    "cat /etc/hosts /etc/hostname",
    "cat /proc/sys/net/ipv4/ip_forward",
    "cat /proc/net/dev",
    "uname -a",
    "hostname",
    "hostname -I",
    "iptables -L -n -v",
    "iptables -t nat -S",
    "sysctl net.ipv4.ip_forward",
    "bridge vlan show",
    "ethtool eth0",
    "nslookup www.example.com",
    "dig @10.0.0.1 www.example.com A +short",
    "ps aux",
    "df -h",
    "ls -la /etc",
    "tail -n 20 /var/log/syslog",
    "systemctl status frr --no-pager",
    'vtysh -c "show ip route"',
    "vtysh -c 'show ip ospf neighbor' -c 'show run | include router'",
  ]);
});

// F7
Deno.test("judge tells what takes something away from what only changes", () => {
  const destroying: [Platform, string[]][] = [
    [ciscoIos, [
      "reload",
      "rel in 5",
      "do reload",
      "write erase",
      "erase startup-config",
      "format flash:",
      "delete /force flash:x",
      "no router ospf 1",
      "no ip vrf RED",
      "crypto key zeroize rsa",
      "default interface Gi0/1",
      "configure replace flash:x",
    ]],
    [huaweiVrp, [
      "reboot",
      "reset saved-configuration",
      "delete flash:/x",
      "format flash:",
      "undo ospf 1",
      "undo bgp 65001",
    ]],
    [ruijieRgos, ["reload", "delete flash:config.text", "no router bgp 65001"]],
    [frr, ["no router ospf", "no router bgp 65001"]],
    [linux, [
      "reboot",
      "rm -rf /etc/frr",
      "sudo reboot",
      "mkfs.ext4 /dev/sda",
      "true && reboot",
      "dd if=/dev/zero of=/dev/sda",
    ]],
  ];
  for (const [platform, commands] of destroying) {
    assert.deepEqual(kinds(platform, commands), all(commands, "destroy"), platform.title);
  }
  const changing: [Platform, string[]][] = [
    [ciscoIos, [
      "hostname debugger",
      "description test link",
      "description reload",
      "no debug all",
      "undebug all",
      "interface Gi0/1",
      "no ip vrf forwarding RED",
      "login local",
      "ppp authentication chap",
      "ip telnet source-interface Lo0",
      "version 2",
      "ver 2",
      "write memory",
      "copy running-config startup-config",
      "clear ip ospf process",
    ]],
    [huaweiVrp, [
      "description 上联",
      "undo ospf cost",
      "telnet server enable",
      "ssh user a",
      "save",
      "undo shutdown",
    ]],
    [frr, ["router ospf", "no network 10.0.0.0/24 area 0"]],
    [linux, ["ip addr add 10.0.0.1/24 dev eth0", "rm /tmp/x", "echo reboot later"]],
  ];
  for (const [platform, commands] of changing) {
    assert.deepEqual(kinds(platform, commands), all(commands, "change"), platform.title);
  }
});

// F7
Deno.test("judge refuses in every tool what leads elsewhere or blocks a device, and says why", () => {
  const why = (platform: Platform, command: string) => {
    const verdict = judge(platform, command);
    return verdict.kind === "refused" ? verdict.why : verdict.kind;
  };
  for (const command of ["debug all", "deb ip ospf", "do debug ip packet", "do-exec debug all", " debug"]) {
    assert.match(why(ciscoIos, command), /floods its console/, command);
  }
  assert.match(why(ciscoIos, "telnet 10.0.0.2"), /session on another device/);
  assert.match(why(ciscoIos, "test crash"), /crash/);
  assert.match(why(ciscoIos, "show ?"), /asks the device for help at once/);
  assert.match(why(huaweiVrp, "stelnet 10.0.0.2"), /session on another device/);
  assert.match(why(huaweiVrp, "display diagnostic-information x.txt"), /write a file/);
  assert.match(why(frr, "start-shell bash"), /shell/);
  assert.match(why(linux, "vi /etc/hosts"), /terminal of its own/);
  assert.match(why(ciscoIos, `description ${"x".repeat(300)}`), /longer than 254/);
  assert.match(why(ciscoIos, "hostname zürich"), /characters that this device does not take/);
});

Deno.test("judge lets only known commands behind do: IOS takes another word for a host to connect to", () => {
  for (
    const command of ["do 10.0.0.1", "do connect 10.0.0.1", "do R2", "do rsh 10.0.0.1 reload", "do-exec ppp"]
  ) {
    const verdict = judge(ciscoIos, command);
    assert.equal(verdict.kind, "refused", command);
  }
  assert.equal(judge(ciscoIos, "do-exec reload").kind, "destroy");
  assert.equal(judge(ciscoIos, "do-exec show ip route").kind, "read");
  assert.equal(judge(ciscoIos, "do clear ip ospf process").kind, "change");
  assert.equal(judge(ciscoIos, "domain-name lab.example").kind, "change");
});
