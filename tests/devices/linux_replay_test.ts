// A real Linux console with a login and a shell, replayed one byte at a time.
import assert from "node:assert/strict";
import { replayed } from "./replaying.ts";
import { LAB_LOGIN, LINUX_SCENES } from "./scenes.ts";

async function scene(name: string) {
  const { platform, limits, credentials, commands } = LINUX_SCENES.find((one) => one.name === name)!;
  const known = {
    right: { credentials: LAB_LOGIN },
    wrong: { credentials: { ...LAB_LOGIN, password: "no" } },
    "": {},
  }[credentials ?? ""];
  return await replayed(`linux/${name}_3.1.0a7`, platform, { limits, commands, ...known });
}

// F6, F8, F23
Deno.test("Driver logs in to a real Linux host, runs commands, and logs out", async () => {
  const { of, notes } = await scene("login");
  assert.match(of("uname -a").output, /^Linux H1 6\.1\.0/);
  assert.match(
    of("ip addr show lo").output,
    /^1: lo: <LOOPBACK,UP,LOWER_UP>.*\n {4}inet 127\.0\.0\.1\/8 scope host lo\n/s,
  );
  assert.equal(of("bogus").failed, "-sh: bogus: not found");
  assert.equal(of("cat /nofile").failed, "cat: can't open '/nofile': No such file or directory");
  const long = [...Array(30).keys()].map((i) => `part${i}`).join(" ");
  assert.equal(of(`echo ${long}`).output, long);
  const ping = of("ping 127.0.0.1");
  assert.deepEqual([ping.stopped, ping.failed], [true, undefined]);
  assert.match(ping.output, /^PING 127.*seq=1.*ping statistics/s);
  assert.ok(!ping.output.includes("^C"));
  assert.equal(of("hostname").output, "H1");
  assert.deepEqual(notes, []);
});

// F23
Deno.test("Driver guesses nothing at a real login without credentials", async () => {
  const { error, results } = await scene("no_credentials");
  assert.match(
    error!.message,
    /^it needs credentials: its console asks for a login\. Set its default username/,
  );
  assert.deepEqual(results, []);
});

Deno.test("Driver tries credentials that are refused only once, and shows none of them", async () => {
  const { error } = await scene("wrong_credentials");
  assert.match(error!.message, /^it needs credentials: it does not accept those that GNS3 holds/);
  assert.ok(!error!.message.includes("root"));
});

// F10
Deno.test("Driver clears what somebody left on a real shell's line, and runs nothing of it", async () => {
  const { of, notes } = await scene("found_half_line");
  assert.equal(of("hostname").output, "H1");
  assert.deepEqual(notes, ["Somebody had left a half-typed line on this console; it was cleared, not run."]);
});

// F10
Deno.test("Driver gives a program that waits for a line one that means nothing, and not a bare return", async () => {
  assert.equal((await scene("found_program")).of("hostname").output, "H1");
});

Deno.test("Driver leaves a program alone that prints nothing and does not end, and reports it", async () => {
  const { error } = await scene("found_busy");
  assert.match(
    error!.message,
    /^it showed no prompt for 3 s: .* a command runs on it that was not started here/,
  );
});
