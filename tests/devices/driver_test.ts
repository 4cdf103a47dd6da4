// The engine on consoles that misbehave, and on a made-up router platform with modes, a pager and questions.
import assert from "node:assert/strict";
import { Channel } from "../../src/devices/channel.ts";
import { Driver, type DriverLimits } from "../../src/devices/driver.ts";
import type { Platform } from "../../src/devices/platform.ts";
import { vpcs } from "../../src/devices/platforms/vpcs.ts";
import { FakeConsole, type FakeConsoleOptions, ticking } from "./fake_console.ts";

const LIMITS: DriverLimits = { wakeMs: 3_000, commandMs: 1_500, restoreMs: 1_000, outputChars: 100_000 };
const { signal: never } = new AbortController();

async function on(
  console: FakeConsole,
  work: (driver: Driver) => Promise<void>,
  platform: Platform = vpcs,
  limits: Partial<DriverLimits> = {},
) {
  const channel = new Channel(console.connect());
  try {
    await work(new Driver(channel, platform, { ...LIMITS, ...limits }));
  } finally {
    await channel.close();
  }
}

const pc = (options: FakeConsoleOptions = {}) =>
  new FakeConsole({ commands: { "show ip": "NAME        : PC1[1]\r\n", ...options.commands }, ...options });

// F13
Deno.test("Driver finds the prompt of a PC with any name", async () => {
  for (const prompt of ["Alice> ", "VPCS> ", "PC1[1]> ", "bad;name> ", "上联> ", "R&D<1>> ", "🤖> "]) {
    await on(pc({ prompt }), async (driver) => {
      await driver.open(never);
      assert.equal((await driver.run("show ip", { signal: never })).output, "NAME        : PC1[1]");
    });
  }
});

// F10
Deno.test("Driver clears a half-typed line without running it, and says so", async () => {
  const console = pc({ line: "ip 6.6.6.6/24 and more than eight characters" });
  await on(console, async (driver) => {
    await driver.open(never);
    await driver.run("show ip", { signal: never });
    assert.match([...driver.notes].join(), /half-typed line.*cleared, not run/);
  });
  assert.deepEqual(console.ran, ["show ip"]);
});

Deno.test("Driver never runs a half-typed line that it cannot erase", async () => {
  const console = pc({ line: "ip 6.6.6.6/24 ".repeat(30) });
  await on(console, async (driver) => {
    await driver.open(never);
    await driver.run("show ip", { signal: never });
  });
  assert.deepEqual(console.ran, ["show ip"]);
});

// F10
Deno.test("Driver waits for a command that somebody else started, and does not stop it", async () => {
  const console = pc({ commands: { "show ip": "x\r\n", "ping": ticking("reply", 100, 5) } });
  console.type("ping\r");
  await on(console, async (driver) => {
    await driver.open(never);
    assert.equal((await driver.run("show ip", { signal: never })).output, "x");
  });
  assert.deepEqual(console.ran, ["ping", "show ip"]);
});

