// Opens a capture file so that it is certainly the one that was meant, whatever anybody swaps in meanwhile.
import { sep } from "node:path";
import { AppError } from "../domain/error.ts";

/** First bytes of pcap files, either byte order, micro- and nanoseconds, and of pcapng (tcpdump.org, pcapng.com). */
const MAGIC = ["d4c3b2a1", "a1b2c3d4", "4d3cb2a1", "a1b23c4d", "0a0d0d0a"];
const MAGIC_BYTES = 4;

/**
 * Opens `path` for reading and gives its size now. Links are resolved before; the file must lie in `within`, that in
 * `projectsDir`, and what is open must be what lies there. Throws `not_found` and `forbidden`; no message names a path.
 */
export async function openCapture(
  path: string,
  within: string,
  projectsDir: string,
): Promise<{ file: Deno.FsFile; size: number }> {
  let file: Deno.FsFile | undefined;
  try {
    const [root, folder, real] = await Promise.all(
      [projectsDir, within, path].map((one) => Deno.realPath(one)),
    );
    if (!inside(folder!, root!) || !inside(real!, folder!)) throw foreign();
    file = await Deno.open(real!, { read: true });
    const [opened, there, again] = await Promise.all([file.stat(), Deno.lstat(real!), Deno.realPath(path)]);
    if (again !== real || !there.isFile || opened.ino !== there.ino || opened.dev !== there.dev) {
      throw foreign();
    }
    return { file, size: opened.size };
  } catch (error) {
    file?.close();
    if (error instanceof AppError) throw error;
    if (error instanceof Deno.errors.NotFound) {
      throw new AppError(
        "not_found",
        "The capture's file is not there: it was deleted, or lies on another machine.",
      );
    }
    throw new AppError("forbidden", "The capture's file cannot be read by the user that runs GNS3 Copilot.");
  }
}

/** Throws `bad_request` when these first bytes of a file are not a capture's. Fewer than four say nothing yet. */
export function checkMagic(head: Uint8Array): void {
  if (head.length < MAGIC_BYTES) return;
  if (MAGIC.includes(head.subarray(0, MAGIC_BYTES).toHex())) return;
  throw new AppError("bad_request", "The capture's file is not a packet capture (neither pcap nor pcapng).");
}

function inside(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function foreign(): AppError {
  return new AppError(
    "forbidden",
    "The capture's file does not lie in this project's folder; it is not read.",
  );
}
