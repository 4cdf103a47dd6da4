// Reads the files of a skills folder: only what has a place in its layout, only inside of it, and only so much.
import { join, sep } from "node:path";
import { AppError } from "../domain/error.ts";
import type { SkillFile } from "./document.ts";
import type { Problem } from "./skill_set.ts";

/** How much is read; far more than the public repository holds. */
export interface FolderLimits {
  files: number;
  fileBytes: number;
  totalBytes: number;
}

export const FOLDER_LIMITS: FolderLimits = {
  files: 2_000,
  fileBytes: 512 * 1024,
  totalBytes: 16 * 1024 * 1024,
};

/** Folder → the names of the files that count in it, and whether it may have folders of its own. */
const LAYOUT: Readonly<Record<string, { names: RegExp; split?: boolean }>> = {
  device: { names: /\.(ya?ml|md)$/, split: true },
  feature: { names: /\.(ya?ml|md)$/, split: true },
  injection: { names: /\.(ya?ml|md)$/ },
  packet_analysis: { names: /\.(ya?ml|md)$/ },
  prompts: { names: /\.md$/ },
  config: { names: /^forbidden_commands\.txt$/ },
};
const NO_SKILL = /^(\.|readme\.|license|changelog\.)/i;

/** The folder's files in the order of their paths, and what was left out. Throws `unavailable` without the folder. */
export async function readFolder(
  dir: string,
  limits: FolderLimits = FOLDER_LIMITS,
): Promise<{ files: SkillFile[]; problems: Problem[] }> {
  const problems: Problem[] = [];
  const root = await rootOf(dir);
  const paths: string[] = [];
  for (const [folder, { names, split }] of Object.entries(LAYOUT)) {
    for (const name of await namesIn(root, folder, problems)) {
      if (names.test(name)) paths.push(`${folder}/${name}`);
      else if (split && !name.includes(".")) {
        const inner = await namesIn(root, `${folder}/${name}`, problems);
        paths.push(...inner.filter((one) => names.test(one)).map((one) => `${folder}/${name}/${one}`));
      }
    }
  }
  const files: SkillFile[] = [];
  let total = 0;
  for (const path of paths) {
    if (files.length >= limits.files || total >= limits.totalBytes) {
      problems.push({ file: path, problem: "left out with all that follow: the folder holds too much" });
      break;
    }
    try {
      const text = await readText(root, path, limits.fileBytes);
      if (text === undefined) continue;
      total += text.length;
      files.push({ path, text });
    } catch (error) {
      problems.push({ file: path, problem: error instanceof AppError ? error.message : "it cannot be read" });
    }
  }
  return { files, problems };
}

async function rootOf(dir: string): Promise<string> {
  try {
    const root = await Deno.realPath(dir);
    if ((await Deno.stat(root)).isDirectory) return root;
  } catch {
    // Told below: the folder's path is nothing for an answer.
  }
  throw new AppError(
    "unavailable",
    "The skills folder (--skills-dir) cannot be read. The skills stay as they were.",
  );
}

/** The names in a folder, the base of a device first, then in order. A folder that is not there has none. */
async function namesIn(root: string, folder: string, problems: Problem[]): Promise<string[]> {
  const names: string[] = [];
  try {
    const path = await inside(root, folder);
    for await (const { name } of Deno.readDir(path)) if (!NO_SKILL.test(name)) names.push(name);
  } catch (error) {
    if (error instanceof AppError) problems.push({ file: folder, problem: error.message });
    // A plain file without an extension is no folder of topics.
    else if (!(error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory)) {
      problems.push({ file: folder, problem: "it cannot be read" });
    }
  }
  return names.sort((a, b) => Number(b.startsWith("_")) - Number(a.startsWith("_")) || (a < b ? -1 : 1));
}

/** The real path of something in the folder. Throws `forbidden` when a symbolic link leads out of it. */
async function inside(root: string, path: string): Promise<string> {
  let real: string;
  try {
    real = await Deno.realPath(join(root, path));
  } catch (error) {
    // The Worker may not even look outside.
    if (error instanceof Deno.errors.NotCapable) throw outside();
    throw error;
  }
  if (!real.startsWith(root.endsWith(sep) ? root : root + sep)) throw outside();
  return real;
}

/** A file's text, read through what was checked; undefined for what is no file. */
async function readText(root: string, path: string, limit: number): Promise<string | undefined> {
  using file = await Deno.open(await inside(root, path));
  const { isFile, size } = await file.stat();
  if (!isFile) return undefined;
  if (size > limit) throw new AppError("too_large", `larger than ${Math.round(limit / 1024)} kB`);
  const bytes = new Uint8Array(size);
  let read = 0;
  while (read < size) {
    const count = await file.read(bytes.subarray(read));
    if (count === null) break;
    read += count;
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, read));
  } catch {
    throw new AppError("bad_request", "not UTF-8 text");
  }
}

function outside(): AppError {
  return new AppError("forbidden", "a symbolic link that leads out of the skills folder");
}
