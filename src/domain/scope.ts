// Who is asking and with which model, for the length of a request and of the turn it starts. In memory only.
import { AsyncLocalStorage } from "node:async_hooks";
import { AppError } from "./error.ts";
import type { ModelConfig } from "./model_config.ts";

/** The user behind a request. `credential` is what stood after `Bearer`; it goes to GNS3 and nowhere else. */
export interface Caller {
  userId: string;
  username: string;
  credential: string;
  /** Whether GNS3 calls this user a super administrator. */
  superadmin?: boolean;
}

/** The only place where a credential or a model's API key lives while a turn runs. */
export interface RequestScope {
  caller: Caller;
  model: ModelConfig;
  /** Asked before each call of the model; throws `AppError` when its endpoint may not be called. Absent: it may. */
  mayCall?: () => Promise<void>;
}

const storage = new AsyncLocalStorage<RequestScope>();

// Taken when the program starts, so that it holds no scope of anybody.
const outside = AsyncLocalStorage.snapshot();

/**
 * Runs `work` outside of every scope, ours and LangChain's. Deno may call a request's handler with the context of
 * whatever ran last: without this, one user's turn could find another's scope, or another project's checkpointer.
 */
export function outsideScopes<T>(work: () => T): T {
  return outside(work);
}

/** Runs `work`, and everything it starts, inside `scope`. */
export function withScope<T>(scope: RequestScope, work: () => T): T {
  return storage.run(scope, work);
}

/** The scope of the running turn. Throws when called outside of one: that is a fault of this program. */
export function currentScope(): RequestScope {
  const scope = storage.getStore();
  if (!scope) throw new AppError("internal", "No request scope is active.");
  return scope;
}
