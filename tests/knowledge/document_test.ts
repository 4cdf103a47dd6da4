// How a skill file is read: YAML, Markdown with front matter, and its sections.
import assert from "node:assert/strict";
import { readDocument, sectionsOf } from "../../src/knowledge/document.ts";

const read = (path: string, text: string) => readDocument({ path, text });

Deno.test("a YAML file is its values, a Markdown file its front matter and the text below", () => {
  assert.deepEqual(read("device/a.yaml", "# licence\nname: A\nlist: [1, no]\n"), {
    stem: "a",
    values: { name: "A", list: [1, "no"] },
    body: "",
  });
  assert.deepEqual(read("device/x/ospf.md", "\uFEFF---\r\nname: O\r\n---\r\n\r\n# Title\r\ntext\r\n"), {
    stem: "ospf",
    values: { name: "O" },
    body: "# Title\ntext",
  });
  assert.deepEqual(read("prompts/title.md", "Just text, and --- in it"), {
    stem: "title",
    values: {},
    body: "Just text, and --- in it",
  });
  assert.deepEqual(read("device/empty.md", "---\n---\nbody"), { stem: "empty", values: {}, body: "body" });
});

Deno.test("a file that is no skill is refused with half a sentence that says why", () => {
  const refused = (path: string, text: string, why: RegExp) =>
    assert.throws(() => read(path, text), { name: "AppError", message: why });
  refused("device/a.yaml", "name: [1, 2\n", /^not YAML: Flow sequence/);
  refused("device/a.yaml", "- a\n- b\n", /^the file must hold names and values$/);
  refused("device/a.yaml", "", /^the file must hold names and values$/);
  refused("device/a.md", "---\n- a\n---\n", /^the front matter must hold names and values$/);
  const lol = ["a: &a [x,x,x,x,x,x,x,x,x,x]"];
  for (const [name, of] of [..."bcdefg"].map((name, i) => [name, "abcdef"[i]])) {
    lol.push(`${name}: &${name} [${Array(10).fill(`*${of}`).join(",")}]`);
  }
  refused("device/a.yaml", lol.join("\n"), /^YAML that cannot be read$/);
  refused("device/a.yaml", `a: ${"[".repeat(100_000)}`, /YAML/);
});

Deno.test("a Markdown text is cut at its headings of level two, not at those in code", () => {
  const text =
    "intro\n\n## ospf: OSPF, one area\na\n```\n## no heading\n```\n## Saving the configuration ##\nb\n### c\n";
  assert.deepEqual(sectionsOf(text), {
    intro: "intro",
    sections: [
      { key: "ospf", title: "OSPF, one area", text: "a\n```\n## no heading\n```" },
      { key: "saving_the_configuration", title: "Saving the configuration", text: "b\n### c" },
    ],
  });
  assert.deepEqual(sectionsOf("## 路由\nx").sections, [{ key: "路由", title: "路由", text: "x" }]);
});
