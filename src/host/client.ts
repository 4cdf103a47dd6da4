// The Worker's side of the helper: asks over a MessagePort and waits for the answer.
import { AppError } from "../domain/error.ts";
import {
  type Analysis,
  type FoundFields,
  type FromHelper,
  fromHelperSchema,
  type Source,
  type ToHelper,
} from "./protocol.ts";
import type { Query } from "./query.ts";

/** As `Omit`, for each member of a union. */
type Without<T, K extends string> = T extends unknown ? Omit<T, K> : never;

interface Waiting {
  resolve(answer: Exclude<FromHelper, { type: "failed" }>): void;
  reject(error: unknown): void;
}

/** Asks the helper that holds the other end of `port`. */
export class HostClient {
  readonly #waiting = new Map<number, Waiting>();
  readonly #port: MessagePort;
  #next = 0;

  constructor(port: MessagePort) {
    this.#port = port;
    port.onmessage = ({ data }) => this.#receive(data);
  }

  /**
   * Has tshark read a capture. Throws `AppError`: `not_found` (no such file), `forbidden` (not a file of the project),
   * `bad_request` (not a capture), `unavailable` (tshark is not there); and the signal's reason.
   */
  async analyze(source: Source, query: Query, signal: AbortSignal): Promise<Analysis> {
    const answer = await this.#ask({ type: "analyze", source, query }, signal);
    if (answer.type !== "analysis") throw unexpected();
    return answer.analysis;
  }

  /** Fields of tshark's display filters whose name or description holds `keyword`. Throws as `analyze`. */
  async searchFields(keyword: string, limit: number, signal: AbortSignal): Promise<FoundFields> {
    const answer = await this.#ask({ type: "fields", keyword, limit }, signal);
    if (answer.type !== "fields") throw unexpected();
    return answer.found;
  }

  close(): void {
    this.#port.close();
    for (const { reject } of this.#waiting.values()) {
      reject(new AppError("unavailable", "The server is shutting down."));
    }
    this.#waiting.clear();
  }

  async #ask(question: Without<Exclude<ToHelper, { type: "cancel" }>, "id">, signal: AbortSignal) {
    signal.throwIfAborted();
    const id = this.#next++;
    const { promise, resolve, reject } = Promise.withResolvers<Exclude<FromHelper, { type: "failed" }>>();
    const stop = () => {
      this.#port.postMessage({ type: "cancel", id } satisfies ToHelper);
      reject(signal.reason);
    };
    this.#waiting.set(id, { resolve, reject });
    signal.addEventListener("abort", stop, { once: true });
    try {
      this.#port.postMessage({ ...question, id } as ToHelper);
      return await promise;
    } finally {
      signal.removeEventListener("abort", stop);
      this.#waiting.delete(id);
    }
  }

  #receive(data: unknown): void {
    const { success, data: answer } = fromHelperSchema.safeParse(data);
    if (!success) return;
    const waiting = this.#waiting.get(answer.id);
    if (answer.type === "failed") waiting?.reject(new AppError(answer.code, answer.message));
    else waiting?.resolve(answer);
  }
}

const unexpected = () => new AppError("internal", "The helper answered another question.");