Deno.test("Driver gives up on a console that is busy for too long, tells what it shows, and leaves it running", async () => {
  let stopped = false;
  const console = pc({
    commands: {
      ping: async (out, running) => {
        running.interrupted.addEventListener("abort", () => stopped = true);
        await (ticking("reply", 100, 30) as (o: typeof out, r: typeof running) => Promise<void>)(
          out,
          running,
        );
      },
    },
  });
  console.type("ping\r");
  await on(
    console,
    async (driver) => {
      await assert.rejects(driver.open(never), {
        code: "unavailable",
        message: /no prompt for 1 s.*not started here \(last lines: .*reply seq=\d+/,
      });
      await driver.leave(never);
    },
    vpcs,
    { wakeMs: 1_000 },
  );
  assert.equal(stopped, false);
  console.type("\x03");
});

// F9, F14
Deno.test("Driver reports a console that says nothing", async () => {
  const console = pc();
  console.hung = true;
  await on(
    console,
    async (driver) => {
      await assert.rejects(driver.open(never), { code: "unavailable", message: /printed nothing for 1 s/ });
    },
    vpcs,
    { wakeMs: 600 },
  );
});

// F2
Deno.test("Driver waits while a device boots, and presses return again only into silence", async () => {
  const console = pc();
  console.hung = true;
  const boot = setInterval(() => console.print("booting...\r\n"), 100);
  const up = setTimeout(() => {
    clearInterval(boot);
    console.hung = false;
    console.print("\r\n\rPC1> ");
  }, 700);
  await on(console, async (driver) => {
    await driver.open(never);
    assert.equal((await driver.run("show ip", { signal: never })).failed, undefined);
  });
  clearTimeout(up);
  assert.deepEqual(console.ran, ["show ip"]);
});

// F1
Deno.test("Driver takes a line that looks like the prompt for output when more follows", async () => {
  const lines = ["PC1>", "x PC1> ", "Alice> ", "PC1> trailing", "last"];
  const console = pc({ bytewise: true, commands: { "show ip": `${lines.join("\r\n")}\r\n` } });
  await on(console, async (driver) => {
    await driver.open(never);
    const { output } = await driver.run("show ip", { signal: never });
    assert.deepEqual(output.split("\n"), lines.map((line) => line.trimEnd()));
  });
});

// F6
Deno.test("Driver stops a command at its limit, keeps what it printed, and the next command works", async () => {
  const console = pc({ commands: { "sleep 9": ticking("reply", 50), "show ip": "x\r\n" } });
  await on(
    console,
    async (driver) => {
      await driver.open(never);
      const ping = await driver.run("sleep 9", { signal: never });
      assert.match(ping.output, /^reply seq=1\nreply seq=2\n/);
      assert.ok(!ping.output.includes("PC1>") && !ping.output.includes("^C"), ping.output);
      assert.deepEqual([ping.stopped, ping.failed], [
        true,
        "It did not end by itself and was stopped after 1 s.",
      ]);
      assert.equal((await driver.run("show ip", { signal: never })).output, "x");
    },
    vpcs,
    { commandMs: 500 },
  );
});

Deno.test("Driver stops a command that prints without bound", async () => {
  const flood = ticking("x".repeat(5_000), 1);
  await on(
    pc({ commands: { flood } }),
    async (driver) => {
      await driver.open(never);
      const { failed, stopped } = await driver.run("flood", { signal: never });
      assert.deepEqual([stopped, failed], [true, "It printed more than 50000 characters and was stopped."]);
    },
    vpcs,
    { outputChars: 50_000 },
  );
});

Deno.test("Driver asks a device that prints without bound to stop now and then, not all the time", async () => {
  const sent: string[] = [];
  let printing: ReturnType<typeof setInterval> | undefined;
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const say = (text: string) => controller.enqueue(new TextEncoder().encode(text));
  const channel = new Channel({
    readable: new ReadableStream({ start: (c) => void (controller = c) }),
    writable: new WritableStream<Uint8Array>({
      write(bytes) {
        const keys = new TextDecoder().decode(bytes);
        sent.push(keys);
        if (printing) return;
        say(keys.includes("\r") ? "\r\nPC1> " : keys);
        if (sent.join("").endsWith("flood\r")) printing = setInterval(() => say("x".repeat(5_000)), 1);
      },
    }),
    close: () => {
      clearInterval(printing);
      controller.close();
      return Promise.resolve();
    },
  });
  const driver = new Driver(channel, vpcs, { ...LIMITS, outputChars: 50_000 });
  await driver.open(never);
  const { failed } = await driver.run("flood", { signal: never });
  assert.match(failed!, /printed more than 50000 characters .* did not return to its prompt/);
  const before = sent.length;
  await driver.leave(AbortSignal.abort()).catch(() => {});
  const interrupts = sent.slice(0, before).filter((keys) => vpcs.interrupt.includes(keys));
  assert.ok(interrupts.length > 0 && interrupts.length < 5, `${interrupts.length} interrupts`);
  await channel.close();
});

// F9
Deno.test("Driver sends nothing more after a command that could not be stopped", async () => {
  const stubborn = async (out: (text: string) => void) => {
    out("working\r\n");
    await new Promise((resolve) => setTimeout(resolve, 1_500));
  };
  const console = pc({ commands: { stubborn } });
  await on(
    console,
    async (driver) => {
      await driver.open(never);
      const { output, failed } = await driver.run("stubborn", { signal: never });
      assert.match(output, /^working/);
      assert.match(failed!, /was stopped after \d+ s\. The console did not return to its prompt\.$/);
      await assert.rejects(driver.run("show ip", { signal: never }), {
        code: "unavailable",
        message: /did not return to the prompt/,
      });
    },
    vpcs,
    { commandMs: 200, restoreMs: 400 },
  );
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  assert.deepEqual(console.ran, ["stubborn"]);
});

// F14
Deno.test("Driver keeps the partial output of a console that closes in the middle", async () => {
  const console: FakeConsole = pc({
    commands: {
      "show ip": async (out) => {
        out("first line\r\n");
        await new Promise((resolve) => setTimeout(resolve, 50));
        console.drop();
      },
    },
  });
  await on(console, async (driver) => {
    await driver.open(never);
    const { output, failed } = await driver.run("show ip", { signal: never });
    assert.equal(output, "first line");
    assert.match(failed!, /^The console closed while the command ran/);
  });
});

Deno.test("Driver does not press return on a line that somebody else types into, and tries again", async () => {
  const console = pc();
  await on(console, async (driver) => {
    await driver.open(never);
    const type = console.type.bind(console);
    let met = false;
    // The person's key comes in the middle of our word, once.
    console.type = (text) => {
      if (text !== "show ip" || met) return type(text);
      met = true;
      type("sho");
      type("Z");
      type("w ip");
    };
    const { output, failed } = await driver.run("show ip", { signal: never });
    assert.deepEqual([output, failed], ["NAME        : PC1[1]", undefined]);
    assert.match([...driver.notes].join(), /Somebody else types/);
  });
  assert.deepEqual(console.ran, ["show ip"]);
});

Deno.test("Driver does not send while somebody else is typing, and says so", async () => {
  const console = pc();
  await on(console, async (driver) => {
    await driver.open(never);
    console.type("ip 1");
    await new Promise((resolve) => setTimeout(resolve, 20));
    const { failed, notSent } = await driver.run("show ip", { signal: never });
    assert.deepEqual([notSent, failed], [true, "Not sent: somebody else is typing on this console."]);
    // Nor the next one, although nothing new came since.
    assert.equal((await driver.run("show ip", { signal: never })).notSent, true);
    console.type("\x7f\x7f\x7f\x7f");
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal((await driver.run("show ip", { signal: never })).output, "NAME        : PC1[1]");
  });
  assert.deepEqual(console.ran, ["show ip"]);
});

Deno.test("Driver types nothing behind what somebody has typed while our command ran", async () => {
  const console = pc({
    commands: {
      "show ip": "x\r\n",
      slow: (out) => {
        out("x\r\n");
        // Typed ahead: it stands behind the prompt as soon as that is there.
        setTimeout(() => console.type("no "), 15);
      },
    },
  });
  await on(console, async (driver) => {
    await driver.open(never);
    assert.equal((await driver.run("slow", { signal: never })).output, "x");
    const { failed, notSent } = await driver.run("show ip", { signal: never });
    assert.deepEqual([notSent, failed], [true, "Not sent: somebody else is typing on this console."]);
    console.type("\r");
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal((await driver.run("show ip", { signal: never })).output, "x");
  });
  assert.deepEqual(console.ran, ["slow", "no", "show ip"]);
});

Deno.test("Driver notices somebody who types after our command has ended", async () => {
  const console = pc({
    commands: {
      "show ip": (out) => {
        out("x\r\n");
        setTimeout(() => console.type("ab"), 15);
      },
    },
  });
  await on(console, async (driver) => {
    await driver.open(never);
    assert.equal((await driver.run("show ip", { signal: never })).output, "x");
    assert.match([...driver.notes].join(), /Somebody else types/);
  });
});

Deno.test("Driver.leave interrupts what an aborted call left running", async () => {
  const console = pc({ commands: { "ping -t": ticking("reply", 50) } });
  await on(console, async (driver) => {
    await driver.open(never);
    const stop = new AbortController();
    const running = driver.run("ping -t", { signal: stop.signal });
    setTimeout(() => stop.abort(new Error("enough")), 200);
    await assert.rejects(running, { message: "enough" });
    assert.equal(driver.busy, true);
    await driver.leave(never);
    assert.equal(driver.busy, false);
  });
});

/** Enough of a router to try modes, paging, questions and log lines; real ones have files of their own. */
const router: Platform = {
  ...vpcs,
  name: "router",
  modes: [
    { name: "user", prompt: /^[\w.-]+>$/ },
    { name: "exec", prompt: /^[\w.-]+#$/, from: "user", enter: "enable", leave: "disable" },
    {
      name: "config",
      prompt: /^[\w.-]+\(config\)#$/,
      from: "exec",
      enter: "configure terminal",
      leave: "end",
    },
  ],
  home: "exec",
  clear: "\x15",
  pager: { pattern: /^ ?--More--$/, more: " ", quit: "q" },
  questions: [{ pattern: /\[y\/n\]:?$/i, answer: "n\r" }, { pattern: /^Password:$/ }],
  failures: [/^% (?:Invalid|Incomplete)/],
  session: { paging: { off: "terminal length 0", on: "terminal length $1" } },
};

function routerConsole(prompt = "R1> ", more: FakeConsoleOptions["commands"] = {}): FakeConsole {
  const goes = (to: string) => () => void (console.prompt = to);
  const console: FakeConsole = new FakeConsole({
    prompt,
    clearKeys: "\x15",
    unknown: "% Invalid input detected at '^' marker.\r\n",
    commands: {
      enable: goes("R1# "),
      disable: goes("R1> "),
      end: goes("R1# "),
      "configure terminal": goes("R1(config)# "),
      "terminal length 0": "",
      "terminal length 24": "",
      "show run": "hostname R1\r\n description to R2#core\r\n",
      ...more,
    },
  });
  return console;
}

Deno.test("Driver walks to the home mode and leaves the console in the mode in which it was", async () => {
  for (const found of ["R1> ", "R1# ", "R1(config)# "]) {
    const console = routerConsole(found);
    await on(console, async (driver) => {
      await driver.open(never);
      assert.equal(console.prompt, "R1# ");
      assert.equal(
        (await driver.run("show run", { signal: never })).output,
        "hostname R1\n description to R2#core",
      );
      await driver.leave(never);
    }, router);
    assert.equal(console.prompt, found);
  }
});

Deno.test("Driver reports a mode that it cannot reach", async () => {
  const console = routerConsole("R1> ", { enable: "% Access denied\r\n" });
  await on(console, async (driver) => {
    await assert.rejects(driver.open(never), {
      code: "unavailable",
      message: /in "R1>" and did not go to its exec/,
    });
  }, router);
});

// F4
Deno.test("Driver pages through long output and drops the markers", async () => {
  const shown = ["a", "text --More--", "b", "c"];
  const console = routerConsole("R1# ", {
    "show run": async (out, { key }) => {
      for (const line of shown) {
        out(`${line}\r\n`);
        if (line === "c") return;
        out(" --More-- ");
        assert.equal(await key(), " ");
        out(`${"\b".repeat(9)}${" ".repeat(8)}${"\b".repeat(9)}`);
      }
    },
  });
  await on(console, async (driver) => {
    await driver.open(never);
    assert.deepEqual((await driver.run("show run", { signal: never })).output.split("\n"), shown);
  }, router);
});

// F5
Deno.test("Driver answers a question by its rule, and reports one that has none", async () => {
  const asks = (question: string, said: string[]): FakeConsoleOptions["commands"] => ({
    clear: async (out, { key }) => {
      out(question);
      for (let next = await key(); next; next = await key()) {
        said.push(next);
        if (next === "\r") break;
      }
      out("\r\n");
    },
  });
  const answered: string[] = [];
  await on(routerConsole("R1# ", asks("Clear all? [y/n]: ", answered)), async (driver) => {
    await driver.open(never);
    assert.equal((await driver.run("clear", { signal: never })).failed, undefined);
  }, router);
  assert.deepEqual(answered, ["n", "\r"]);
  const open: string[] = [];
  await on(routerConsole("R1# ", asks("Password: ", open)), async (driver) => {
    await driver.open(never);
    const result = await driver.run("clear", { signal: never });
    assert.equal(result.failed, 'The device waits for an answer: "Password:". The command was stopped.');
    assert.equal((await driver.run("show run", { signal: never })).failed, undefined);
  }, router);
  assert.deepEqual(open, []);
});

// F8
Deno.test("Driver reports the device's own error line, and does not take a log line for one", async () => {
  const log = "*Mar  1 00:01:02.123: %LINK-3-UPDOWN: Interface Gi0/1, changed state to up\r\n";
  const console = routerConsole("R1# ", { "show run": `${log}% 10.0.0.0 is subnetted\r\n` });
  await on(console, async (driver) => {
    await driver.open(never);
    assert.equal((await driver.run("show run", { signal: never })).failed, undefined);
    assert.equal(
      (await driver.run("banana", { signal: never })).failed,
      "% Invalid input detected at '^' marker.",
    );
    for (const again of ["R1# ", ""]) {
      console.print(`\r\n${log}${again}`);
      assert.equal((await driver.run("show run", { signal: never })).failed, undefined);
    }
    assert.deepEqual([...driver.notes], []);
  }, router);
});
