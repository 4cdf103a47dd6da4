import assert from "node:assert/strict";
import { z } from "zod";
import { AppError } from "../../src/domain/error.ts";
import { createApp } from "../../src/http/app.ts";
import { readBody, readQuery } from "../../src/http/input.ts";
import type { Route } from "../../src/http/routes/route.ts";
import { listQuery } from "../../src/http/routes/schemas.ts";
import { testLog } from "../fakes/log.ts";

const body = z.object({ message: z.string().min(1), temperature: z.number().max(2).optional() });
const routes: Route[] = [
  {
    method: "post",
    path: "/things/:thing_id",
    id: "makeThing",
    tag: "things",
    summary: "Make a <thing>",
    body,
    answers: { 201: { description: "The thing", schema: body } },
    handle: async (c) => c.json(await readBody(c, body), 201),
  },
  {
    method: "get",
    path: "/things",
    id: "listThings",
    tag: "things",
    summary: "All things",
    query: listQuery,
    answers: { 200: { description: "Things" } },
    handle: (c) => c.json(readQuery(c, listQuery)),
  },
  {
    method: "get",
    path: "/fault",
    id: "fault",
    tag: "things",
    summary: "Fails",
    answers: {},
    handle: (c) => {
      if (c.req.query("known")) {
        throw new AppError("unavailable", "GNS3 does not answer.", { retryAfter: 3.2 });
      }
      throw new TypeError("secret path /home/someone");
    },
  },
];

function app(corsOrigins: string[] = []) {
  const { log, lines } = testLog();
  return { lines, app: createApp({ routes, version: "1.2.3", corsOrigins, log }) };
}
const post = (content: BodyInit) => app().app.request("/things/1", { method: "POST", body: content });

Deno.test("createApp answers 404 for an unknown path in GNS3's shape", async () => {
  const answer = await app().app.request("/nowhere");
  assert.equal(answer.status, 404);
  assert.deepEqual(await answer.json(), { message: "Nothing is served at /nowhere.", code: "not_found" });
});

Deno.test("createApp answers 405 with Allow for a known path and another method", async () => {
  const answer = await app().app.request("/things", { method: "DELETE" });
  assert.equal(answer.status, 405);
  assert.equal(answer.headers.get("allow"), "GET, HEAD");
  assert.equal((await answer.json()).code, "method_not_allowed");
});

Deno.test("readBody refuses what is no JSON with 400, and another shape with 422 that names the field", async () => {
  for (const content of ["", "{", new Uint8Array([0xff, 0xfe])]) {
    const answer = await post(content);
    assert.equal(answer.status, 400);
    assert.equal((await answer.json()).code, "bad_request");
  }
  for (const content of ["[]", "null", '"x"']) assert.equal((await post(content)).status, 422, content);
  const answer = await post('{"message": "x", "temperature": 3}');
  assert.equal(answer.status, 422);
  const { message, code, details } = await answer.json();
  assert.equal(code, "validation_error");
  assert.match(message, /^temperature: /);
  assert.deepEqual(details.errors[0].loc, ["body", "temperature"]);
});

Deno.test("readBody refuses a body over the limit with 413, also when its length is not told", async () => {
  const large = new Uint8Array(11 * 1024 * 1024).fill(32);
  assert.equal((await post(large)).status, 413);
  const chunks = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let i = 0; i < 11; i++) controller.enqueue(large.subarray(0, 1024 * 1024));
      controller.close();
    },
  });
  assert.equal((await post(chunks)).status, 413);
});

Deno.test("readBody waits for a body that does not end only for a while, and lets go of it", async () => {
  const { log } = testLog();
  const impatient: Route = {
    ...routes[0]!,
    handle: async (c) => c.json(await readBody(c, body, { limitMs: 30 }), 201),
  };
  const waiting = createApp({ routes: [impatient], version: "1.2.3", corsOrigins: [], log });
  let left = false;
  const endless = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"message":')),
    cancel: () => void (left = true),
  });
  const answer = await waiting.request("/things/1", { method: "POST", body: endless });
  assert.equal(answer.status, 400);
  assert.match((await answer.json()).message, /did not come to its end in time/);
  assert.ok(left);
});

