// The administrator's own GNS3 account for what no caller's sign-in should be used for: signs in, and again in time.
import { z } from "zod";
import { AppError } from "../domain/error.ts";
import { unavailable } from "./messages.ts";
import { originOf, send } from "./request.ts";

export interface ServiceAccountOptions {
  baseUrl: string;
  username: string;
  password: string;
  /** Told of every token, so that no log shows one. */
  onToken?: (token: string) => void;
  timeoutMs?: number;
  now?: () => number;
}

/** A new token is fetched when the old one has no more than this left. */
const MARGIN_MS = 60_000;

const signedIn = z.object({
  access_token: z.string().min(1),
  // Seconds; only GNS3 3.1 tells.
  expires_in: z.number().positive().optional().catch(undefined),
});

/** Holds the token in memory only. */
export class ServiceAccount {
  readonly #options: ServiceAccountOptions;
  readonly #now: () => number;
  #current?: { token: Promise<string>; expiresAt: number };

  constructor(options: ServiceAccountOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /**
   * A token that GNS3 takes for at least another minute; callers at the same time share one sign-in. Throws
   * `unauthorized` with a sentence that names the settings when GNS3 refuses the account, `unavailable` as usual.
   */
  credential(): Promise<string> {
    if (this.#current && this.#now() < this.#current.expiresAt - MARGIN_MS) return this.#current.token;
    const signingIn = this.#signIn();
    const current = { token: signingIn.then(({ token }) => token), expiresAt: Infinity };
    this.#current = current;
    signingIn.then(
      ({ expiresAt }) => void (current.expiresAt = expiresAt),
      () => {
        if (this.#current === current) this.#current = undefined;
      },
    );
    return current.token;
  }

  /** GNS3 has refused this token: the next call signs in again. */
  async forget(token: string): Promise<void> {
    const current = this.#current;
    if (await current?.token.catch(() => undefined) === token && this.#current === current) {
      this.#current = undefined;
    }
  }

  async #signIn(): Promise<{ token: string; expiresAt: number }> {
    const { baseUrl, username, password, timeoutMs = 15_000 } = this.#options;
    const answer = await send({ baseUrl, credential: "none" }, {
      method: "POST",
      path: "/v3/access/users/authenticate",
      body: { username, password },
      timeoutMs,
      signals: [],
    }).catch((error) => {
      if (!(error instanceof AppError) || error.code !== "unauthorized") throw error;
      throw new AppError(
        "unauthorized",
        `GNS3 does not accept the account of --gns3-user (${username}) with the password in GNS3_COPILOT_GNS3_PASSWORD.`,
      );
    });
    const { success, data } = signedIn.safeParse(answer);
    if (!success) throw unavailable(`What answers at ${originOf(baseUrl)} is not a GNS3 3 server.`);
    const { access_token: token, expires_in } = data;
    this.#options.onToken?.(token);
    return {
      token,
      expiresAt: expires_in === undefined ? expiryOf(token) : this.#now() + expires_in * 1_000,
    };
  }
}

/** When a JWT (RFC 7519) says that it runs out, in milliseconds since 1970; never, when it does not say. */
export function expiryOf(token: string): number {
  try {
    const [, claims = ""] = token.split(".");
    const { exp } = JSON.parse(atob(claims.replaceAll("-", "+").replaceAll("_", "/")));
    return typeof exp === "number" ? exp * 1_000 : Infinity;
  } catch {
    return Infinity;
  }
}
