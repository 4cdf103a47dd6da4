// Reads one skill file: YAML, or Markdown with front matter.
import { parse, YAMLParseError } from "yaml";
import { AppError } from "../domain/error.ts";

/** A file in the layout of the public GNS3-Skills repository; `path` is relative, as `device/cisco_ios/ospf.yaml`. */
export interface SkillFile {
  path: string;
  text: string;
}

/** What stands in a file: named values, and the text of a Markdown file below them. */
export interface SkillDocument {
  /** The file's name without its extension. */
  stem: string;
  values: Record<string, unknown>;
  /** Empty for YAML. */
  body: string;
}

/** Throws `bad_request` with half a sentence that says what is wrong with the file. */
export function readDocument({ path, text }: SkillFile): SkillDocument {
  const stem = path.slice(path.lastIndexOf("/") + 1).replace(/\.\w+$/, "");
  const clean = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  if (!path.endsWith(".md")) return { stem, values: mapping(clean, "the file"), body: "" };
  const [whole = "", head = ""] = /^---[ \t]*\n([\s\S]*?\n)?---[ \t]*(?:\n|$)/.exec(clean) ?? [];
  return { stem, values: mapping(head, "the front matter"), body: clean.slice(whole.length).trim() };
}

function mapping(yaml: string, what: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parse(yaml, { maxAliasCount: 50, uniqueKeys: false, logLevel: "error" });
  } catch (error) {
    if (error instanceof YAMLParseError) {
      throw new AppError("bad_request", `not YAML: ${firstLine(error.message)}`);
    }
    // Too many aliases, or nested too deeply for the parser.
    throw new AppError("bad_request", "YAML that cannot be read", { cause: error });
  }
  if (value === null && what !== "the file") return {};
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new AppError("bad_request", `${what} must hold names and values`);
  }
  return value as Record<string, unknown>;
}

function firstLine(text: string): string {
  return text.split("\n")[0]!.replace(/:$/, "");
}

/** A part of a Markdown text that can be asked for by its key. */
export interface MarkdownSection {
  key: string;
  title: string;
  text: string;
}

/**
 * Cuts a Markdown text at its headings of level two. `## ospf: OSPF, single area` has the key `ospf`; other headings
 * give theirs by themselves (`## Saving the configuration` → `saving_the_configuration`).
 */
export function sectionsOf(markdown: string): { intro: string; sections: MarkdownSection[] } {
  const intro: string[] = [];
  const sections: { key: string; title: string; lines: string[] }[] = [];
  let fenced = false;
  for (const line of markdown.split("\n")) {
    if (/^\s*(```|~~~)/.test(line)) fenced = !fenced;
    const heading = fenced ? null : /^## +(?:([a-z0-9_-]{1,40}): +)?(.+?)[ #]*$/.exec(line);
    if (heading) sections.push({ key: heading[1] ?? slug(heading[2]!), title: heading[2]!, lines: [] });
    else (sections.at(-1)?.lines ?? intro).push(line);
  }
  return {
    intro: intro.join("\n").trim(),
    sections: sections.map(({ key, title, lines }) => ({ key, title, text: lines.join("\n").trim() })),
  };
}

function slug(title: string): string {
  const plain = title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "_").replace(/^_+|_+$/g, "");
  return plain.slice(0, 40) || "section";
}
