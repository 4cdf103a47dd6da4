import assert from "node:assert/strict";
import { thinkSplitter } from "../../src/models/think_splitter.ts";

/** All pieces of an answer that comes in `texts`. */
function split(texts: readonly string[]) {
  const splitter = thinkSplitter();
  const pieces = [...texts.flatMap((text) => splitter.push(text)), ...splitter.end()];
  const all = (kind: "text" | "reasoning") => pieces.map((piece) => piece[kind] ?? "").join("");
  return { text: all("text"), reasoning: all("reasoning"), pieces: pieces.length };
}

Deno.test("thinkSplitter finds the block wherever the text is cut", () => {
  const text = "\n <think>hm <b></think>\n\nSo: <think> is a tag";
  for (let cut = 0; cut <= text.length; cut++) {
    const { text: answer, reasoning } = split([text.slice(0, cut), text.slice(cut)]);
    assert.deepEqual([answer, reasoning], ["So: <think> is a tag", "hm <b>"]);
  }
});

Deno.test("thinkSplitter loses nothing of an answer that ends before it is clear what it is", () => {
  assert.deepEqual(split(["<thi"]), { text: "<thi", reasoning: "", pieces: 1 });
  assert.deepEqual(split(["<think>so", "</thi"]), { text: "", reasoning: "so</thi", pieces: 2 });
  assert.deepEqual(split([" "]), { text: " ", reasoning: "", pieces: 1 });
});

Deno.test("thinkSplitter holds back only so many blanks", () => {
  const blanks = Array.from({ length: 5000 }, () => " ");
  const { text, pieces } = split(blanks);
  assert.equal(text, blanks.join(""));
  assert.ok(pieces > 3000, "most of them are given at once");
});
