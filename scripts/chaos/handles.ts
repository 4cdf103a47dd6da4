// What a server's process has open, as the operating system tells it.
import type { ProcessStage } from "./stage.ts";

export interface Handles {
  /** Everything but connections. */
  files: number;
  /** Connections that the server has made itself. */
  outward: number;
  /** Connections whose client has hung up, which the server has not closed. */
  unnoticed: number;
}

const CLOSE_WAIT = "08";

export function handlesOf({ pid, url }: Pick<ProcessStage, "pid" | "url">): Handles {
  const own = Number(new URL(url).port);
  const sockets = socketsOf(pid);
  const found: Handles = { files: 0, outward: 0, unnoticed: 0 };
  for (const { name } of Deno.readDirSync(`/proc/${pid}/fd`)) {
    const target = linkOf(`/proc/${pid}/fd/${name}`);
    if (target === undefined) continue;
    const socket = sockets.get(/^socket:\[(\d+)\]$/.exec(target)?.[1] ?? "");
    if (!target.startsWith("socket:")) found.files++;
    else if (socket && socket.port !== own) found.outward++;
    else if (socket?.state === CLOSE_WAIT) found.unnoticed++;
  }
  return found;
}

/** TCP sockets by inode: the local port, and the state as the kernel writes it. */
function socketsOf(pid: number): Map<string, { port: number; state: string }> {
  const sockets = new Map<string, { port: number; state: string }>();
  for (const line of Deno.readTextFileSync(`/proc/${pid}/net/tcp`).split("\n").slice(1)) {
    const [, local = "", , state = "", , , , , , inode = ""] = line.trim().split(/\s+/);
    sockets.set(inode, { port: parseInt(local.split(":")[1] ?? "", 16), state });
  }
  return sockets;
}

/** Undefined for what has been closed meanwhile. */
function linkOf(path: string): string | undefined {
  try {
    return Deno.readLinkSync(path);
  } catch {
    return undefined;
  }
}
