// Cisco IOS on recordings that were written by hand, replayed one byte at a time: every way in, every mode, every question.
import assert from "node:assert/strict";
import { ciscoIos } from "../../src/devices/platforms/cisco_ios.ts";
import { replayed, type Script } from "./replaying.ts";

const credentials = { username: "lab", password: "s3cret-of-R1" };
const BRIEF = "show ip interface brief";
const CLOCK = "show clock";
const on = (name: string, script: Script) => replayed(`cisco_ios/${name}`, ciscoIos, script);

// F2
Deno.test("IOS: a router that has just booted gets its RETURN, and is left in user mode as it was", async () => {
  const { of, notes } = await on("cold_boot", { commands: [BRIEF] });
  assert.match(of(BRIEF).output, /^Interface.*\nGigabitEthernet0\/1 .* administratively down down$/s);
  assert.deepEqual(notes, []);
});

// F3
Deno.test("IOS: the set-up dialogue is answered no, autoinstall is terminated", async () => {
  const { of, error } = await on("setup_dialog", { commands: [BRIEF] });
  assert.equal(error, undefined);
  assert.equal(of(BRIEF).failed, undefined);
});

// F3
Deno.test("IOS: a device that demands a new secret is reported, and none is invented", async () => {
  const { error } = await on("demands_secret", { commands: [BRIEF], credentials });
  assert.match(error!.message, /^it needs its first set-up: it demands a new enable secret/);
});

// F23
Deno.test("IOS: name and password are used for the login and for enable, and the console is logged out again", async () => {
  const { of, notes, results } = await on("login", { commands: [BRIEF], credentials });
  assert.match(of(BRIEF).output, /^Interface/);
  assert.ok(!JSON.stringify([results, notes]).includes(credentials.password));
});

// F23
Deno.test("IOS: a login without credentials is reported, one that refuses them too, and nothing is guessed", async () => {
  const unknown = await on("login_unknown", { commands: [BRIEF] });
  assert.match(unknown.error!.message, /^it needs credentials: its console asks for a login\./);
  const refused = await on("login_refused", { commands: [BRIEF], credentials });
  assert.match(refused.error!.message, /^it needs credentials: it does not accept those that GNS3 holds/);
  assert.ok(!refused.error!.message.includes(credentials.password));
});

Deno.test("IOS: without the password for enable, reading goes on in user mode, and the answer says so", async () => {
  const { of, notes } = await on("enable_unknown", { commands: [BRIEF] });
  assert.match(of(BRIEF).output, /^Interface/);
  assert.match(notes.join(), /^Commands ran at "R1>" with fewer rights: .*"enable" asks for a password/);
  const refused = await on("enable_refused", { commands: [BRIEF], credentials });
  assert.match(refused.notes.join(), /"enable" does not accept the password that GNS3 holds/);
});

