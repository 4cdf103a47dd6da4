// The command line of the virtual PCs.
import assert from "node:assert/strict";
import { disconnect } from "../../src/practice/network.ts";
import { setPower } from "../../src/practice/power.ts";
import { onConsole, pc } from "./lab.ts";

Deno.test("show ip and ping print VPCS's lines", async () => {
  await onConsole("PC1", async (console) => {
    const shown = await console.run("show ip");
    assert.match(shown, /^NAME {8}: PC1\[1\]\nIP\/MASK {5}: 10\.0\.1\.10\/24\nGATEWAY {5}: 10\.0\.1\.1\n/);
    assert.match(
      await console.run("ping 10.0.2.10 -c 2"),
      /^84 bytes from 10\.0\.2\.10 icmp_seq=1 ttl=62 time=\d\.\d{3} ms\n84 bytes from 10\.0\.2\.10 icmp_seq=2 ttl=62 time=\d\.\d{3} ms$/,
    );
    assert.equal((await console.run("ping 10.0.1.1")).split("\n").length, 5, "five unless told otherwise");
    assert.match(
      await console.run("p 10.0.1.10 -c 1"),
      /^84 bytes from 10\.0\.1\.10 icmp_seq=1 ttl=64 time=0\.001 ms$/,
    );
    assert.equal(await console.run("ping nobody"), "Cannot resolve nobody");
    assert.equal(await console.run("ping 10.0.1.1 -x"), "Invalid options");
  });
});

Deno.test("ip checks for duplicates, takes mask and gateway in any order, and says what is wrong", async () => {
  await onConsole("PC1", async (console, net) => {
    const ok = "Checking for duplicate address...\nPC1 : 10.0.1.20 255.255.255.0 gateway 10.0.1.1";
    for (
      const form of ["10.0.1.20/24 10.0.1.1", "10.0.1.20 10.0.1.1 24", "10.0.1.20 255.255.255.0 10.0.1.1"]
    ) {
      assert.equal(await console.run(`ip ${form}`), ok, form);
    }
    assert.equal(
      await console.run("ip 10.0.1.21"),
      "Checking for duplicate address...\nPC1 : 10.0.1.21 255.255.255.0",
    );
    assert.equal(await console.run("ip 10.0.1.300/24"), "Invalid address");
    assert.equal(await console.run("ip 10.0.1.0/24"), "Invalid address");
    assert.equal(await console.run("ip 10.0.1.20/24 10.0.9.1"), "not same subnet");
    assert.equal(pc(net, "PC1").bits, 24, "refused settings change nothing");
    assert.match(
      await console.run("ip 10.0.1.1/24"),
      /^Checking for duplicate address\.\.\.\n10\.0\.1\.1 is being used by MAC ca:01:00:00:02:00\nAddress not changed$/,
    );
    assert.match(await console.run("sh ip"), /IP\/MASK {5}: 0\.0\.0\.0\/0/);
    assert.equal(await console.run("ip dhcp"), "DDD\nCan't find dhcp server");
  });
});

Deno.test("each way of failing has its own words", async () => {
  await onConsole("PC1", async (console, net) => {
    assert.match(
      await console.run("ping 10.0.9.9 -c 1"),
      /^\*10\.0\.1\.1 icmp_seq=1 ttl=255 time=\d\.\d{3} ms \(ICMP type:3, code:1, Destination host unreachable\)$/,
    );
    assert.equal(await console.run("ping 10.0.1.99 -c 3"), "host (10.0.1.99) not reachable");
    assert.equal(
      await console.run("ping 10.0.2.99 -c 2"),
      "10.0.2.99 icmp_seq=1 timeout\n10.0.2.99 icmp_seq=2 timeout",
    );
    disconnect(net, "cable-1");
    assert.equal(await console.run("ping 10.0.2.10 -c 3"), "host (10.0.1.1) not reachable");
    await console.run("ip 10.0.1.10/24");
    assert.equal(await console.run("ping 10.0.2.10 -c 3"), "No gateway found");
  });
});

Deno.test("trace names every router on the way, and stars for silence", async () => {
  await onConsole("PC1", async (console, net) => {
    const lines = (await console.run("trace 10.0.2.10")).split("\n");
    assert.equal(lines[0], "trace to 10.0.2.10, 8 hops max, press Ctrl+C to stop");
    assert.match(lines[1]!, /^ 1 {3}10\.0\.1\.1( {2,3}\d\.\d{3} ms){3}$/);
    assert.match(lines[2]!, /^ 2 {3}10\.0\.12\.2( {2,3}\d\.\d{3} ms){3}$/);
    assert.match(
      lines[3]!,
      /^ 3 {3}\*10\.0\.2\.10 {3}\d\.\d{3} ms \(ICMP type:3, code:3, Destination port unreachable\)$/,
    );
    setPower(net, "PC2", "stopped");
    const stopped = (await console.run("trace 10.0.2.10 -m 4")).split("\n");
    assert.match(stopped[1]!, /10\.0\.1\.1/);
    assert.match(
      stopped[2]!,
      /ICMP type:3, code:1/,
      "with its PC off, R2's port is down and the route is gone",
    );
  });
});

// F6
Deno.test("Control-C ends a ping that would go on for ever, and the next command works", async () => {
  await onConsole("PC1", async (console) => {
    await console.send("ping 10.0.1.1 -t\r");
    await console.until(/icmp_seq=3/);
    await console.send("\x03");
    assert.match(await console.until(/> $/), /\^C\r\n\rPC1> $/);
    assert.match(await console.run("show arp"), /^ca:01:00:00:02:00 {2}10\.0\.1\.1 expires in \d+ seconds$/);
  });
});

Deno.test("there is no way to a shell, and unknown commands are named", async () => {
  await onConsole("PC1", async (console) => {
    for (const attempt of ["! id", "!id", "! cat /etc/passwd"]) {
      assert.equal(await console.run(attempt), "The practice lab has no host shell.");
    }
    assert.equal(await console.run("foo bar"), 'Bad command: "foo bar". Use ? for help.');
    assert.match(await console.run("?"), /no host shell/);
    assert.match(await console.run("version"), /practice lab/);
  });
});

Deno.test("save writes the startup file that the next start reads; a new name is the new prompt", async () => {
  await onConsole("PC1", async (console, net) => {
    await console.run("ip 10.0.1.44/24 10.0.1.1");
    assert.equal(await console.run("save"), "Saving startup configuration to startup.vpc\n.  done");
    assert.equal(pc(net, "PC1").startup, "set pcname PC1\nip 10.0.1.44 10.0.1.1 24\n");
    await console.send("set pcname Alice\r");
    assert.match(await console.until(/Alice> $/), /\rAlice> $/);
    assert.equal(await console.run("clear ip"), "IPv4 address/mask, gateway, DNS, and DHCP cleared");
    await console.run("load");
    assert.equal(pc(net, "PC1").pcname, "PC1");
    assert.match(await console.run("show"), /PC1 +10\.0\.1\.44\/24 +10\.0\.1\.1 +00:50:79:66:68:01/);
    await console.send("quit\r");
    await console.end();
    assert.equal(pc(net, "PC1").power, "stopped");
  });
});
