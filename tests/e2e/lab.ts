// A real GNS3 server with real devices, started by `tests/lab/lab.py`.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { hasProgram, isFile, type Missing } from "./needs.ts";

const SCRIPT = fileURLToPath(new URL("../lab/lab.py", import.meta.url));

/** A node of the lab's project; `console` is its telnet port, null where it has none. */
export interface LabNode {
  name: string;
  node_id: string;
  node_type: string;
  status: string;
  console: number | null;
  console_type: string;
  console_host: string;
}

/** A running lab. `alice` sees only `project`, `bob` only `other_project`, `admin` everything; both are open. */
export interface Lab {
  base_url: string;
  /** GNS3's own version, such as `3.1.0a7`. */
  version: string;
  /** The server's folder; projects are in `<dir>/projects`. */
  dir: string;
  projects_dir: string;
  tokens: { admin: string; alice: string; bob: string };
  users: Record<"alice" | "bob", string>;
  admin: { username: string; password: string };
  project: { project_id: string; name: string; path: string };
  other_project: { project_id: string; name: string; path: string };
  /** PC1 …, SW1 (from 3.1 on), R1 … */
  nodes: LabNode[];
  links: string[];
  /** Stops the server and its devices, and starts the server again on the same data; projects are closed then. */
  restart(): Promise<void>;
  /** Stops the server and its devices, and removes its folder. */
  stop(): Promise<void>;
}

export interface LabOptions {
  /** GNS3's version, as PyPI has it. */
  version?: string;
  vpcs?: number;
  /** FRR routers in QEMU; `tests/lab/get_router_packages.sh` must have run. */
  routers?: number;
  /** A template for such routers: "Lab router", tagged as FRR, and in GNS3 3.0 "FRR". */
  template?: boolean;
  /** Labs that run side by side need different slots: a slot is a range of 100 console ports from 5000. */
  slot?: number;
}

/** Why there can be no lab on this machine; null when there can. */
export function labMissing({ routers = 0, template = false }: LabOptions = {}): Missing {
  if (!hasProgram("python3")) return "python3 is not installed";
  if (!isFile("/usr/bin/vpcs")) return "vpcs is not installed (apt-get install vpcs)";
  const cache = Deno.env.get("LAB_CACHE") ??
    `${Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME")}/.cache`}/gns3-lab`;
  // The last file that building writes.
  if ((routers > 0 || template) && !isFile(`${cache}/router/lab-router.consoles`)) {
    return "the router is not built, or an older one is (tests/lab/get_router_packages.sh)";
  }
  return null;
}

async function run(args: string[]): Promise<string> {
  const command = new Deno.Command("python3", {
    args: [SCRIPT, ...args],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
  const { success, stdout, stderr } = await command.output();
  assert.ok(success, `lab.py ${args[0]} failed:\n${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

/** Starts a lab: 4 s when GNS3 is installed already, up to a minute when it is not. `await using` stops it. */
export async function startLab(
  { version = "3.1.0a7", vpcs = 2, routers = 0, template = false, slot = 40 }: LabOptions = {},
): Promise<Lab & AsyncDisposable> {
  const dir = await Deno.makeTempDir({ prefix: "lab-" });
  const stop = async () => void await run(["down", "--dir", dir, "--wipe"]);
  try {
    const counts = ["--vpcs", `${vpcs}`, "--routers", `${routers}`, "--slot", `${slot}`];
    const more = template ? ["--template"] : [];
    const state = JSON.parse(await run(["up", "--dir", dir, "--version", version, ...counts, ...more]));
    const restart = async () => void await run(["restart", "--dir", dir]);
    return { ...state, projects_dir: `${dir}/projects`, restart, stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
