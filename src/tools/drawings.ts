// Tools that draw on the canvas: notes, and areas around groups of nodes.
import { z } from "zod";
import { AppError } from "../domain/error.ts";
import type { CopilotMode } from "../domain/model_config.ts";
import { colour, COLOUR_HINT, shapeSvg, textSvg } from "./svg.ts";
import { defineTool, type Tool, type ToolContext } from "./tool.ts";

const LAB: CopilotMode[] = ["lab_automation_assistant"];

const coordinate = z.int().min(-100_000).max(100_000);
const pixels = z.number().min(1).max(20_000);
const paint = z.string().max(40).transform((given, check) => {
  const found = colour(given);
  if (found) return found;
  check.addIssue({ code: "custom", message: `must be ${COLOUR_HINT}` });
  return z.NEVER;
});

/** Nodes are at 1: areas lie behind them, text before. */
const BEHIND = 0;
const BEFORE = 2;

export const textDrawing = defineTool({
  name: "create_gns3_text_drawing",
  description: "Writes a text on the canvas, for example an address plan or the name of an area.",
  input: z.object({
    x: coordinate.describe("left edge; nodes have the same coordinates"),
    y: coordinate.describe("upper edge; y grows downwards"),
    text: z.string().max(4_000).refine((text) => text.trim() !== "", "must not be blank").describe(
      "may have several lines",
    ),
    font_size: z.int().min(6).max(200).default(12).describe("points"),
    color: paint.default("#000000").describe("#rrggbb or a common name"),
    bold: z.boolean().default(false),
  }),
  risk: "change",
  modes: LAB,
  async run({ x, y, text, font_size, color, bold }, context) {
    const plain = text.replace(/\r\n?/g, "\n");
    return await draw(
      { x, y, z: BEFORE, svg: textSvg(plain, { size: font_size, colour: color, bold }) },
      context,
    );
  },
});

function shapeTool(kind: "rect" | "ellipse", noun: string): Tool {
  return defineTool({
    name: `create_gns3_${noun}_drawing`,
    description:
      `Draws ${noun === "ellipse" ? "an" : "a"} ${noun} behind the nodes, for example around an area. ` +
      "x and y are its upper left corner; a node's symbol is about 60 by 60 pixels, with its own x, y as upper left corner.",
    input: z.object({
      x: coordinate,
      y: coordinate,
      width: pixels.describe("pixels"),
      height: pixels.describe("pixels"),
      fill: paint.default("#ffffff").describe("#rrggbb or a common name"),
      fill_opacity: z.number().min(0).max(1).default(0.4).describe("0: only the border"),
      stroke: paint.default("#000000").describe("colour of the border"),
      stroke_width: z.number().min(0).max(100).default(2).describe("pixels"),
      dashed: z.boolean().default(false),
    }),
    risk: "change",
    modes: LAB,
    async run({ x, y, width, height, fill, fill_opacity, stroke, stroke_width, dashed }, context) {
      const svg = shapeSvg(kind, {
        width,
        height,
        fill,
        fillOpacity: fill_opacity,
        stroke,
        strokeWidth: stroke_width,
        dashed,
      });
      return await draw({ x, y, z: BEHIND, svg }, context);
    },
  });
}

export const rectangleDrawing = shapeTool("rect", "rectangle");
export const ellipseDrawing = shapeTool("ellipse", "ellipse");

/** GNS3 takes any text for a drawing and drops what it cannot parse without a word: so the drawing is read back. */
async function draw(
  wanted: { x: number; y: number; z: number; svg: string },
  { gns3, project: { project_id }, signal }: ToolContext,
) {
  const made = await gns3.drawings.create(project_id, wanted, signal);
  const { drawing_id, x, y, svg } = await gns3.drawings.get(project_id, made.drawing_id, signal);
  if (svg !== wanted.svg) {
    throw new AppError("conflict", `GNS3 took the drawing ${drawing_id} but did not keep its content.`);
  }
  const [, width, height] = /width="([\d.]+)" height="([\d.]+)"/.exec(svg)!;
  return { drawing_id, x, y, width: Number(width), height: Number(height) };
}
