// The refusals of a GNS3 server: a status, a sentence, and since 3.1 a code and details.

export type Gns3Version = "3.1.0a7" | "3.0.6";

/** Thrown by the practice server's routes; becomes the answer. */
export class Gns3Error extends Error {
  readonly status: number;
  readonly code: string;
  readonly details?: Record<string, unknown>;

  constructor(status: number, message: string, code: string, details?: Record<string, unknown>) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }

  /** The answer in the version's form: 3.0 knows only the message. */
  response(version: Gns3Version): Response {
    const body = version === "3.0.6"
      ? { message: this.message }
      : { message: this.message, code: this.code, ...(this.details ? { details: this.details } : {}) };
    const headers: Record<string, string> = this.status === 401 ? { "www-authenticate": "Bearer" } : {};
    return Response.json(body, { status: this.status, headers });
  }
}

export function unauthorized(message: string): Gns3Error {
  return new Gns3Error(401, message, "unauthorized");
}

export function forbidden(privilege: string): Gns3Error {
  return new Gns3Error(403, `Permission denied (privilege ${privilege} is required)`, "forbidden");
}

export function conflict(message: string): Gns3Error {
  return new Gns3Error(409, message, "conflict");
}

export function notFound(kind: "project" | "node" | "link" | "drawing" | "snapshot", id: string): Gns3Error {
  const name = kind[0]!.toUpperCase() + kind.slice(1);
  return new Gns3Error(404, `${name} ID ${id} doesn't exist`, `${kind}_not_found`, { [`${kind}_id`]: id });
}

export function projectNotOpened(): Gns3Error {
  return new Gns3Error(403, "The project is not opened", "forbidden");
}

/**
 * A value of the wrong shape. As the real server does, the message shows where its own source files lie: what talks to
 * GNS3 must not pass it on.
 */
export function invalid(loc: (string | number)[], msg: string, type: string, input: unknown): Gns3Error {
  const shown = loc.map((part) => JSON.stringify(part)).join(", ");
  const message = `1 validation error:\n  {'type': '${type}', 'loc': (${shown}), 'msg': '${msg}', 'input': ${
    JSON.stringify(input) ?? "null"
  }}\n\n  File "/practice/lib/python3/site-packages/gns3server/api/routes/controller.py", line 1`;
  return new Gns3Error(422, message, "validation_error", { errors: [{ loc, msg, type }] });
}
