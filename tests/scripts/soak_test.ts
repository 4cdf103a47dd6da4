import assert from "node:assert/strict";
import { type Sample, timesCount, verdicts } from "../../scripts/soak/samples.ts";
import { choose, seeded } from "../../scripts/soak/random.ts";

const flat: Sample = {
  seconds: 0,
  rss: 200,
  files: 100,
  connections: 100,
  databases: 5,
  starved: 0,
  turns: 10,
  firstP95: 20,
  shortP95: 50,
};
const samples = (change: (at: number) => Partial<Sample>) =>
  Array.from({ length: 30 }, (_, at) => ({ ...flat, ...change(at) }));
const rising = (list: Sample[]) => verdicts(list).filter(({ level }) => !level).map(({ name }) => name);

Deno.test("a soak's verdict tells a curve that rises from one that has levelled off", () => {
  assert.deepEqual(rising(samples(() => ({}))), []);
  assert.deepEqual(rising(samples((at) => ({ rss: 200 + Math.min(at, 10) * 20 }))), []);
  assert.deepEqual(rising(samples((at) => ({ rss: 200 + at * 20 }))), ["rss"]);
  assert.deepEqual(
    rising(samples((at) => ({ files: 100 + at * 3, connections: 100 + at * 30, databases: 5 + at }))),
    ["files", "connections", "databases"],
  );
  assert.deepEqual(rising(samples((at) => ({ firstP95: at < 20 ? 20 : 500, shortP95: NaN }))), ["firstP95"]);
});

Deno.test("times count only where the server had a processor when it wanted one", () => {
  assert.equal(timesCount(samples((at) => ({ starved: at % 10 === 0 ? 0.9 : 0.01 }))), true);
  assert.equal(timesCount(samples(() => ({ starved: 0.7 }))), false);
});

Deno.test("chance comes again with its seed, and keeps to its weights", () => {
  const numbers = (seed: number) => {
    const random = seeded(seed);
    return Array.from({ length: 1000 }, () => choose(random, [[3, "a"], [1, "b"], [0, "never"]]));
  };
  assert.deepEqual(numbers(1), numbers(1));
  assert.notDeepEqual(numbers(1), numbers(2));
  const often = numbers(1).filter((one) => one === "a").length;
  assert.ok(often > 650 && often < 850, `${often} of 1000`);
  assert.ok(!numbers(1).includes("never"));
});

Deno.test("30 users who do everything at once for a minute leave a server that is well and has not grown", async () => {
  const root = new URL("../../", import.meta.url).pathname;
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "scripts/soak.ts", "--minutes", "1", "--users", "30", "--untimed"],
    cwd: root,
  }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assert.equal(code, 0, `${out}\n${err}`);
  assert.match(out!, /The server levels off/);
});
