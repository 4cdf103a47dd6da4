// The command line of the practice routers.
import assert from "node:assert/strict";
import { changeCable, disconnect } from "../../src/practice/network.ts";
import { restart } from "../../src/practice/power.ts";
import { onConsole, ping, router } from "./lab.ts";
import { TelnetClient } from "./telnet_client.ts";

async function all(console: TelnetClient, ...commands: string[]): Promise<string[]> {
  const outputs: string[] = [];
  for (const command of commands) outputs.push(await console.run(command));
  return outputs;
}

Deno.test("show commands tell what is, in IOS's layout", async () => {
  await onConsole("R1", async (console, net) => {
    const brief = (await console.run("show ip interface brief")).split("\n");
    assert.equal(
      brief[0],
      "Interface                  IP-Address      OK? Method Status                Protocol",
    );
    assert.match(brief[1]!, /^FastEthernet0\/0 +10\.0\.1\.1 +YES NVRAM +up +up$/);
    assert.match(brief[3]!, /^FastEthernet1\/0 +unassigned +YES unset +administratively down down$/);
    const neighbor = (await console.run("show ip ospf neighbor")).split("\n");
    assert.equal(neighbor[0], "Neighbor ID     Pri   State           Dead Time   Address         Interface");
    assert.match(neighbor[1]!, /^10\.0\.12\.2 +1 +FULL\/DR +00:00:3\d +10\.0\.12\.2 +FastEthernet0\/1$/);
    const routes = await console.run("show ip route");
    assert.match(routes, /^C {8}10\.0\.1\.0\/24 is directly connected, FastEthernet0\/0$/m);
    assert.match(routes, /^L {8}10\.0\.1\.1\/32 is directly connected, FastEthernet0\/0$/m);
    assert.match(routes, /^O {8}10\.0\.2\.0\/24 \[110\/2\] via 10\.0\.12\.2, [\d:]+, FastEthernet0\/1$/m);
    assert.match(await console.run("show ip route 10.0.2.10"), /Known via "ospf 1", distance 110, metric 2/);
    assert.equal(await console.run("show ip route 10.7.7.7"), "% Network not in table");
    assert.match(await console.run("show version"), /simulation/);
    disconnect(net, "cable-2");
    assert.equal((await console.run("show ip ospf neighbor")).split("\n").length, 1);
    assert.match(
      await console.run("show ip interface brief"),
      /FastEthernet0\/1 +10\.0\.12\.1 +YES NVRAM +down +down/,
    );
    assert.doesNotMatch(await console.run("show ip route"), /10\.0\.2\.0/);
    assert.match(
      await console.run("show interfaces f0/1"),
      /^FastEthernet0\/1 is down, line protocol is down/,
    );
  });
});

