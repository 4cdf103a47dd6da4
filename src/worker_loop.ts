// The Worker's side of the process: gets the configuration by message, serves, and drains when it is asked to.
import type { Config } from "./config.ts";
import { AppError, errorText } from "./domain/error.ts";
import { createLogger, type Logger } from "./log.ts";

/** What `main.ts` tells the Worker. */
export type ToWorker =
  /** `helper`: our end of the channel to what runs outside of the sandbox; transferred. */
  | { type: "start"; config: Config; helper?: MessagePort }
  | { type: "drain" };

/** What the Worker tells `main.ts`; nothing follows `failed` or `closed`. */
export type FromWorker =
  | { type: "listening"; hostname: string; port: number; mounted: readonly string[] }
  | { type: "failed"; reason: "port_in_use" | "other"; message: string }
  | { type: "closed" };

/** The server as the Worker runs it. */
export interface Server {
  fetch(request: Request, info: Deno.ServeHandlerInfo<Deno.NetAddr>): Response | Promise<Response>;
  /** Told where it listens, before the first request. */
  listening?(address: { hostname: string; port: number }): void;
  /** What is served and where, one line each, for the person who started it. */
  mounted?: readonly string[];
  /** Takes no new turns and resolves when the running ones have ended; bounded by `config.drainTimeout`. */
  drain(): Promise<void>;
  /** Saves and releases everything. */
  close(): Promise<void>;
}
export type CreateServer = (config: Config, deps: { log: Logger; helper?: MessagePort }) => Promise<Server>;

/** The part of a Worker's global scope that is used here. */
export interface WorkerScope {
  addEventListener(type: "message", listener: (event: MessageEvent<ToWorker>) => void): void;
  addEventListener(type: "unhandledrejection", listener: (event: PromiseRejectionEvent) => void): void;
  addEventListener(type: "error", listener: (event: ErrorEvent) => void): void;
  postMessage(message: FromWorker): void;
}

/** Requests that are still open when everything has drained get this long. */
const SHUTDOWN_MS = 2_000;

/** Serves until it is told to drain. Faults that nothing caught are logged and do not end the process. */
export function runWorker(scope: WorkerScope, createServer: CreateServer): void {
  let log: Logger = createLogger({ level: "info", format: "pretty" });
  let running: Promise<Running | null> = Promise.resolve(null);

  scope.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    // Deno 2.6's HTTP client of Node leaves such a promise when the gateway gives up an answer that its client has left.
    if (event.reason instanceof Deno.errors.Interrupted) return;
    log.error("A promise failed and nothing handled it. This is a fault of this program.", {
      error: event.reason,
    });
  });
  scope.addEventListener("error", (event) => {
    event.preventDefault();
    log.error("An error was thrown and nothing caught it. This is a fault of this program.", {
      error: event.error ?? event.message,
    });
  });
  scope.addEventListener("message", ({ data }) => {
    if (data.type === "start") {
      log = createLogger({ level: data.config.logLevel, format: data.config.logFormat });
      for (
        const secret of [data.config.model?.api_key, data.config.gns3Password, ...data.config.secretKeys]
      ) {
        if (secret) log.secret(secret);
      }
      running = start(scope, data, log, createServer);
    } else {
      running = running.then((current) => stop(scope, current, log));
    }
  });
}

interface Running {
  server: Server;
  http: Deno.HttpServer<Deno.NetAddr>;
}

async function start(
  scope: WorkerScope,
  { config, helper }: Extract<ToWorker, { type: "start" }>,
  log: Logger,
  createServer: CreateServer,
): Promise<Running | null> {
  let server: Server | undefined;
  try {
    server = await createServer(config, { log, helper });
    const handle = server.fetch.bind(server);
    const http = Deno.serve(
      {
        hostname: config.host,
        port: config.port,
        onListen: () => {},
        onError: (error) => brokenOff(error, log),
      },
      (request, info) => handle(request, info),
    );
    const { hostname, port } = http.addr;
    server.listening?.({ hostname, port });
    scope.postMessage({ type: "listening", hostname, port, mounted: server.mounted ?? [] });
    return { server, http };
  } catch (error) {
    await server?.close().catch((failure) =>
      log.error("The server did not close cleanly.", { error: failure })
    );
    scope.postMessage(failure(error, config));
    return null;
  }
}

/** An answer that failed in its middle, such as one of GNS3's that was passed on: its client has been cut off. */
function brokenOff(error: unknown, log: Logger): Response {
  log.warn("An answer was broken off.", { error });
  return new Response(null, { status: 500 });
}

function failure(error: unknown, { host, port }: Config): FromWorker {
  const other = (message: string): FromWorker => ({ type: "failed", reason: "other", message });
  if (error instanceof AppError) return other(error.message);
  if (error instanceof Deno.errors.AddrInUse) {
    return { type: "failed", reason: "port_in_use", message: `Port ${port} on ${host} is in use.` };
  }
  if (error instanceof Deno.errors.PermissionDenied && port > 0 && port < 1024) {
    return other(
      `Port ${port} needs rights that this user does not have. Choose one above 1023 with --port.`,
    );
  }
  if (error instanceof Deno.errors.AddrNotAvailable) {
    return other(`${host} is not an address of this machine. Choose another with --host.`);
  }
  return other(`The server could not start: ${errorText(error)}`);
}

async function stop(scope: WorkerScope, running: Running | null, log: Logger): Promise<null> {
  const failed = (error: unknown) => log.error("The server did not stop cleanly.", { error });
  if (running) {
    const { server, http } = running;
    await server.drain().catch(failed);
    // A connection that is still open then is cut when this Worker is ended.
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => timer = setTimeout(resolve, SHUTDOWN_MS));
    await Promise.race([http.shutdown().catch(failed), late]);
    clearTimeout(timer);
    await server.close().catch(failed);
  }
  scope.postMessage({ type: "closed" });
  return null;
}