// F1, F6, F8
Deno.test("IOS: output is whole and clean, whatever looks like a prompt in it and whatever is logged across it", async () => {
  const commands = [
    "show running-config",
    "sh ip int br",
    "bogus stuff",
    "show ip",
    "show i",
    "show ip route",
    "ping 10.0.0.2",
    CLOCK,
    "show users",
    "show ip arp",
    "ping 10.9.9.9 repeat 1000",
    CLOCK,
  ];
  const platform = { ...ciscoIos, limits: [{ pattern: /repeat 1000/, seconds: 0.8 }] };
  const { of, results, notes } = await replayed("cisco_ios/show", platform, { commands });
  const run = of("show running-config").output;
  assert.match(
    run,
    /^Building configuration\.\.\.\n.*\nbanner motd \^C\nR1#\n\*\*\* authorised use only #\nR1>\n\^C\n/s,
  );
  assert.match(run, /\n description to R1#core --More--\n.*\nend$/s);
  const failed = Object.fromEntries(results.map(({ input, failed }) => [input, failed]));
  assert.deepEqual(failed, {
    "show running-config": undefined,
    "sh ip int br": undefined,
    "bogus stuff": "% Invalid input detected at '^' marker.",
    "show ip": "% Incomplete command.",
    "show i": '% Ambiguous command:  "show i"',
    "show ip route": undefined,
    "ping 10.0.0.2": undefined,
    [CLOCK]: undefined,
    "show users": undefined,
    "show ip arp": undefined,
    "ping 10.9.9.9 repeat 1000": "It did not end by itself and was stopped after 1 s.",
  });
  assert.match(of("ping 10.0.0.2").output, /!!!!!\nSuccess rate is 100 percent/);
  // The log line that came behind the prompt is told with the command, not mixed into it.
  assert.match(
    results[7]!.output,
    /^\*00:01:01\.000 UTC Fri Mar 1 2002\n+\*Mar {2}1 00:01:02\.123: %LINEPROTO-5-UPDOWN/,
  );
  assert.match(of("show users").output, /^ {4}Line {7}User/);
  assert.match(of("show ip arp").output, /^Protocol {2}Address/);
  const ping = of("ping 10.9.9.9 repeat 1000");
  assert.match(ping.output, /timeout is 2 seconds:\n\.{6}\nSuccess rate is 0 percent/);
  assert.equal(results.at(-1)!.output, "*00:02:01.000 UTC Fri Mar 1 2002");
  assert.deepEqual(notes, []);
});

// F4
Deno.test("IOS: pages end by themselves in every spelling, also where paging cannot be switched off", async () => {
  const { of } = await on("paging", { commands: ["show running-config", CLOCK] });
  assert.deepEqual(of("show running-config").output.split("\n"), [
    "line 1",
    " description has --More-- in it",
    "line 3",
    "line 4",
    "line 5",
    "last line",
  ]);
  assert.equal(of(CLOCK).failed, undefined);
});

Deno.test("IOS: paging is switched off after a first output in pages, and put back with the pages' length", async () => {
  const { of } = await on("paging_off", { commands: ["show running-config", "show startup-config"] });
  assert.equal(of("show running-config").output.split("\n").at(-1), "line 24");
  assert.equal(of("show startup-config").output.split("\n").length, 59);
});

// F8, F16
Deno.test("IOS: configuring goes through every mode, sends a banner whole, and follows a name that is cut off", async () => {
  const name = "Distribution-Switch-in-the-Cellar";
  const description = `description ${[...Array(20).keys()].map((i) => `part${i}`).join(" ")}`;
  const { results, error, notes } = await on("config", {
    lines: [
      "conf t",
      "interface GigabitEthernet0/1",
      "ip address 10.0.1.1 255.255.255.0",
      description,
      "no shutdown",
      "router ospf 1",
      "network 10.0.1.0 0.0.0.255 area 0",
      "exit",
      "banner motd ^C",
      "Welcome to R1#",
      "",
      "R1(config)#",
      "^C",
      "!",
      "",
      `hostname ${name}`,
      "do show ip interface brief",
      "interface Loopback0",
      "write memory",
      "exit",
      "hostname R1",
      "end",
      "exit",
    ],
  });
  assert.equal(error, undefined);
  assert.deepEqual(results.filter(({ failed }) => failed), []);
  const typed = results.filter(({ notSent }) => !notSent).map(({ input }) => input);
  assert.ok(typed.includes("banner motd @\nWelcome to R1#\n\nR1(config)#\n@"));
  const notSent = results.filter((one) => one.notSent).map(({ input, note }) => [input, note]);
  assert.deepEqual(notSent, [
    ["conf t", "Not sent: the mode is changed as needed."],
    ["end", "Left the configuration mode."],
    ["exit", "Not sent: it would log out."],
  ]);
  assert.match(
    results.find(({ input }) => input === "write memory")!.output,
    /^Building configuration\.\.\.\n\[OK\]$/,
  );
  assert.deepEqual(notes, []);
});

// F8
Deno.test("IOS: a line that is not taken ends the batch, with the device's words", async () => {
  const { results } = await on("config_partial", {
    lines: ["interface GigabitEthernet0/1", "ip address 10.0.0.9 255.255.255.0", "no shutdown"],
  });
  assert.deepEqual(results.map(({ failed }) => failed), [
    undefined,
    "% 10.0.0.0 overlaps with GigabitEthernet0/0",
    "Not run: a line before it failed.",
  ]);
});

// F5
Deno.test("IOS: questions are answered by a rule where one exists, else given up and reported", async () => {
  const { results } = await on("questions", {
    lines: [
      "clear ip ospf process",
      "copy running-config startup-config",
      "clear counters",
      "crypto key generate rsa",
      "hostname never",
    ],
  });
  assert.deepEqual(results.map(({ failed }) => failed), [
    undefined,
    undefined,
    undefined,
    'The device waits for an answer: "How many bits in the modulus [512]:". The command was stopped.',
    "Not run: a line before it failed.",
  ]);
  assert.match(results[1]!.output, /Building configuration\.\.\.\n\[OK\]$/);
});

// F10
Deno.test("IOS: whatever somebody left on the console is left without confirming anything", async () => {
  const config = await on("found_in_config", { commands: [BRIEF] });
  assert.match(config.of(BRIEF).output, /^Interface/);
  assert.deepEqual(config.notes, [
    "Somebody had left a half-typed line on this console; it was cleared, not run.",
  ]);
  for (const name of ["pager", "question", "confirm", "copy"]) {
    const { of, notes } = await on(`found_in_${name}`, { commands: [CLOCK] });
    assert.equal(of(CLOCK).output, "*00:02:01.000 UTC Fri Mar 1 2002", name);
    assert.deepEqual(notes, [], name);
  }
  const { of } = await on("found_at_password", { commands: [CLOCK] });
  assert.equal(of(CLOCK).failed, undefined);
});

// F10
Deno.test("IOS: a question that does not go away is reported", async () => {
  const { error } = await on("found_stubborn", { commands: [CLOCK] });
  assert.equal(
    error!.message,
    'it waits for an answer that is not given here: "Do you want to see the license? [yes/no]:"',
  );
});

// F2
Deno.test("IOS: the ROM monitor is told from a router that boots", async () => {
  assert.match((await on("rommon", { commands: [CLOCK] })).error!.message, /^it is in its ROM monitor/);
});

Deno.test("IOS: a restart does not save, and what follows it is not sent", async () => {
  const { results, error } = await on("reload", { lines: ["reload", "hostname never"] });
  assert.match(results[0]!.output, /%SYS-5-RELOAD/);
  assert.match(results[0]!.note!, /^The device restarts/);
  assert.equal(error!.message, "it restarts");
});

Deno.test("IOS: a long line of which the console shows only the end is typed all the same", async () => {
  const line =
    "ip route 10.20.30.0 255.255.255.0 GigabitEthernet0/1 10.0.0.254 250 name to-the-branch-office permanent";
  const { results } = await on("scrolled", { lines: [line] });
  assert.deepEqual(results.map(({ failed }) => failed), [undefined]);
});