Deno.test("readBody refuses a body that is nested too deeply with 422, however large, and takes brackets in texts", async () => {
  const nested = (levels: number, open = "[", close = "]") =>
    `{"message": "x", "extra": ${open.repeat(levels)}${close.repeat(levels)}}`;
  assert.equal((await post(nested(63))).status, 201);
  for (const body of [nested(64), nested(2_000_000), nested(100_000, '{"a":', "}").replace("}}", "1}}")]) {
    const answer = await post(body);
    assert.equal(answer.status, 422);
    const { message, code, details } = await answer.json();
    assert.deepEqual([message, code, details.errors[0].loc], [
      "body: is nested more than 64 levels deep",
      "validation_error",
      ["body"],
    ]);
  }
  // What is not even closed is refused before it is parsed.
  assert.equal((await post("[".repeat(1_000_000))).status, 422);
  const brackets = JSON.stringify({ message: `"\\"${"[{".repeat(500)}\\` });
  assert.equal((await (await post(brackets)).json()).message, `"\\"${"[{".repeat(500)}\\`);
});

Deno.test("readQuery turns text into numbers and refuses what is out of range", async () => {
  const { app: server } = app();
  assert.deepEqual(await (await server.request("/things?limit=7")).json(), { limit: 7, offset: 0 });
  for (const query of ["limit=0", "limit=501", "limit=abc", "offset=-1", "limit=1.5", "limit="]) {
    assert.equal((await server.request(`/things?${query}`)).status, 422, query);
  }
});

Deno.test("createApp hides a fault from the client and logs it", async () => {
  const { app: server, lines } = app();
  const answer = await server.request("/fault");
  assert.equal(answer.status, 500);
  assert.doesNotMatch(await answer.text(), /secret|TypeError|at /);
  assert.ok(lines.some((line) => line.level === "error" && String(line.error).includes("secret path")));
});

Deno.test("createApp tells when to come back with 503", async () => {
  const answer = await app().app.request("/fault?known=1");
  assert.equal(answer.status, 503);
  assert.equal(answer.headers.get("retry-after"), "4");
});

Deno.test("createApp gives every request an id, the client's own only when it is harmless", async () => {
  const { app: server } = app();
  const id = async (given: string) =>
    (await server.request("/things", { headers: { "x-request-id": given } })).headers.get("x-request-id");
  assert.equal(await id("abc-1"), "abc-1");
  assert.match((await id("a b\tc"))!, /^[0-9a-f-]{36}$/);
});

Deno.test("createApp allows other origins only when asked to", async () => {
  const headers = { origin: "https://lab.example" };
  const closed = await app().app.request("/things", { headers });
  assert.equal(closed.headers.get("access-control-allow-origin"), null);
  const open = await app(["https://lab.example"]).app.request("/things", { headers });
  assert.equal(open.headers.get("access-control-allow-origin"), "https://lab.example");
  const everyone = await app(["*"]).app.request("/things", { headers });
  assert.equal(everyone.headers.get("access-control-allow-origin"), "*");
});

Deno.test("the OpenAPI document describes every route with the schemas that validate", async () => {
  const document = await (await app().app.request("/openapi.json")).json();
  assert.equal(document.openapi, "3.1.0");
  assert.deepEqual(Object.keys(document.paths).sort(), [
    "/docs",
    "/fault",
    "/openapi.json",
    "/things",
    "/things/{thing_id}",
  ]);
  const make = document.paths["/things/{thing_id}"].post;
  assert.equal(make.operationId, "makeThing");
  assert.deepEqual(make.requestBody.content["application/json"].schema.required, ["message"]);
  assert.deepEqual(Object.keys(make.responses), ["201", "400", "401", "403", "404", "413", "422", "503"]);
});

Deno.test("the page about the routes needs no network and escapes what it shows", async () => {
  const page = await (await app().app.request("/docs")).text();
  assert.match(page, /Make a &#60;thing&#62;/);
  assert.doesNotMatch(page, /<script|https?:\/\/(?!json-schema)/);
});
