// Where the packets of a link's capture are, and whether the caller may read them.
import { AppError } from "../domain/error.ts";
import type { Link } from "../domain/project.ts";
import type { OpenedStream } from "../gns3/request.ts";
import { type Analysis, MOST_BYTES, type Source } from "../host/protocol.ts";
import type { Query } from "../host/query.ts";
import type { ToolContext } from "./tool.ts";

/** A capture that runs elsewhere is streamed from its start and never ends: silence this long is its end for now. */
const QUIET_MS = 1_000;
const STREAM_MS = 20_000;

/** An opened capture. `ask` throws what `HostClient.analyze` throws, `note` is about how the packets were reached. */
export interface OpenedCapture extends Disposable {
  ask(query: Query): Promise<Analysis>;
  note?: string;
}

/**
 * Opens a link's capture. GNS3 is asked first, with the caller's credential, for the capture's stream, which takes the
 * privilege `Link.Capture`: who may not capture must not read a file here either. Throws `forbidden` then, `not_found`
 * when there is no capture or it cannot be reached, `unavailable` where this server cannot read packets at all.
 */
export async function openCapture(link: Link, name: string, context: ToolContext): Promise<OpenedCapture> {
  const { host, project, signal } = context;
  if (!host) throw new AppError("unavailable", "This server runs without the helper that reads packets.");
  const stream = await streamOf(link, context);
  const close = () => stream?.close();
  if (!link.capture) {
    close();
    throw new AppError(
      "not_found",
      `There is no capture of ${name} since the project was opened. start_gns3_capture starts one.`,
    );
  }
  const { path, compute_id = "local" } = link.capture;
  let source: Source | undefined = compute_id === "local" && project.path
    ? { kind: "file", path, within: project.path }
    : undefined;
  const fetched = async (): Promise<Source> => {
    if (!stream) throw outOfReach(name);
    const { bytes, cut } = await received(stream);
    if (cut) {
      opened.note = `The capture is on another machine; only its first ${
        MOST_BYTES / 1024 / 1024
      } MiB were read.`;
    }
    return { kind: "bytes", bytes };
  };
  const opened: OpenedCapture = {
    async ask(query) {
      try {
        if (source) return await host.analyze(source, query, signal);
      } catch (error) {
        // The file may be on another machine; what runs can be had from there.
        if (source?.kind === "bytes" || !(error instanceof AppError) || error.code !== "not_found") {
          throw error;
        }
      }
      const packets = source = await fetched();
      return await host.analyze(packets, query, signal);
    },
    [Symbol.dispose]: close,
  };
  return opened;
}

function outOfReach(name: string): AppError {
  return new AppError(
    "not_found",
    `The capture of ${name} has ended, and its file cannot be reached from here: it is on another machine or was ` +
      "deleted. GNS3 hands captures over only while they run: start it again and read it before you stop it.",
  );
}

/** The running capture's stream; undefined where none runs, which GNS3 says only to who might read it. */
async function streamOf(
  link: Link,
  { gns3, project, signal }: ToolContext,
): Promise<OpenedStream | undefined> {
  try {
    return await gns3.captures.stream(project.project_id, link.link_id, signal);
  } catch (error) {
    if (error instanceof AppError && error.code === "conflict") return undefined;
    throw error;
  }
}

/** What the capture holds by now, up to a size. */
async function received({ body }: OpenedStream): Promise<{ bytes: Uint8Array<ArrayBuffer>; cut: boolean }> {
  const reader = body.getReader();
  const until = Date.now() + STREAM_MS;
  const parts: Uint8Array[] = [];
  let size = 0;
  while (size < MOST_BYTES) {
    const part = await within(Math.min(QUIET_MS, until - Date.now()), reader.read());
    if (!part?.value) break;
    parts.push(part.value);
    size += part.value.length;
  }
  const bytes = new Uint8Array(Math.min(size, MOST_BYTES));
  let at = 0;
  for (const part of parts) {
    bytes.set(part.subarray(0, bytes.length - at), at);
    at += part.length;
  }
  return { bytes, cut: size >= MOST_BYTES };
}

/** What `work` gives, or undefined when it takes longer. Whoever closes the stream ends `work`. */
async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  if (ms <= 0) return undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => timer = setTimeout(() => resolve(undefined), ms));
  work.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
