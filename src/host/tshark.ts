// One run of tshark: a fixed command line, packets through standard input, an end in time, bounded output.
import { AppError } from "../domain/error.ts";
import { LineKeeper } from "./line_keeper.ts";
import { argumentsOf, type Query } from "./query.ts";

export interface TsharkRun {
  output: string;
  lines: number;
  outputCut: boolean;
  timedOut: boolean;
  stderr: string;
  exitCode: number;
}

export interface TsharkOptions {
  /** The program's full path. */
  program: string;
  timeoutMs: number;
  /** Characters of output that are kept. */
  mostOutput: number;
  signal: AbortSignal;
}

const MOST_STDERR = 8_192;

/** Runs tshark on `input`. Throws `unavailable` when it cannot be started, and the signal's reason. */
export async function runTshark(
  input: AsyncIterable<Uint8Array>,
  query: Query,
  options: TsharkOptions,
): Promise<TsharkRun> {
  const keeper = new LineKeeper({
    first: query.first,
    last: query.last,
    header: headerLines(query),
    most: options.mostOutput,
  });
  const child = start(argumentsOf(query), options, "piped");
  const ended = await supervise(child, options, async () => {
    const fed = feed(child, input);
    const stderr = textOf(child.stderr, MOST_STDERR).catch(() => "");
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      if (!keeper.add(text)) break;
    }
    if (keeper.full) kill(child);
    await fed;
    return { stderr: await stderr, exitCode: (await child.status).code };
  });
  const { timedOut, result } = ended;
  return {
    ...keeper.end(),
    timedOut,
    stderr: result?.stderr ?? "",
    exitCode: keeper.full ? 0 : result?.exitCode ?? -1,
  };
}

/** What tshark prints for `args`, line by line; used for its own tables. Throws as `runTshark`. */
export async function eachLine(
  args: string[],
  options: Omit<TsharkOptions, "mostOutput">,
  take: (line: string) => void,
): Promise<void> {
  const child = start(args, options, "null");
  const { timedOut } = await supervise(child, options, async () => {
    const stderr = textOf(child.stderr, MOST_STDERR).catch(() => "");
    let rest = "";
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      lines.forEach(take);
    }
    await stderr;
    await child.status;
  });
  if (timedOut) throw new AppError("unavailable", "tshark did not answer in time.");
}

/** Profiles, preferences, plug-ins and scripts are looked for in the home directory: there is none to look in. */
const NO_HOME = "/nonexistent";

function start(args: string[], { program }: Pick<TsharkOptions, "program">, stdin: "piped" | "null") {
  try {
    return new Deno.Command(program, {
      args,
      clearEnv: true,
      env: { HOME: NO_HOME, LC_ALL: "C.UTF-8", PATH: "/usr/bin:/bin" },
      cwd: "/",
      stdin,
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  } catch {
    throw new AppError("unavailable", "tshark could not be started. Is it still installed?");
  }
}

/** Ends the program at the time limit and when the signal aborts; whatever happens, it is gone afterwards. */
async function supervise<T>(
  child: Deno.ChildProcess,
  { timeoutMs, signal }: Pick<TsharkOptions, "timeoutMs" | "signal">,
  work: () => Promise<T>,
): Promise<{ timedOut: boolean; result: T }> {
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    kill(child);
  }, timeoutMs);
  const stop = () => kill(child);
  signal.addEventListener("abort", stop, { once: true });
  try {
    if (signal.aborted) kill(child);
    const result = await work();
    signal.throwIfAborted();
    return { timedOut, result };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    kill(child);
    await child.status;
  }
}

/** Writes the packets; a program that has heard enough closes its end, which is no fault. */
async function feed(child: Deno.ChildProcess, input: AsyncIterable<Uint8Array>): Promise<void> {
  const writer = child.stdin.getWriter();
  try {
    for await (const bytes of input) await writer.write(bytes);
  } catch {
    // The input's own faults were looked for before; a closed pipe ends it.
  } finally {
    await writer.close().catch(() => {});
  }
}

async function textOf(stream: ReadableStream<Uint8Array>, most: number): Promise<string> {
  let text = "";
  for await (
    const part of stream.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
  ) {
    if (text.length < most) text += part;
  }
  return text.slice(0, most);
}

function kill(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

/** tshark names the fields in a line of its own unless it is told not to. */
function headerLines({ fields, fieldOptions }: Query): number {
  return fields && (fieldOptions ?? ["header=y"]).includes("header=y") ? 1 : 0;
}
