// Everything that is not ours goes to GNS3 and back unchanged, so that its Web UI and our chat share one origin.
import { AppError } from "../../domain/error.ts";
import type { Logger } from "../../log.ts";
import { asAppError, gns3Error } from "../errors.ts";
import type { Origin } from "./headers.ts";
import { forward } from "./http.ts";
import { meansConversations } from "./private_files.ts";
import { forwardWebSocket, isWebSocket } from "./websocket.ts";

/** A request that will take a project's files away, and whose sign-in it carries. */
export interface FilesTaken {
  projectId: string;
  /** GNS3 deletes the project's folder, or writes a snapshot's files over those that are there. */
  how: "deleted" | "restored";
  credential: string;
}

export interface GatewayOptions {
  gns3Url: string;
  /** Called before such a request goes on; what it resolves to is called when GNS3 has answered. Never rejects. */
  beforeFilesAreTaken(request: FilesTaken): Promise<() => void>;
  log: Logger;
}

export interface Gateway {
  fetch(request: Request, client: { address: string }): Promise<Response>;
  /** Cuts what is still open: notifications and consoles have no end of their own. */
  close(): void;
}

const PROJECT = /^\/v3\/projects\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(\/.*)?$/i;

/** The project whose files a request is going to take away, if it is such a request. */
export function filesTaken(method: string, url: URL, authorization: string | null): FilesTaken | undefined {
  const [, projectId, rest = ""] = PROJECT.exec(url.pathname) ?? [];
  const how = method === "DELETE" && /^\/?$/.test(rest)
    ? "deleted"
    : method === "POST" && /^\/snapshots\/[^/]+\/restore\/?$/.test(rest)
    ? "restored"
    : undefined;
  const credential = /^bearer +(\S+)$/i.exec(authorization?.trim() ?? "")?.[1] ??
    url.searchParams.get("token");
  return projectId && how && credential ? { projectId: projectId.toLowerCase(), how, credential } : undefined;
}

/**
 * Without AI features GNS3 3.1 answers 501 to every address below `/v3/access` that it does not know, and so to
 * `users/me/`, which its own Web UI asks for: it would otherwise say that the address has no slash at its end.
 */
function withoutSlash(url: string, response: Response): Response {
  const { pathname, search } = new URL(url);
  if (response.status !== 501 || !/^\/v3\/access\/.+\/$/.test(pathname)) return response;
  void response.body?.cancel();
  return new Response(null, { status: 307, headers: { location: pathname.replace(/\/+$/, "") + search } });
}

/** A proxy for one GNS3 server. */
export function createGateway({ gns3Url, beforeFilesAreTaken, log }: GatewayOptions): Gateway {
  const base = new URL(gns3Url);
  const closing = new AbortController();

  async function pass(request: Request, origin: Origin): Promise<Response> {
    if (meansConversations(new URL(request.url).pathname)) {
      throw new AppError(
        "forbidden",
        "The project's conversations are not given out or changed as files. Each user reads their own in the chat, and exports them there.",
      );
    }
    if (isWebSocket(request)) return await forwardWebSocket(request, base, origin, closing.signal);
    const taken = filesTaken(request.method, new URL(request.url), request.headers.get("authorization"));
    const done = taken && await beforeFilesAreTaken(taken);
    try {
      return withoutSlash(
        request.url,
        await forward(request, base, origin, [request.signal, closing.signal]),
      );
    } finally {
      done?.();
    }
  }

  return {
    async fetch(request, { address }) {
      const url = new URL(request.url);
      const origin = {
        address,
        protocol: url.protocol.slice(0, -1),
        host: request.headers.get("host") ?? url.host,
      };
      const began = performance.now();
      let status = 0;
      try {
        const response = await pass(request, origin);
        status = response.status;
        return response;
      } catch (error) {
        const gone = request.signal.aborted || closing.signal.aborted;
        const answer = gns3Error(
          gone && !(error instanceof AppError)
            ? new AppError("unavailable", "The connection was given up.")
            : asAppError(error, log),
        );
        status = answer.status;
        return answer;
      } finally {
        // The path only: a WebSocket's query holds a token.
        const ms = Math.round(performance.now() - began);
        log.debug(`${request.method} ${url.pathname} ${status} (GNS3)`, { ms });
      }
    },
    close: () => closing.abort(new DOMException("The server is shutting down.", "AbortError")),
  };
}
