// GNS3's controller stream: hears of projects that open, close, change or go, for as long as the server runs.
import { z } from "zod";
import { AppError, errorText } from "../domain/error.ts";
import type { Logger } from "../log.ts";
import { textOf } from "./body.ts";
import { jsonLines } from "./json_lines.ts";
import { refusal, signInAgain, unavailable, unreachable } from "./messages.ts";
import { originOf } from "./request.ts";
import type { ServiceAccount } from "./service_account.ts";
import { pause } from "./waiting.ts";
import { joinSignals, unlessAborted } from "../domain/signals.ts";

/** What the controller stream says about a project; `created` and the nodes' own news are of no use here. */
export interface ProjectEvent {
  action: "opened" | "closed" | "deleted" | "updated";
  project_id: string;
  name: string;
}

export interface NotificationsOptions {
  baseUrl: string;
  /** Left out: the stream is opened with the newest caller's token. */
  account?: Pick<ServiceAccount, "credential" | "forget">;
  onEvent(event: ProjectEvent): void;
  /** The stream is open, with this credential. What happened before was not heard. */
  onOpen?(credential: string): void;
  log: Logger;
  /** Milliseconds: pauses before a new attempt grow from the first to the longest; GNS3 pings every 5 s. */
  pauses?: { first: number; longest: number; silence: number };
  random?: () => number;
}

const PAUSES = { first: 500, longest: 30_000, silence: 20_000 };

const notification = z.object({
  action: z.enum(["project.opened", "project.closed", "project.deleted", "project.updated"]),
  event: z.object({ project_id: z.string(), name: z.string().catch("") }),
});

/**
 * Follows `/v3/notifications`, again after every break. It is never a project's own stream: when the last listener of
 * one of those leaves, GNS3 closes the project.
 */
export class Notifications {
  readonly #options: NotificationsOptions;
  readonly #closing = new AbortController();
  /** The newest caller's token: in memory only, replaced by later ones, dropped when GNS3 refuses it. */
  #callers?: string;
  #heard = Promise.withResolvers<void>();
  readonly #running: Promise<void>;
  #complaint = "";

  constructor(options: NotificationsOptions) {
    this.#options = options;
    this.#running = this.#run().catch((error) => {
      if (this.#closing.signal.aborted) return;
      options.log.error("Listening to GNS3's notifications ended unexpectedly.", { error });
    });
  }

  /** A caller whom GNS3 has just accepted; their token opens the stream when there is no service account. */
  use(credential: string): void {
    if (!this.#options.account) this.#callers = credential;
    // GNS3 evidently answers: a long pause is not needed.
    this.#heard.resolve();
  }

  /** Ends the stream; resolves when it is gone. */
  async close(): Promise<void> {
    this.#closing.abort(new DOMException("The server is shutting down.", "AbortError"));
    this.#callers = undefined;
    await this.#running;
  }

  async #run(): Promise<void> {
    const { first, longest } = this.#options.pauses ?? PAUSES;
    const { signal } = this.#closing;
    let wait = first;
    while (!signal.aborted) {
      let credential: string | undefined;
      let opened = false;
      try {
        credential = await this.#credential();
        await this.#follow(credential, () => opened = true);
        this.#complain("GNS3 ended its stream of notifications.");
      } catch (error) {
        signal.throwIfAborted();
        if (credential !== undefined && error instanceof AppError && error.code === "unauthorized") {
          await this.#forget(credential);
        }
        this.#complain(errorText(error));
      }
      if (opened) wait = first;
      const jitter = 0.5 + (this.#options.random ?? Math.random)() / 2;
      await pause(first * jitter, signal);
      this.#heard = Promise.withResolvers();
      await pause((wait - first) * jitter, signal, this.#heard.promise);
      wait = Math.min(wait * 2, longest);
    }
  }

  async #credential(): Promise<string> {
    const { account } = this.#options;
    if (account) return await unlessAborted(this.#closing.signal, account.credential());
    while (this.#callers === undefined) {
      this.#heard = Promise.withResolvers();
      await unlessAborted(this.#closing.signal, this.#heard.promise);
    }
    return this.#callers;
  }

  async #forget(credential: string): Promise<void> {
    if (this.#callers === credential) this.#callers = undefined;
    await this.#options.account?.forget(credential);
  }

  /** Reads one stream to its end. Throws `AppError`, or the closing signal's reason. */
  async #follow(credential: string, opened: () => void): Promise<void> {
    const { baseUrl, onEvent, onOpen, log } = this.#options;
    const { silence } = this.#options.pauses ?? PAUSES;
    const origin = originOf(baseUrl);
    const silent = new AbortController();
    const watchdog = () => setTimeout(() => silent.abort(unavailable("GNS3 has gone silent.")), silence);
    let timer = watchdog();
    using both = joinSignals([this.#closing.signal, silent.signal]);
    const { signal } = both;
    try {
      if (!/^[\x21-\x7e]+$/.test(credential)) throw signInAgain();
      const response = await fetch(`${baseUrl.replace(/\/+$/, "")}/v3/notifications`, {
        headers: { authorization: `Bearer ${credential}` },
        redirect: "manual",
        signal,
      });
      if (response.status !== 200 || !response.body) {
        throw refusal(response.status, await textOf(response), origin, credential);
      }
      opened();
      this.#complaint = "";
      log.debug("GNS3's notifications are followed.");
      onOpen?.(credential);
      for await (const value of jsonLines(response.body)) {
        clearTimeout(timer);
        timer = watchdog();
        const { success, data } = notification.safeParse(value);
        if (!success) continue;
        const action = data.action.slice("project.".length) as ProjectEvent["action"];
        onEvent({ action, ...data.event });
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AppError) throw error;
      throw unreachable(origin, error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Once for each new reason: the attempts go on in silence. */
  #complain(why: string): void {
    if (why === this.#complaint) return;
    this.#complaint = why;
    this.#options.log.warn(`GNS3's notifications are not heard, trying again: ${why}`);
  }
}
