// The processes of a bench run, and what the operating system says of them.
import type { Load, Streams } from "./load.ts";

export interface Lab {
  gns3: string;
  projectsDir: string;
  projectId: string;
  token: string;
}

export interface Model {
  /** Base URL, ending in `/v1`. */
  model: string;
  control: string;
}

export interface Running<T> {
  info: T;
  pid: number;
  /** Asks it to end, and waits until it has. */
  stop(): Promise<void>;
  /** Ends it as a crash does. */
  kill(): Promise<void>;
}

const ROOT = new URL("../../", import.meta.url).pathname;
const CLOCK_TICK_MS = 10;

/** Starts a program and waits until `ready` finds what it looks for in its output. */
async function start<T>(
  args: string[],
  env: Record<string, string>,
  ready: (out: string) => T | undefined,
  { killAfter }: { killAfter?: number } = {},
): Promise<Running<T>> {
  const child = new Deno.Command(args[0]!, {
    args: args.slice(1),
    env,
    cwd: ROOT,
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  })
    .spawn();
  let out = "";
  const end = async (signal: Deno.Signal) => {
    try {
      child.kill(signal);
    } catch {
      // It has ended by itself.
    }
    await child.status;
  };
  const stop = () => end("SIGTERM");
  const kill = () => end("SIGKILL");
  const timer = killAfter === undefined ? undefined : setTimeout(kill, killAfter);
  const found = Promise.withResolvers<T>();
  (async () => {
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      out += text;
      const info = ready(out);
      if (info !== undefined) found.resolve(info);
    }
    found.reject(new Error(`${args.join(" ")} ended:\n${out}`));
  })();
  try {
    return { info: await found.promise, pid: child.pid, stop, kill };
  } finally {
    clearTimeout(timer);
  }
}

function startScript<T>(name: string, ...args: string[]): Promise<Running<T>> {
  return start(
    [Deno.execPath(), "run", "-A", `scripts/bench/${name}`, ...args],
    {},
    (out) => out.includes("}\n") ? JSON.parse(out) : undefined,
  );
}

export function startLab(): Promise<Running<Lab>> {
  return startScript("lab.ts");
}

/** A server that only passes `model`'s stream on. */
export function startPass(model: string): Promise<Running<{ url: string }>> {
  return startScript("pass.ts", model);
}

export function startModel(): Promise<Running<Model>> {
  return startScript("model.ts");
}

/**
 * Starts our server; `command` is how. Resolves with its address when it says that it listens; rejects when it was killed
 * before that, `killAfter` milliseconds after its start.
 */
export function startServer(
  command: string[],
  lab: Pick<Lab, "gns3" | "projectsDir"> & Pick<Model, "model">,
  stateDir: string,
  how: { killAfter?: number } = {},
): Promise<Running<string>> {
  const options = [
    "--gns3-url",
    lab.gns3,
    "--projects-dir",
    lab.projectsDir,
    "--state-dir",
    stateDir,
    "--port",
    "0",
  ];
  const env = {
    OPENAI_BASE_URL: lab.model,
    OPENAI_API_KEY: "bench",
    OPENAI_MODEL: "bench",
    GNS3_COPILOT_CONTEXT_LIMIT: "128",
  };
  return start(
    [...command, ...options, "--log-level", "error", "--log-format", "pretty"],
    env,
    (out) => /http:\/\/127\.0\.0\.1:\d+(?=\s+GNS3)/.exec(out)?.[0],
    how,
  );
}

/** Runs `load` in a process of its own. */
export async function runLoad(load: Load): Promise<Streams> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", `${ROOT}scripts/bench/load.ts`],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(JSON.stringify(load)));
  await writer.close();
  const { stdout } = await child.output();
  return JSON.parse(new TextDecoder().decode(stdout));
}

/** Processor time of a process so far, in milliseconds; the system counts in steps of 10. NaN for none. */
export function cpuMs(pid: number | undefined): number {
  if (!pid) return NaN;
  const fields = Deno.readTextFileSync(`/proc/${pid}/stat`).split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_MS;
}

/** Memory that a process has in RAM, in MB. NaN for none. */
export function rssMb(pid: number | undefined): number {
  if (!pid) return NaN;
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(Deno.readTextFileSync(`/proc/${pid}/status`))![1]) / 1024);
}
