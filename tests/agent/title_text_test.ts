import assert from "node:assert/strict";
import { cleanTitle, firstWords, MAX_TITLE, titleText } from "../../src/agent/title_text.ts";

for (
  const [answer, title] of [
    ["OSPF between R1 and R2", "OSPF between R1 and R2"],
    ['"OSPF between R1 and R2"', "OSPF between R1 and R2"],
    ["“OSPF basics”.", "OSPF basics"],
    ["「OSPF 入门」", "OSPF 入门"],
    ["**OSPF basics**", "OSPF basics"],
    ["# OSPF basics", "OSPF basics"],
    ["- OSPF basics", "OSPF basics"],
    ["Title: OSPF basics", "OSPF basics"],
    ['**Title:** "OSPF basics"', "OSPF basics"],
    ["标题：路由配置", "路由配置"],
    ["OSPF basics.", "OSPF basics"],
    ["\n\n  OSPF\tbasics  \nHere is why", "OSPF basics"],
    ["```\nOSPF basics\n```", "OSPF basics"],
    ["R1's console", "R1's console"],
    // D12
    ["<think>The user wants…</think>OSPF basics", "OSPF basics"],
    ["<think>a</think>\n<thinking>b</thinking>\nOSPF basics", "OSPF basics"],
    ["the user wants</think>\n\nOSPF basics", "OSPF basics"],
    ["<think>The user wants a title", ""],
    ["OSPF basics <think>unclosed", "OSPF basics"],
    ["", ""],
    ["...", ""],
    ['""', ""],
    ["a\u0000b\u200bc\u202ed", "a b c d"],
  ] as const
) {
  Deno.test(`cleanTitle makes ${JSON.stringify(title)} of ${JSON.stringify(answer)}`, () => {
    assert.equal(cleanTitle(answer), title);
  });
}

Deno.test("cleanTitle cuts after a word where it can", () => {
  // A16
  const title = cleanTitle(
    "Configuring OSPF with multiple areas and route summarisations between the branch offices",
  );
  assert.equal(title, "Configuring OSPF with multiple areas and route");
  const exact = `${"word ".repeat(11)}words`;
  assert.equal(exact.length, 60);
  assert.equal(cleanTitle(`${exact} more`), exact);
  assert.equal(cleanTitle(exact), exact);
});

Deno.test("cleanTitle never cuts a character in half", () => {
  // A16
  const family = "👨‍👩‍👧‍👦";
  const title = cleanTitle(`x${family.repeat(10)}`);
  assert.equal(title, `x${family.repeat(5)}`);
  assert.ok(title.length <= MAX_TITLE && title.isWellFormed());
  assert.equal(cleanTitle("é".normalize("NFD").repeat(40)), "é".normalize("NFD").repeat(30));
  assert.equal(cleanTitle("路".repeat(80)), "路".repeat(60));
  assert.ok(cleanTitle("a \ud83d").isWellFormed());
});

Deno.test("cleanTitle comes to an end on an answer of nothing but tags", () => {
  // Looked through as a whole this would take minutes.
  assert.equal(cleanTitle("<think>".repeat(500_000)), "");
  assert.equal(cleanTitle("<think>a</think>\nA title"), "A title");
});

Deno.test("titleText falls back to the user's first words, then to a fixed title", () => {
  // D12
  assert.equal(titleText("<think>hm", "Why is R1\nnot reachable?"), "Why is R1 not reachable?");
  assert.equal(titleText("", " \n "), "New conversation");
  assert.equal(titleText("Good title", "whatever"), "Good title");
  assert.equal(firstWords("please ".repeat(20)), "please please please please please please please please");
});
