import assert from "node:assert/strict";
import { formatJson, isBlank, pairedText, wellFormed, wellFormedFrom } from "../../src/domain/unicode.ts";

Deno.test("pairedText joins a character that was cut between pieces, and never gives half of one", () => {
  const text = "a😀b🏴‍☠️";
  for (let cut = 0; cut <= text.length; cut++) {
    const paired = pairedText();
    const pieces = [
      paired.push(text.slice(0, cut)),
      paired.push(""),
      paired.push(text.slice(cut)),
      paired.end(),
    ];
    assert.equal(pieces.join(""), text);
    assert.ok(pieces.every((piece) => piece.isWellFormed()));
  }
});

Deno.test("pairedText gives U+FFFD for a half whose other half never comes", () => {
  const paired = pairedText();
  const pieces = ["x\ud83d", "y", "\ude00z", "\ud83d", "\ud83d", "\ude00", "\ud83d"].map((text) =>
    paired.push(text)
  );
  assert.deepEqual([...pieces, paired.end(), paired.end()], [
    "x",
    "\ufffdy",
    "\ufffdz",
    "",
    "\ufffd",
    "😀",
    "",
    "\ufffd",
    "",
  ]);
});

Deno.test("wellFormed mends texts and keys at every level and leaves everything else", () => {
  const given = { "k\ud83d": ["\ude00", { a: "😀", n: 1, b: null, c: true }] };
  assert.deepEqual(wellFormed(given), { "k\ufffd": ["\ufffd", { a: "😀", n: 1, b: null, c: true }] });
});

Deno.test("JSON that writes halves as escapes is mended, and JSON without them is not touched", () => {
  const mended = (text: string) => wellFormedFrom(text, JSON.parse(text));
  assert.deepEqual(mended('["\\ud83d", "\\uD83D\\ude00", "\\\\ud83d"]'), ["\ufffd", "😀", "\\ud83d"]);
  const value = { a: "😀" };
  assert.equal(wellFormedFrom('{"a":"😀"}', value), value);
  assert.equal(formatJson({ a: "\ud83d", b: "\\ud83d" }), '{"a":"\ufffd","b":"\\\\ud83d"}');
});

Deno.test("isBlank knows every text of which nothing can be seen", () => {
  for (
    const text of [
      "",
      " \n\t",
      "\u200b\u200d\ufeff",
      "\0\x07",
      "\u2060\u00ad\u3164",
      "\u202e",
      "\u2800",
      "\u00a0\u3000",
    ]
  ) {
    assert.ok(isBlank(text), JSON.stringify(text));
  }
  for (const text of ["a", "\u200b.", "👩‍👩‍👧", "\ufffd", "é"]) assert.ok(!isBlank(text), JSON.stringify(text));
});
