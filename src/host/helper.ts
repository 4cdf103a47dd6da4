// The helper of the sandboxed server: runs tshark for it, and nothing else. It trusts no message.
import pLimit from "p-limit";
import { AppError } from "../domain/error.ts";
import { checkMagic, openCapture } from "./capture_file.ts";
import { searchFields } from "./fields.ts";
import { type Analysis, type FromHelper, type Source, type ToHelper, toHelperSchema } from "./protocol.ts";
import type { Query } from "./query.ts";
import { runTshark, type TsharkRun } from "./tshark.ts";

export interface HelperOptions {
  /** The helper's end of the channel; the Worker has the other. */
  port: MessagePort;
  /** A real path; no file outside of it is read. */
  projectsDir: string;
  /** The program's full path; undefined when it is not installed. */
  tshark: string | undefined;
  timeoutMs?: number;
  mostOutput?: number;
}

/** tshark may use a core each; the lab's devices need some too. */
const AT_ONCE = 2;
const CHUNK = 256 * 1024;
/** A capture of fewer bytes has not even its own header yet; tshark would take them for something else. */
const HEADER = 24;

/** Answers until it is closed; running programs end with it. */
export function startHelper(options: HelperOptions): { close(): void } {
  const { port } = options;
  const slot = pLimit(AT_ONCE);
  const running = new Map<number, AbortController>();
  const say = (answer: FromHelper) => port.postMessage(answer);

  port.onmessage = ({ data }) => {
    const { success, data: question } = toHelperSchema.safeParse(data);
    if (!success) {
      // A question without an id cannot even be refused.
      const id = typeof data?.id === "number" ? data.id : undefined;
      if (id !== undefined) {
        say({ type: "failed", id, code: "bad_request", message: "The helper does not do that." });
      }
      return;
    }
    if (question.type === "cancel") return running.get(question.id)?.abort();
    const stop = new AbortController();
    running.set(question.id, stop);
    void slot(() => answer(question, stop.signal, options)).then(say).finally(() =>
      running.delete(question.id)
    );
  };

  return {
    close() {
      for (const stop of running.values()) stop.abort();
      port.close();
    },
  };
}

/** Never throws. */
async function answer(
  question: Exclude<ToHelper, { type: "cancel" }>,
  signal: AbortSignal,
  options: HelperOptions,
): Promise<FromHelper> {
  const { id } = question;
  try {
    signal.throwIfAborted();
    const { tshark: program, timeoutMs = 60_000, mostOutput = 60_000 } = options;
    if (!program) {
      throw new AppError(
        "unavailable",
        "tshark is not installed on the machine that runs GNS3 Copilot (on Debian and Ubuntu: apt-get install tshark), " +
          "so captures cannot be read here. They can still be started, stopped, and opened in Wireshark from GNS3.",
      );
    }
    const run = { program, timeoutMs, mostOutput, signal };
    if (question.type === "fields") {
      return { type: "fields", id, found: await searchFields(question.keyword, question.limit, run) };
    }
    const { packets, size, close } = await open(question.source, options.projectsDir);
    try {
      const result = await runTshark(packets, question.query, run);
      return { type: "analysis", id, analysis: analysisOf(result, size, question.query) };
    } finally {
      close();
    }
  } catch (error) {
    const known = error instanceof AppError && isCode(error.code)
      ? { code: error.code, message: error.message }
      : null;
    return { type: "failed", id, ...known ?? { code: "internal", message: "The helper failed." } };
  }
}

const CODES = ["not_found", "forbidden", "bad_request", "unavailable", "internal"] as const;

function isCode(code: string): code is typeof CODES[number] {
  return (CODES as readonly string[]).includes(code);
}

/** The packets that are there now: a capture that runs grows while it is read. */
async function open(source: Source, projectsDir: string) {
  if (source.kind === "bytes") {
    checkMagic(source.bytes);
    const { length } = source.bytes;
    return {
      packets: ReadableStream.from(length < HEADER ? [] : [source.bytes]),
      size: length,
      close: () => {},
    };
  }
  const { file, size } = await openCapture(source.path, source.within, projectsDir);
  try {
    const head = new Uint8Array(Math.min(size, HEADER));
    let read = 0;
    while (read < head.length) read += await file.read(head.subarray(read)) ?? head.length;
    checkMagic(head);
    return {
      packets: size < HEADER ? ReadableStream.from([]) : chunks(file, head, size),
      size,
      close: () => file.close(),
    };
  } catch (error) {
    file.close();
    throw error;
  }
}

async function* chunks(file: Deno.FsFile, head: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  yield head;
  for (let left = size - head.length; left > 0;) {
    const chunk = new Uint8Array(Math.min(CHUNK, left));
    const read = await file.read(chunk);
    if (read === null) return;
    left -= read;
    yield chunk.subarray(0, read);
  }
}

function analysisOf(run: TsharkRun, captureBytes: number, query: Query): Analysis {
  const said = run.stderr.split("\n").filter((line) => line.trim() !== "" && !/^Running as user /.test(line));
  const packetCut = said.some((line) => /cut short in the middle of a packet/.test(line));
  const faults = said.filter((line) => !/cut short in the middle of a packet/.test(line));
  const failed = run.exitCode !== 0 && !run.timedOut && !packetCut;
  const unknown = faults[0]?.includes("fields aren't valid")
    ? faults.slice(1).map((line) => line.trim()).filter((name) => query.fields?.includes(name))
    : [];
  return {
    output: run.output,
    lines: run.lines,
    captureBytes,
    outputCut: run.outputCut,
    packetCut,
    timedOut: run.timedOut,
    ...(failed
      ? { problem: faults.slice(0, 12).join("\n").replace(/^tshark: /, "") || "tshark failed." }
      : {}),
    ...(unknown.length ? { unknownFields: unknown } : {}),
  };
}