Deno.test("commands may be abbreviated; what is wrong is pointed at", async () => {
  await onConsole("R1", async (console) => {
    assert.equal(await console.run("sh ip int br"), await console.run("show ip interface brief"));
    assert.equal(await console.run("sh int fa 0/1"), await console.run("show interfaces FastEthernet0/1"));
    await console.send("show ip rout foo\r");
    const text = await console.until(/R1#$/);
    assert.equal(
      text,
      "show ip rout foo\r\n                ^\r\n% Invalid input detected at '^' marker.\r\n\r\nR1#",
    );
    assert.equal(text.split("\r\n")[1]!.indexOf("^"), "R1#show ip rout ".length, "under the f of foo");
    assert.equal(await console.run("show ip"), "% Incomplete command.");
    assert.equal(await console.run("show i"), '% Ambiguous command:  "show i"');
    assert.equal(await console.run("show interfaces f9/9"), "% Invalid interface type and number");
  });
});

// F4
Deno.test("long output stops at --More--: a space goes on, q ends it, terminal length 0 switches it off", async () => {
  await onConsole("R1", async (console) => {
    await console.send("show running-config\r");
    const first = await console.until(/ --More-- $/);
    assert.equal(first.split("\r\n").length, 25, "the echo, 23 lines and the marker");
    await console.send(" ");
    const second = await console.until(/(--More-- |R1#)$/);
    assert.ok(
      second.startsWith("\b".repeat(10) + " ".repeat(10) + "\b".repeat(10)),
      "the marker is wiped out",
    );
    await console.send("q");
    assert.match(await console.until(/R1#$/), /R1#$/);
    assert.equal(await console.run("terminal length 0"), "");
    const whole = await console.run("show running-config");
    assert.doesNotMatch(whole, /More/);
    assert.match(
      whole,
      /^Building configuration\.\.\.\n\nCurrent configuration : \d+ bytes\n!\nversion[^]*\nend$/,
    );
  });
});

Deno.test("a pipe filters output", async () => {
  await onConsole("R1", async (console) => {
    assert.equal(await console.run("show running-config | include hostname"), "hostname R1");
    assert.equal(
      await console.run("sh run | s router ospf"),
      "router ospf 1\n network 10.0.1.0 0.0.0.255 area 0\n network 10.0.12.0 0.0.0.3 area 0",
    );
    assert.match(await console.run("show run | begin line con"), /^line con 0/);
    assert.match(
      await console.run("show ip interface brief | exclude unassigned"),
      /^Interface[^]*\nFast[^]*\nFast\S+1 [^\n]*$/,
    );
    assert.match(await console.run("show run | grep x"), /Invalid input/);
  });
});

Deno.test("ping and traceroute use IOS's marks", async () => {
  await onConsole("R1", async (console, net) => {
    assert.match(
      await console.run("ping 10.0.2.10"),
      /^Type escape sequence to abort\.\nSending 5, 100-byte ICMP Echos to 10\.0\.2\.10, timeout is 2 seconds:\n!!!!!\nSuccess rate is 100 percent \(5\/5\), round-trip min\/avg\/max = 1\/1\/1 ms$/,
    );
    assert.match(
      await console.run("ping 10.0.2.10 repeat 3 source f0/0"),
      /source address of 10\.0\.1\.1 \n!!!\n/,
    );
    assert.match(await console.run("ping 10.77.0.1"), /\n\.{5}\nSuccess rate is 0 percent \(0\/5\)$/);
    assert.match(await console.run("ping 10.0.2.10 source 9.9.9.9"), /Invalid source address/);
    const hops = (await console.run("traceroute 10.0.2.10")).split("\n").slice(2);
    assert.match(hops[0]!, /1 10\.0\.12\.2 1 msec 1 msec 1 msec/);
    assert.match(hops[1]!, /2 10\.0\.2\.10 1 msec 1 msec 1 msec/);
    changeCable(net, net.cables.get("cable-2")!, { filters: { delay: [20, 0] } });
    assert.match(
      await console.run("ping 10.0.12.2"),
      /min\/avg\/max = 4\d\/4\d\/4\d ms/,
      "twice twenty, and a little",
    );
  });
});

// F6
Deno.test("Control-Shift-6 interrupts a ping, Control-C does not", async () => {
  await onConsole("R1", async (console) => {
    await console.run("conf t");
    await console.run("ip route 10.99.0.0 255.255.0.0 10.0.12.2");
    await console.run("end");
    await console.send("ping 10.0.1.99 repeat 1000\r");
    await console.until(/\.\.\./);
    await console.send("\x03");
    await console.until(/\.\.\./);
    await console.send("\x1e");
    assert.match(await console.until(/R1#$/), /Success rate is 0 percent \(0\/\d+\)/);
    assert.match(await console.run("show clock"), /UTC/);
  }, { timing: { routerTimeout: 5 } });
});

Deno.test("a change in configuration mode acts at once and shows in the running configuration", async () => {
  await onConsole("R2", async (console, net) => {
    await console.send("configure terminal\r");
    assert.match(await console.until(/#$/), /End with CNTL\/Z\.\r\nR2\(config\)#$/);
    await console.send("interface fastEthernet 0/1\r");
    assert.match(await console.until(/#$/), /R2\(config-if\)#$/);
    assert.deepEqual(await all(console, "description to R1 #core", "shutdown"), ["", ""]);
    assert.notEqual(ping(net, "PC1", "10.0.2.10").kind, "reply");
    assert.deepEqual(await all(console, "do show ip ospf neighbor | include FULL", "no shutdown"), ["", ""]);
    assert.equal(ping(net, "PC1", "10.0.2.10").kind, "reply");
    assert.match(
      await console.run("ip address 10.0.2.9 255.255.255.252"),
      /% 10\.0\.2\.0 overlaps with FastEthernet0\/0/,
    );
    assert.match(await console.run("ip address 10.0.12.2 255.0.255.0"), /Bad mask/);
    assert.match(await console.run("ip addres"), /Incomplete/);
    assert.match(await console.run("banana"), /Invalid input/);
    await console.send("router ospf 1\r");
    assert.match(await console.until(/#$/), /R2\(config-router\)#$/);
    await all(console, "no network 10.0.2.0 0.0.0.255 area 0", "network 10.0.2.1 0.0.0.0 area 0", "exit");
    await all(
      console,
      "interface loopback 0",
      "ip address 2.2.2.2 255.255.255.255",
      "hostname Core",
      "end",
      "terminal length 0",
    );
    const running = await console.run("show running-config");
    assert.match(running, /^hostname Core$/m);
    assert.match(
      running,
      /interface FastEthernet0\/1\n description to R1 #core\n ip address 10\.0\.12\.2 255\.255\.255\.252/,
    );
    assert.match(running, /interface Loopback0\n ip address 2\.2\.2\.2 255\.255\.255\.255/);
    assert.match(
      running,
      /router ospf 1\n network 10\.0\.12\.0 0\.0\.0\.3 area 0\n network 10\.0\.2\.1 0\.0\.0\.0 area 0/,
    );
    assert.equal(ping(net, "PC1", "10.0.2.10").kind, "reply");
  });
});

Deno.test("what was not written is gone after a restart; write memory and copy keep it", async () => {
  await onConsole("R1", async (console, net, consoles) => {
    await all(console, "conf t", "hostname Lost", "end");
    assert.equal(router(net, "R1").hostname, "Lost");
    restart(net, "R1");
    assert.equal(router(net, "R1").hostname, "R1");
    const again = await TelnetClient.connect(consoles.of("R1")!.port);
    await again.wake();
    await all(again, "conf t", "hostname Kept", "end");
    assert.equal(await again.run("write memory"), "Building configuration...\n[OK]");
    assert.match(await again.run("show startup-config | include hostname"), /^hostname Kept$/);
    await all(again, "conf t", "hostname Kept2", "end");
    await again.send("copy running-config startup-config\r");
    await again.until(/Destination filename \[startup-config\]\? $/);
    await again.send("\r");
    assert.match(await again.until(/#$/), /\[OK\]/);
    await again.send("reload\r");
    await again.until(/Proceed with reload\? \[confirm\]$/);
    await again.send("\r");
    await again.until(/Press RETURN to get started!/);
    assert.match(await again.wake(), /Kept2#$/);
    assert.equal(ping(net, "PC1", "10.0.2.10").kind, "reply");
    await again.close();
  });
});

// F5, F10
Deno.test("questions wait for an answer: erase, reload without saving, clear ip ospf process", async () => {
  await onConsole("R1", async (console, net) => {
    await console.send("clear ip ospf process\r");
    await console.until(/Reset ALL OSPF processes\? \[no\]: $/);
    await console.send("\r");
    await console.until(/R1#$/);
    await console.send("write erase\r");
    await console.until(/Continue\? \[confirm\]$/);
    await console.send("n\r");
    await console.until(/R1#$/);
    assert.notEqual(router(net, "R1").startup, "");
    await all(console, "conf t", "hostname X", "end");
    await console.send("reload\r");
    await console.until(/Save\? \[yes\/no\]: $/);
    await console.send("no\r");
    await console.until(/\[confirm\]$/);
    await console.send("n\r");
    assert.match(await console.until(/#$/), /X#$/, "not reloaded");
  });
});

Deno.test("enable, disable and exit; user mode cannot see configurations", async () => {
  await onConsole("R1", async (console) => {
    await console.send("disable\r");
    assert.match(await console.until(/R1>$/), /R1>$/);
    assert.match(await console.run("show running-config"), /Invalid input/);
    assert.match(await console.run("configure terminal"), /Invalid input/);
    assert.match(await console.run("show ip interface brief"), /FastEthernet0\/0/);
    await console.send("enable\r");
    await console.until(/R1#$/);
    await console.send("exit\r");
    await console.until(/con0 is now available[^]*Press RETURN to get started\./);
    assert.match(await console.wake(), /R1#$/);
  });
});

Deno.test("Control-Z leaves configuration mode from anywhere", async () => {
  await onConsole("R1", async (console) => {
    await all(console, "conf t", "int f0/0");
    await console.send("descr\x1a");
    assert.equal(await console.until(/R1#$/), "descr^Z\r\nR1#");
  });
});

// F16
Deno.test("a banner of several lines is read up to its delimiter, whatever it holds", async () => {
  await onConsole("R1", async (console, net) => {
    await console.run("conf t");
    await console.send("banner motd @\r");
    await console.until(/End with the character '@'\.\r\n$/);
    await console.send("Welcome to R1#\r\rexit\rno access@\r");
    await console.until(/\(config\)#$/);
    await console.run("end");
    assert.equal(router(net, "R1").banner, "Welcome to R1#\n\nexit\nno access");
    await all(console, "write", "terminal length 0");
    restart(net, "R1");
    assert.equal(router(net, "R1").banner, "Welcome to R1#\n\nexit\nno access");
  });
});

Deno.test("the router tells on its console what happens to its links and neighbours, and shows the prompt again", async () => {
  await onConsole("R1", async (console, net) => {
    await console.send("show cl");
    await console.until(/show cl$/);
    disconnect(net, "cable-2");
    const told = await console.until(/R1#show cl$/);
    assert.match(
      told,
      /%OSPF-5-ADJCHG: Process 1, Nbr 10\.0\.12\.2 on FastEthernet0\/1 from FULL to DOWN, Neighbor Down: Interface down or detached/,
    );
    assert.match(
      told,
      /%LINEPROTO-5-UPDOWN: Line protocol on Interface FastEthernet0\/1, changed state to down/,
    );
    await console.send("ock\r");
    assert.match(await console.until(/R1#$/), /UTC/);
    assert.match(await console.run("show logging | include ADJCHG"), /FULL to DOWN/);
  }, { logMessages: true });
});

Deno.test("? lists what may come next, without Enter", async () => {
  await onConsole("R1", async (console) => {
    await console.send("show ip ?");
    const text = await console.until(/R1#show ip $/);
    assert.match(text, / {2}interface\r\n {2}ospf\r\n {2}protocols\r\n {2}route\r\n/);
    await console.send("route\r");
    assert.match(await console.until(/R1#$/), /directly connected/);
  });
});
