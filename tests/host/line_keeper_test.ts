// Which lines of a program's output are kept.
import assert from "node:assert/strict";
import { LineKeeper } from "../../src/host/line_keeper.ts";

function kept(text: string, options: Partial<ConstructorParameters<typeof LineKeeper>[0]>, step = 3) {
  const keeper = new LineKeeper({ header: 0, most: 1_000, ...options });
  for (let at = 0; at < text.length; at += step) if (!keeper.add(text.slice(at, at + step))) break;
  return { ...keeper.end(), full: keeper.full };
}

const TEXT = "head\none\n\ntwo\nthree";

Deno.test("LineKeeper keeps everything, and does not count blank lines", () => {
  assert.deepEqual(kept(TEXT, {}), { output: TEXT, lines: 4, outputCut: false, full: false });
  assert.deepEqual(kept("", {}), { output: "", lines: 0, outputCut: false, full: false });
});

Deno.test("LineKeeper keeps the first or the last lines, and column names with both", () => {
  assert.deepEqual(kept(TEXT, { first: 2 }), { output: "head\none", lines: 2, outputCut: false, full: true });
  assert.deepEqual(kept(TEXT, { first: 1, header: 1 }).output, "head\none");
  assert.deepEqual(kept(TEXT, { last: 2 }), {
    output: "two\nthree",
    lines: 2,
    outputCut: false,
    full: false,
  });
  assert.deepEqual(kept(TEXT, { last: 1, header: 1 }).output, "head\nthree");
  assert.deepEqual(kept("head\n", { header: 1 }), {
    output: "head",
    lines: 0,
    outputCut: false,
    full: false,
  });
});

Deno.test("LineKeeper is bounded: by all it keeps, and by one endless line", () => {
  const many = kept("123456789\n".repeat(50), { most: 100 });
  assert.equal(many.outputCut && many.full, true);
  assert.ok(many.output.length <= 110);
  const last = kept("123456789\n".repeat(50) + "end", { most: 100, last: 40 });
  assert.ok(last.outputCut && last.output.endsWith("\nend") && last.output.length <= 110);
  const endless = kept("x".repeat(10_000), { most: 100 }, 64);
  assert.ok(endless.outputCut && endless.output.length <= 200);
});
