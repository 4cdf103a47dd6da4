// The OpenAPI 3.1 document, made from the routes themselves and the zod schemas that validate their requests.
import { z } from "zod";
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from "zod-openapi";
import type { ErrorCode } from "../domain/error.ts";
import { statusOf } from "./errors.ts";
import type { Answer, Route } from "./routes/route.ts";

const errorSchema = z.object({
  message: z.string().describe("A sentence that says what to do"),
  code: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
});

/** Describes `routes`. Parameters in a path, refusals and the credential are added by rule. */
export function openApiDocument(
  routes: readonly Route[],
  version: string,
): ReturnType<typeof createDocument> {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    (paths[path] ??= {})[route.method] = operation(route);
  }
  return createDocument({
    openapi: "3.1.0",
    info: {
      title: "GNS3 Copilot Server",
      version,
      description:
        "An AI lab assistant for every GNS3 project. Sign in with a token or API key of your GNS3 server.",
    },
    security: [{ gns3: [] }],
    components: {
      securitySchemes: {
        gns3: { type: "http", scheme: "bearer", description: "A GNS3 access token or API key" },
      },
    },
    paths: paths as ZodOpenApiPathsObject,
  });
}

function operation(route: Route): ZodOpenApiOperationObject {
  const names = [...route.path.matchAll(/:(\w+)/g)].map((match) => match[1]!);
  const responses: Record<string, object> = {};
  for (const [status, answer] of Object.entries(route.answers)) {
    const refusal = Number(status) >= 400 && !answer.schema;
    responses[status] = response(refusal ? { ...answer, schema: errorSchema } : answer);
  }
  if (!route.open) {
    for (const [code, description] of refusals(route)) {
      responses[statusOf(code)] ??= { description, content: { "application/json": { schema: errorSchema } } };
    }
  }
  return {
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    ...(route.open ? { security: [] } : {}),
    requestParams: {
      ...(names.length
        ? { path: z.object(Object.fromEntries(names.map((name) => [name, z.string()]))) }
        : {}),
      ...(route.query ? { query: route.query } : {}),
      ...(route.headers ? { header: route.headers } : {}),
    },
    ...(route.body
      ? {
        requestBody: {
          required: !route.bodyOptional,
          content: { "application/json": { schema: route.body } },
        },
      }
      : {}),
    responses: responses as ZodOpenApiOperationObject["responses"],
  };
}

function response(answer: Answer): object {
  if (!answer.schema) return { description: answer.description };
  const forms = { [answer.contentType ?? "application/json"]: answer.schema, ...answer.also };
  const content = Object.fromEntries(Object.entries(forms).map(([type, schema]) => [type, { schema }]));
  return { description: answer.description, content };
}

function refusals(route: Route) {
  const list = [
    ["unauthorized", "No credential, or GNS3 does not accept it"],
    ["forbidden", "No access to the project, or the project is not open"],
    ["not_found", "Unknown project or session"],
    ["unavailable", "GNS3 cannot be reached, or the server is shutting down"],
  ] as [
    Exclude<ErrorCode, "internal">,
    string,
  ][];
  if (route.body || route.query || route.path.includes(":")) {
    list.push(["validation_error", "A field is wrong; the message names it"]);
  }
  if (route.body) {
    list.push(["bad_request", "The body is not JSON"], ["too_large", "The body is over the limit"]);
  }
  return list;
}
