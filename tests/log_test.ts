// What a log line looks like, and that no secret gets into one.
import assert from "node:assert/strict";
import { createLogger, type LogOptions } from "../src/log.ts";

const TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbGljZSIsImV4cCI6MX0.c2lnbmF0dXJlLXNpZ25hdHVyZQ";

function capture(options: Partial<LogOptions> = {}) {
  const lines: string[] = [];
  const log = createLogger({
    level: "info",
    format: "json",
    now: () => new Date("2030-01-02T03:04:05.006Z"),
    write: (line) => lines.push(line),
    ...options,
  });
  return { log, lines, last: () => JSON.parse(lines.at(-1)!) };
}

Deno.test("a JSON line has time, level, msg and the fields of its loggers", () => {
  const { log, lines } = capture();
  log.child({ request_id: "r1" }).child({ user: "u" }).warn("Slow answer.", { ms: 12, gone: undefined });
  assert.deepEqual(lines, [
    '{"time":"2030-01-02T03:04:05.006Z","level":"warn","msg":"Slow answer.","request_id":"r1","user":"u","ms":12}\n',
  ]);
});

Deno.test("a field cannot pose as the line's level, time or message", () => {
  const { log, last } = capture();
  log.info("real", { level: "debug", msg: "forged", time: "never", ok: 1 });
  assert.deepEqual(last(), { time: "2030-01-02T03:04:05.006Z", level: "info", msg: "real", ok: 1 });
});

Deno.test("a pretty line is one line whatever the texts in it hold", () => {
  const { log, lines } = capture({ format: "pretty" });
  log.info("one\n2030 ERROR two \x1b[31mred", { name: "R1", why: 'a "b" c\r\n' });
  assert.deepEqual(lines, [
    '2030-01-02T03:04:05.006Z INFO  one\\n2030 ERROR two \\u001b[31mred name=R1 why="a \\"b\\" c\\r\\n"\n',
  ]);
});

Deno.test("only lines of the chosen level and above are written", () => {
  for (
    const [level, expected] of [
      ["error", ["error"]],
      ["warn", ["error", "warn"]],
      ["info", ["error", "warn", "info"]],
      ["debug", ["error", "warn", "info", "debug"]],
    ] as const
  ) {
    const { log, lines } = capture({ level });
    log.error("x");
    log.warn("x");
    log.info("x");
    log.debug("x");
    assert.deepEqual(lines.map((line) => JSON.parse(line).level), expected);
  }
});

Deno.test("tokens, keys and passwords are cut from messages", () => {
  const { log, last } = capture();
  const said = (message: string) => {
    log.info(message);
    return last().msg as string;
  };
  assert.equal(said(`Authorization: Bearer ${TOKEN} refused`), "Authorization: Bearer *** refused");
  assert.equal(said("authorization: bearer gns3-key-1234567890"), "authorization: bearer ***");
  assert.equal(said(`GNS3 said ${TOKEN}.`), "GNS3 said ***");
  assert.equal(
    said("ws://gns3:3080/v3/x/console/ws?token=abc.def&x=1"),
    "ws://gns3:3080/v3/x/console/ws?token=***&x=1",
  );
  assert.equal(said("https://m.example/v1?api-key=0123&y=2"), "https://m.example/v1?api-key=***&y=2");
  assert.equal(
    said("Incorrect API key provided: sk-proj-abcdefghijklmnop."),
    "Incorrect API key provided: ***.",
  );
  assert.equal(said("proxy http://bob:hunter22@proxy:8080 down"), "proxy http://***@proxy:8080 down");
  assert.equal(said('body {"api_key": "0123", "a": 1}'), 'body {"api_key": "***", "a": 1}');
  assert.equal(said('body "{\\"access_token\\":\\"xyz\\"}"'), 'body "{\\"access_token\\":\\"***\\"}"');
  assert.equal(said("a task-force of 12 sk-ies"), "a task-force of 12 sk-ies");
});

Deno.test("fields named like secrets are cut at every depth, counts of tokens are not", () => {
  const { log, last } = capture();
  log.info("x", {
    headers: { Authorization: "Basic abc", Cookie: "a=b", accept: "x" },
    config: [{ api_key: "k", apiKey: "k", console_password: "p", base_url: `http://h/?token=${TOKEN}` }],
    output_tokens: 12,
    max_tokens: 5,
    access_token: { raw: "z" },
  });
  const { headers, config, output_tokens, max_tokens, access_token } = last();
  assert.deepEqual(headers, { Authorization: "***", Cookie: "***", accept: "x" });
  assert.deepEqual(config, [{
    api_key: "***",
    apiKey: "***",
    console_password: "***",
    base_url: "http://h/?token=***",
  }]);
  assert.deepEqual([output_tokens, max_tokens, access_token], [12, 5, "***"]);
});

Deno.test("a registered secret is cut everywhere, for the parents of the logger too", () => {
  const { log, lines, last } = capture();
  log.child({ a: 1 }).secret("pa55/word+1");
  log.info("it is pa55/word+1 or pa55%2Fword%2B1", { deep: [{ x: "<pa55/word+1>" }] });
  assert.equal(last().msg, "it is *** or ***");
  assert.deepEqual(last().deep, [{ x: "<***>" }]);
  log.secret("short");
  log.info("a short word stays");
  assert.equal(last().msg, "a short word stays");
  assert.ok(!lines.join("").includes("pa55"));
});

Deno.test("a secret at the place where a long text is cut leaves nothing of itself", () => {
  const { log, last } = capture();
  log.secret("registered-secret-value");
  log.info("x".repeat(8_180) + "registered-secret-value" + "y".repeat(50_000));
  assert.ok(!last().msg.includes("registered"));
  assert.match(last().msg, /… \(\d+ more characters\)$/);
  assert.ok(last().msg.length < 8_300);
});

Deno.test("an error shows its name, message and causes, and its stack at debug only", () => {
  const error = new TypeError("no answer", { cause: new Error(`Bearer ${TOKEN}`) });
  const { log, last } = capture();
  log.error("Failed.", { error });
  assert.equal(last().error, "TypeError: no answer; caused by Error: Bearer ***");
  const debug = capture({ level: "debug" });
  debug.log.error("Failed.", { error });
  assert.match(debug.last().error, /^TypeError: no answer\n\s+at .*log_test\.ts/);
});

Deno.test("values that JSON cannot hold are shown, never thrown over", () => {
  const { log, last } = capture();
  const loop: Record<string, unknown> = { n: 10n, when: new Date(0), set: new Set([1]) };
  loop.self = loop;
  const error = new Error("a");
  error.cause = error;
  log.info("x", { loop, error });
  assert.equal(last().loop.n, "10");
  assert.equal(last().loop.when, "1970-01-01T00:00:00.000Z");
  assert.deepEqual(last().loop.set, [1]);
  assert.match(last().error, /^Error: a/);
});
