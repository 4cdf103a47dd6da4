// SVG for GNS3's canvas: escaped text, checked colours, sizes in pixels.

/** Names that people use; GNS3's own editors want `#rrggbb`. */
const COLOURS: Readonly<Record<string, string>> = {
  black: "#000000",
  white: "#ffffff",
  red: "#ff0000",
  green: "#008000",
  lightgreen: "#90ee90",
  blue: "#0000ff",
  lightblue: "#add8e6",
  yellow: "#ffff00",
  lightyellow: "#ffffe0",
  orange: "#ffa500",
  purple: "#800080",
  pink: "#ffc0cb",
  brown: "#a52a2a",
  gray: "#808080",
  grey: "#808080",
  lightgray: "#d3d3d3",
  lightgrey: "#d3d3d3",
  cyan: "#00ffff",
  magenta: "#ff00ff",
};

/** `#rrggbb` for `#rgb`, `#rrggbb` or a common name; undefined for anything else. */
export function colour(given: string): string | undefined {
  const text = given.trim().toLowerCase();
  if (/^#[0-9a-f]{6}$/.test(text)) return text;
  if (/^#[0-9a-f]{3}$/.test(text)) return text.replace(/[0-9a-f]/g, "$&$&");
  return Object.hasOwn(COLOURS, text) ? COLOURS[text] : undefined;
}

export const COLOUR_HINT = `#rrggbb or one of ${Object.keys(COLOURS).join(", ")}`;

export interface TextStyle {
  /** In points, as GNS3 counts it. */
  size: number;
  colour: string;
  bold: boolean;
}

/** Text in GNS3's own form: one `text` element whose lines are separated by line feeds. */
export function textSvg(text: string, { size, colour, bold }: TextStyle): string {
  const lines = text.split("\n");
  // A letter of GNS3's typewriter font is about 0.6 em wide, wide scripts 1 em; an em is 4/3 of a pixel a point.
  const em = size * 4 / 3;
  const width = Math.ceil(Math.max(...lines.map(columns)) * em * 0.6 + em / 2);
  const height = Math.ceil(lines.length * em * 1.4 + em / 2);
  const weight = bold ? ' font-weight="bold"' : "";
  return `<svg width="${width}" height="${height}"><text font-family="TypeWriter" font-size="${size}"${weight} ` +
    `fill="${colour}" fill-opacity="1.0">${escaped(text)}</text></svg>`;
}

export interface ShapeStyle {
  width: number;
  height: number;
  fill: string;
  fillOpacity: number;
  stroke: string;
  strokeWidth: number;
  dashed: boolean;
}

/** A rectangle or an ellipse that fills `width` × `height` pixels. */
export function shapeSvg(kind: "rect" | "ellipse", style: ShapeStyle): string {
  const { width, height, fill, fillOpacity, stroke, strokeWidth, dashed } = style;
  const place = kind === "rect"
    ? `width="${width}" height="${height}"`
    : `cx="${width / 2}" cy="${height / 2}" rx="${width / 2}" ry="${height / 2}"`;
  // One of the patterns that GNS3's editors know by name.
  const dashes = dashed ? ' stroke-dasharray="25, 25"' : "";
  return `<svg width="${width}" height="${height}"><${kind} ${place} fill="${fill}" fill-opacity="${fillOpacity}" ` +
    `stroke="${stroke}" stroke-width="${strokeWidth}"${dashes}/></svg>`;
}

/** Text as XML takes it: markup escaped, what no XML may hold left out. */
export function escaped(text: string): string {
  return text.toWellFormed()
    // deno-lint-ignore no-control-regex -- these are what XML 1.0 forbids (section 2.2)
    .replace(/[\x00-\x08\x0b-\x1f\ufffe\uffff]/g, "")
    .replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}

/** Columns of a line: scripts such as Chinese take two. */
function columns(line: string): number {
  let count = 0;
  for (const char of line) {
    count += /[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]/.test(char) ? 1.7 : 1;
  }
  return count;
}
