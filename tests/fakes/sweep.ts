// Looks for secrets in what a server leaves behind.
import assert from "node:assert/strict";
import { join } from "node:path";

/** The bytes of all files below a folder, by path, each byte a character. A file that goes away meanwhile is left out. */
export function filesBelow(dir: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const { name, isDirectory, isFile } of Deno.readDirSync(dir)) {
    const path = join(dir, name);
    try {
      if (isDirectory) filesBelow(path).forEach((text, file) => found.set(file, text));
      else if (isFile) found.set(path, new TextDecoder("latin1").decode(Deno.readFileSync(path)));
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return found;
}

/** Throws when a file below `dir`, or a log line, holds one of `secrets`. */
export function assertNoSecrets(dir: string, lines: readonly unknown[], secrets: readonly string[]): void {
  const texts = filesBelow(dir).set("the log", JSON.stringify(lines));
  for (const [where, text] of texts) {
    for (const secret of secrets) assert.ok(!text.includes(secret), `a key or a token is in ${where}`);
  }
}
