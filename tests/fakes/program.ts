// Runs the program as its own process, and reads what it prints.
import assert from "node:assert/strict";
import { join } from "node:path";

const ROOT = new URL("../../", import.meta.url);

/** A started program. */
export interface Program {
  pid: number;
  /** Sends a signal; does nothing when it has ended. */
  kill(signal: Deno.Signal): void;
  /** What it has printed so far on both streams. */
  printed(): { out: string; err: string };
  /** Resolves with the first match in what it has printed, on either stream; rejects when it ends before that. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves when it has ended, with all that it printed. */
  ended(): Promise<{ code: number; signal: Deno.Signal | null; out: string; err: string }>;
}

/** A folder with a home directory, a projects directory and whatever a test puts there; `close` removes it. */
export function workspace() {
  const dir = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "program-" }));
  for (const name of ["projects", "state"]) Deno.mkdirSync(join(dir, name));
  return {
    dir,
    options: ["--projects-dir", join(dir, "projects"), "--state-dir", join(dir, "state"), "--port", "0"],
    close: () => Deno.removeSync(dir, { recursive: true }),
  };
}

/** A `main.ts` whose Worker runs the server module at `path` instead of the real one. */
export function mainWith(dir: string, createServer: string): string {
  const source = (path: string) => JSON.stringify(new URL(path, ROOT).href);
  Deno.writeTextFileSync(
    join(dir, "worker.ts"),
    `import { runWorker } from ${
      source("src/worker_loop.ts")
    };\n${createServer}\nrunWorker(self, createServer);\n`,
  );
  const main = join(dir, "main.ts");
  Deno.writeTextFileSync(
    main,
    `import { runCommand } from ${source("src/cli/mod.ts")};
Deno.exit(await runCommand(Deno.args, {
  env: Deno.env.toObject(), workerUrl: new URL("./worker.ts", import.meta.url),
  print: console.log, complain: console.error,
}));\n`,
  );
  return main;
}

/** Starts `main` (a path, or the repository's `main.ts`) from source with `args`. */
export function startFromSource(
  args: string[],
  { main = new URL("main.ts", ROOT).pathname, env = {} } = {},
): Program {
  const config = new URL("deno.json", ROOT).pathname;
  const flags = ["run", "-A", "--no-check", "--no-lock", "--config", config, main];
  return startProgram(Deno.execPath(), [...flags, ...args], env);
}

/** What a program may inherit: where to find programs and Deno's packages, and how to fetch those. */
const KEPT = [
  "PATH",
  "HOME",
  "DENO_DIR",
  "XDG_CACHE_HOME",
  "DENO_CERT",
  "DENO_TLS_CA_STORE",
  "NPM_CONFIG_REGISTRY",
];

/** Starts an executable. Of our environment it gets only what is in `KEPT`. */
export function startProgram(path: string, args: string[], env: Record<string, string> = {}): Program {
  const own = Deno.env.toObject();
  const kept = Object.fromEntries(KEPT.flatMap((k) => own[k] ? [[k, own[k]]] : []));
  const child = new Deno.Command(path, {
    args,
    env: { ...kept, NO_COLOR: "1", ...env },
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const printed = { out: "", err: "" };
  const waiting = new Set<() => void>();
  const collect = async (name: "out" | "err", stream: ReadableStream<Uint8Array>) => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      printed[name] += text;
      waiting.forEach((look) => look());
    }
  };
  const all = Promise.all([child.status, collect("out", child.stdout), collect("err", child.stderr)]);
  return {
    pid: child.pid,
    kill: (signal) => {
      try {
        child.kill(signal);
      } catch {
        // It has ended.
      }
    },
    printed: () => printed,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(printed.out) ?? pattern.exec(printed.err);
          if (match) {
            waiting.delete(look);
            resolve(match);
          }
        };
        waiting.add(look);
        look();
        all.then(([status]) =>
          reject(
            new assert.AssertionError({
              message: `ended with ${status.code} before ${pattern}:\n${JSON.stringify(printed)}`,
            }),
          )
        );
      }),
    ended: async () => {
      const [status] = await all;
      return { code: status.code, signal: status.signal, ...printed };
    },
  };
}
