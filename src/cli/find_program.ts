// Looks for a program as a shell would.
import { delimiter, join } from "node:path";

/** The full path of the first file called `name` in the directories of `path` (PATH); undefined when there is none. */
export function findProgram(name: string, path: string | undefined): string | undefined {
  const names = Deno.build.os === "windows" ? [`${name}.exe`] : [name];
  for (const folder of (path ?? "").split(delimiter)) {
    if (folder === "") continue;
    for (const file of names.map((one) => join(folder, one))) if (isProgram(file)) return file;
  }
  return undefined;
}

function isProgram(file: string): boolean {
  try {
    const { isFile, mode } = Deno.statSync(file);
    return isFile && (mode === null || (mode & 0o111) !== 0);
  } catch {
    return false;
  }
}
