// Starts the server in a Worker that can reach its directories and the network, and nothing else.
import type { Config } from "../config.ts";
import { AppError } from "../domain/error.ts";
import { startHelper } from "../host/helper.ts";
import type { FromWorker, ToWorker } from "../worker_loop.ts";

/** A server that listens. */
export interface RunningServer {
  hostname: string;
  port: number;
  mounted: readonly string[];
  /** Asks it to finish what runs, save and close; resolves when that is done. */
  drain(): Promise<void>;
  /** Resolves, with what happened, when the Worker dies; never otherwise. */
  crashed: Promise<string>;
  /** Ends it at once. */
  terminate(): void;
}

/** Programs that the server may have run for it; full paths, undefined for what is not installed. */
export interface Programs {
  tshark?: string;
}

/**
 * Starts the server and waits until it listens. `config`'s directories must be real paths: they are all that the
 * Worker may read and write, and the skills directory it may only read. Programs run out here, where `host/helper.ts`
 * decides what they may do. Throws AppError with a sentence when it cannot start.
 */
export function startServer(
  config: Config,
  workerUrl: URL,
  programs: Programs = {},
): Promise<RunningServer> {
  const directories = [config.projectsDir, config.stateDir];
  const worker = new Worker(workerUrl, {
    type: "module",
    name: "server",
    deno: {
      permissions: {
        read: config.skillsDir ? [...directories, config.skillsDir] : directories,
        write: directories,
        net: true,
        env: false,
        run: false,
        ffi: false,
        sys: false,
        import: false,
      },
    },
  });
  const channel = new MessageChannel();
  const helper = startHelper({
    port: channel.port1,
    projectsDir: config.projectsDir,
    tshark: programs.tshark,
  });
  const send = (message: ToWorker, transfer: Transferable[] = []) => worker.postMessage(message, transfer);
  const terminate = () => {
    worker.terminate();
    helper.close();
  };
  const closed = Promise.withResolvers<void>();
  const crashed = Promise.withResolvers<string>();
  return new Promise((resolve, reject) => {
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      crashed.resolve(event.message);
      reject(new AppError("internal", `The server could not start: ${event.message}`));
    });
    worker.addEventListener("message", ({ data }: MessageEvent<FromWorker>) => {
      if (data.type === "closed") return closed.resolve();
      if (data.type === "failed") {
        terminate();
        const message = data.reason === "port_in_use"
          ? `${data.message} ${freePortAdvice(config)}`
          : data.message;
        return reject(new AppError("unavailable", message));
      }
      resolve({
        hostname: data.hostname,
        port: data.port,
        mounted: data.mounted,
        drain: () => {
          send({ type: "drain" });
          return closed.promise;
        },
        crashed: crashed.promise,
        terminate,
      });
    });
    send({ type: "start", config, helper: channel.port2 }, [channel.port2]);
  });
}

/** Names the next port that is free right now. */
function freePortAdvice({ host, port }: Config): string {
  for (let candidate = port + 1; candidate <= Math.min(port + 100, 65_535); candidate++) {
    try {
      Deno.listen({ hostname: host, port: candidate }).close();
      return `Port ${candidate} is free: use --port ${candidate}.`;
    } catch {
      continue;
    }
  }
  return "Choose another with --port.";
}
