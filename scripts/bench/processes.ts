// The processes of a bench run, and what the operating system says of them.

export interface Lab {
  gns3: string;
  projectsDir: string;
  projectId: string;
  token: string;
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

export function startLab(): Promise<Running<Lab>> {
  return start(
    [Deno.execPath(), "run", "-A", "scripts/bench/lab.ts"],
    {},
    (out) => out.includes("}\n") ? JSON.parse(out) : undefined,
  );
}

/**
 * Starts our server; `command` is how. Resolves with its address when it says that it listens; rejects when it was killed
 * before that, `killAfter` milliseconds after its start.
 */
export function startServer(
  command: string[],
  lab: Pick<Lab, "gns3" | "projectsDir" | "model">,
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
    [...command, ...options, "--log-level", "warn", "--log-format", "pretty"],
    env,
    (out) => /http:\/\/127\.0\.0\.1:\d+(?=\s+GNS3)/.exec(out)?.[0],
    how,
  );
}

/** Processor time of a process so far, in milliseconds; the system counts in steps of 10. */
export function cpuMs(pid: number): number {
  const fields = Deno.readTextFileSync(`/proc/${pid}/stat`).split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_MS;
}

/** Memory that a process has in RAM, in MB. */
export function rssMb(pid: number): number {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(Deno.readTextFileSync(`/proc/${pid}/status`))![1]) / 1024);
}
