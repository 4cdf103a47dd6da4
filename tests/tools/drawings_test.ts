// Drawings: that the SVG is valid, whatever the text, and that GNS3 has it.
import assert from "node:assert/strict";
import { colour, escaped } from "../../src/tools/svg.ts";
import { practiceLab } from "./practice.ts";

const drawn = async (lab: Awaited<ReturnType<typeof practiceLab>>, id: string) =>
  await lab.api("GET", `/drawings/${id}`);

Deno.test("create_gns3_text_drawing writes text that no markup in it can break", async () => {
  await using lab = await practiceLab();
  const text = 'a < b & "c" </text>\r\n<script>é 中 😀 \u0007\ud800';
  const made = await lab.call("create_gns3_text_drawing", {
    x: -100,
    y: 40,
    text,
    font_size: 20,
    color: "Red",
    bold: true,
  });
  const { svg, x, y, z } = await drawn(lab, made.drawing_id);
  assert.deepEqual([x, y, z], [-100, 40, 2]);
  assert.equal(
    svg,
    `<svg width="${made.width}" height="${made.height}"><text font-family="TypeWriter" font-size="20" ` +
      'font-weight="bold" fill="#ff0000" fill-opacity="1.0">' +
      "a &lt; b &amp; &quot;c&quot; &lt;/text&gt;\n&lt;script&gt;é 中 😀 \ufffd</text></svg>",
  );
  // Two lines of 20 points, 20 columns of 0.6 em.
  assert.ok(
    made.width > 300 && made.width < 400 && made.height > 70 && made.height < 110,
    JSON.stringify(made),
  );
});

Deno.test("shapes lie behind the nodes and have sensible defaults", async () => {
  await using lab = await practiceLab();
  const rectangle = await lab.call("create_gns3_rectangle_drawing", { x: 0, y: 0, width: 300, height: 120 });
  assert.deepEqual(await drawn(lab, rectangle.drawing_id).then(({ svg, z }) => [svg, z]), [
    '<svg width="300" height="120"><rect width="300" height="120" fill="#ffffff" fill-opacity="0.4" ' +
    'stroke="#000000" stroke-width="2"/></svg>',
    0,
  ]);
  assert.deepEqual([rectangle.width, rectangle.height], [300, 120]);
  const ellipse = await lab.call("create_gns3_ellipse_drawing", {
    x: 5,
    y: 6,
    width: 101,
    height: 50,
    fill: "#ABC",
    fill_opacity: 0,
    stroke: "blue",
    stroke_width: 3,
    dashed: true,
  });
  assert.equal(
    (await drawn(lab, ellipse.drawing_id)).svg,
    '<svg width="101" height="50"><ellipse cx="50.5" cy="25" rx="50.5" ry="25" fill="#aabbcc" fill-opacity="0" ' +
      'stroke="#0000ff" stroke-width="3" stroke-dasharray="25, 25"/></svg>',
  );
});

Deno.test("what is no colour, no size or no text is refused by name before GNS3 is asked", async () => {
  await using lab = await practiceLab();
  const base = { x: 0, y: 0, width: 10, height: 10 };
  const why = async (name: string, args: unknown) => (await lab.call(name, args)).error;
  assert.match(
    await why("create_gns3_rectangle_drawing", { ...base, fill: 'red" onload="x' }),
    /fill: must be #rrggbb or one of black,/,
  );
  assert.match(await why("create_gns3_ellipse_drawing", { ...base, width: 0 }), /width: /);
  assert.match(
    await why("create_gns3_text_drawing", { x: 0, y: 0, text: " \n " }),
    /text: must not be blank/,
  );
  assert.match(await why("create_gns3_text_drawing", { x: 0.5, y: 0, text: "a" }), /x: /);
  assert.deepEqual(await lab.api("GET", "/drawings"), []);
});

Deno.test("a drawing whose content GNS3 dropped is a failure", async () => {
  await using lab = await practiceLab();
  const { drawings } = lab.context.gns3;
  const get = drawings.get;
  drawings.get = async (...args) => ({ ...await get(...args), svg: "<svg></svg>" });
  const { error } = await lab.call("create_gns3_text_drawing", { x: 0, y: 0, text: "a" });
  assert.match(error, /did not keep its content/);
});

Deno.test("colour and escaped", () => {
  assert.deepEqual(["#FFF", "#a1B2c3", " Grey ", "constructor", "#ff", "rgb(0,0,0)"].map(colour), [
    "#ffffff",
    "#a1b2c3",
    "#808080",
    undefined,
    undefined,
    undefined,
  ]);
  assert.equal(escaped("a\tb\nc\u0000\u001b\uffff"), "a\tb\nc");
});
