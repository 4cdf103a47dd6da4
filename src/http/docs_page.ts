// The OpenAPI document as one page of HTML without scripts, so that it can be read where no network is.
import type { openApiDocument } from "./openapi.ts";

type Document = ReturnType<typeof openApiDocument>;
interface Operation {
  summary?: string;
  tags?: string[];
  security?: unknown[];
  parameters?: { name: string; in: string; required?: boolean; schema?: unknown }[];
  requestBody?: { content: Record<string, { schema?: unknown }> };
  responses: Record<string, { description?: string; content?: Record<string, { schema?: unknown }> }>;
}

const STYLE =
  `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c2733}
h1{font-size:1.6rem}h2{margin-top:2.5rem;text-transform:capitalize}details{border:1px solid #d5dde5;border-radius:6px;margin:.5rem 0;padding:.4rem .8rem}
summary{cursor:pointer}code,pre{font:13px/1.45 ui-monospace,monospace}pre{background:#f3f6f9;padding:.6rem;overflow:auto;border-radius:4px}
b{display:inline-block;min-width:4.2rem}@media(prefers-color-scheme:dark){body{background:#141a20;color:#dde5ec}pre{background:#1f2830}details{border-color:#34404c}}`;

/** Renders every operation, grouped by tag; schemas are shown as JSON. */
export function docsPage(document: Document): string {
  const groups = new Map<string, string[]>();
  for (const [path, item] of Object.entries(document.paths ?? {})) {
    for (const [method, operation] of Object.entries(item as Record<string, Operation>)) {
      const tag = operation.tags?.[0] ?? "other";
      groups.set(tag, [...groups.get(tag) ?? [], operationHtml(method, path, operation)]);
    }
  }
  const body = [...groups].map(([tag, rows]) => `<h2>${escape(tag)}</h2>${rows.join("")}`).join("");
  const { title, version, description } = document.info;
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escape(title)}</title><style>${STYLE}</style><h1>${escape(title)} ${escape(version)}</h1>
<p>${escape(description ?? "")} The same as data: <a href="openapi.json">openapi.json</a>.</p>${body}
<h2>Schemas</h2>${schema(document.components?.schemas ?? {})}</html>`;
}

function operationHtml(method: string, path: string, operation: Operation): string {
  const parameters = (operation.parameters ?? []).map((p) =>
    `<li><code>${escape(p.name)}</code> in ${escape(p.in)}${p.required ? ", required" : ""} <code>${
      escape(JSON.stringify(p.schema ?? {}))
    }</code></li>`
  );
  const responses = Object.entries(operation.responses).map(([status, answer]) =>
    `<li><code>${escape(status)}</code> ${escape(answer.description ?? "")}${schemas(answer.content)}</li>`
  );
  return `<details><summary><b>${escape(method.toUpperCase())}</b> <code>${escape(path)}</code> ${
    escape(operation.summary ?? "")
  }</summary>${parameters.length ? `<h4>Parameters</h4><ul>${parameters.join("")}</ul>` : ""}${
    operation.requestBody ? `<h4>Body</h4>${schemas(operation.requestBody.content)}` : ""
  }<h4>Answers</h4><ul>${responses.join("")}</ul></details>`;
}

function schemas(content: Record<string, { schema?: unknown }> = {}): string {
  return Object.entries(content).map(([type, { schema: s }]) => `<div>${escape(type)}</div>${schema(s)}`)
    .join("");
}

function schema(value: unknown): string {
  return value === undefined ? "" : `<pre>${escape(JSON.stringify(value, null, 2))}</pre>`;
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
