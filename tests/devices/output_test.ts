// What is left of a command's output: no prompt, no paging; log lines that came over the prompt stay readable.
import assert from "node:assert/strict";
import { lookAt } from "../../src/devices/look.ts";
import { cleanOutput, failureLine, withoutPrompt } from "../../src/devices/output.ts";
import { ciscoIos } from "../../src/devices/platforms/cisco_ios.ts";
import { frr } from "../../src/devices/platforms/frr.ts";
import { huaweiVrp } from "../../src/devices/platforms/huawei_vrp.ts";
import { linux } from "../../src/devices/platforms/linux.ts";

const LOG = "*Mar  1 00:01:02.123: %LINK-3-UPDOWN: Interface Gi0/1, changed state to up";
const clean = (raw: string, platform = ciscoIos) => cleanOutput(withoutPrompt(raw, platform), platform);

// F1, F8
Deno.test("withoutPrompt cuts the prompt, where log lines stand above, behind or around it", () => {
  assert.equal(clean("\r\nhostname R1\r\nR1#"), "hostname R1");
  assert.equal(clean(`\r\nhostname R1\r\nR1#\r\n${LOG}\r\n`), `hostname R1\n${LOG}`);
  assert.equal(clean(`\r\nhostname R1\r\nR1#\r\n${LOG}\r\nR1#`), `hostname R1\n${LOG}`);
  assert.equal(
    clean(`\r\nhostname R1\r\nR1#\r\n${LOG}\r\nR1#\r\n${LOG}\r\nR1#`),
    `hostname R1\n${LOG}\n${LOG}`,
  );
  assert.equal(clean(`\r\nhostname R1\r\n${LOG}\r\nR1#`), `hostname R1\n${LOG}`);
  assert.equal(clean(`\r\ntext\r\n<R1>\r\n${LOG}\r\n<R1>`, huaweiVrp), `text\n${LOG}`);
});

Deno.test("withoutPrompt leaves a line of output that looks like the prompt, where no log line made it one", () => {
  assert.equal(clean("\r\nbanner motd ^C\r\nR1#\r\n^C\r\nR1#"), "banner motd ^C\nR1#\n^C");
  assert.equal(clean(`\r\nR1#\r\nmore\r\n${LOG}\r\nR1#`), `R1#\nmore\n${LOG}`);
});

// F6: what vtysh 8.4 really prints after a ping was stopped, and then no new prompt.
Deno.test("the prompt is found before a log line that the device wrote behind it", () => {
  const log =
    "2026/11/30 17:59:46 [PHJDC-499N2][EC 100663314] STARVATION: task vtysh_rl_read ran for 45281ms";
  const tail = `5 packets received\r\nR1(config)# ${log}\r\n`;
  const seen = lookAt(tail, frr, "");
  assert.deepEqual(seen?.value.kind === "prompt" && [seen.value.text, seen.value.mode.name], [
    "R1(config)#",
    "config",
  ]);
  assert.equal(clean(tail, frr), `5 packets received\n${log}`);
  const another = "2026/11/30 18:00:00 OSPF: [M7Q4P-46WDR] vty[5]@# hello";
  assert.equal(clean(`x\r\nR1# ${log}\r\n${another}\r\n`, frr), `x\n${log}\n${another}`);
  assert.equal(clean(`x\r\nR1# ${log}\r\nR1# `, frr), `x\n${log}`);
  // No log: text that merely begins like a prompt.
  assert.equal(lookAt("R1# show version\r\n", frr, ""), undefined);
  assert.equal(lookAt("R1# 2026/11/30 is a date\r\n", frr, ""), undefined);
});

// F8
Deno.test("failureLine knows a device's refusals from its log and from what it shows", () => {
  const failed = (output: string) => failureLine(output, ciscoIos);
  for (
    const line of [
      "% Invalid input detected at '^' marker.",
      "% Incomplete command.",
      '% Ambiguous command:  "sh i"',
      "% 10.0.0.0 overlaps with GigabitEthernet0/0",
      "% Bad mask /33 for address 10.0.0.1",
      "%Error opening tftp://10.0.0.1/x (Timed out)",
      'Command rejected: An interface whose trunk encapsulation is "Auto" can not be configured to "trunk" mode.',
      "% BGP is already running; AS is 65001",
    ]
  ) assert.equal(failed(`text\n  ${line}\n`), line, line);
  for (
    const line of [
      LOG,
      "% 10.0.0.0 is subnetted, 1 subnets",
      "% Access VLAN does not exist. Creating vlan 10",
      "% Generating 2048 bit RSA keys, keys will be non-exportable...",
      "%OSPF-5-ADJCHG: Process 1, Nbr 10.0.0.2 on Gi0/1 from LOADING to FULL, Loading Done",
      "Building configuration...",
    ]
  ) assert.equal(failed(`${line}\n`), undefined, line);
});

// F24: a lab has mostly no way out; the model must hear that an installation failed, not read past it.
Deno.test("failureLine knows that a Linux host could not fetch what was to be installed", () => {
  const failed = (output: string) => failureLine(output, linux);
  const apt = "Ign:1 http://deb.debian.org/debian bookworm/main amd64 nginx\n" +
    "Err:1 http://deb.debian.org/debian bookworm/main amd64 nginx\n  Temporary failure resolving 'deb.debian.org'\n" +
    "E: Failed to fetch http://deb.debian.org/nginx.deb  Temporary failure resolving 'deb.debian.org'";
  assert.equal(failed(apt), "Temporary failure resolving 'deb.debian.org'");
  assert.match(
    failed("Reading package lists... Done\nE: Unable to locate package nginx")!,
    /^E: Unable to locate/,
  );
  const apk = "fetch http://dl-cdn.alpinelinux.org/alpine/v3.20/main/x86_64/APKINDEX.tar.gz\n" +
    "WARNING: fetching http://dl-cdn.alpinelinux.org/alpine/v3.20/main: temporary error (try again later)\n" +
    "ERROR: unable to select packages:";
  assert.match(failed(apk)!, /^WARNING: fetching .*temporary error/);
  for (
    const line of [
      "curl: (6) Could not resolve host: example.com",
      "wget: bad address 'example.com'",
      "wget: unable to resolve host address ‘example.com’",
      "fatal: unable to access 'https://example.com/x.git/': Could not resolve host: example.com",
      "Could not resolve 'security.ubuntu.com'",
      "ping: example.com: Temporary failure in name resolution",
      "ERROR: Could not find a version that satisfies the requirement requests",
    ]
  ) assert.equal(failed(`some output\n${line}`), line);
  for (const output of ["nginx is already the newest version (1.22).", "ERRORS 0\nE-mail: none", ""]) {
    assert.equal(failed(output), undefined);
  }
});
