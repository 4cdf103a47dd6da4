import assert from "node:assert/strict";
import { Hono } from "hono";
import { AppError } from "../../src/domain/error.ts";
import { Access } from "../../src/gns3/access.ts";
import { credentialOf, refusedNow } from "../../src/http/auth.ts";
import { gns3Error } from "../../src/http/errors.ts";
import { CLOSED_ID, FakeGns3, PROJECT_ID } from "../gns3/fake_gns3.ts";

async function answerTo(authorization?: string): Promise<Response> {
  const app = new Hono();
  app.get("/", (c) => c.text(credentialOf(c)));
  app.onError((error) => gns3Error(error as AppError));
  return await app.request("/", { headers: authorization === undefined ? {} : { authorization } });
}

Deno.test("credentialOf takes Bearer in any spelling of the word", async () => { // A18
  for (const header of ["Bearer abc.def", "bearer abc.def", "BEARER  abc.def "]) {
    assert.equal(await (await answerTo(header)).text(), "abc.def", header);
  }
});

Deno.test("credentialOf answers 401 with WWW-Authenticate to anything else, and never repeats it", async () => {
  for (const header of [undefined, "", "Bearer", "Basic dXNlcjpwdw==", "abc.def", "Bearer a b"]) {
    const answer = await answerTo(header);
    assert.equal(answer.status, 401, header);
    assert.equal(answer.headers.get("www-authenticate"), "Bearer");
    assert.doesNotMatch(await answer.text(), /dXNlcjpwdw|abc\.def/);
  }
});

Deno.test("refusedNow tells a permission that was taken away from a sign-in that ran out and a GNS3 that is away", async () => {
  await using gns3 = new FakeGns3();
  const access = new Access({ baseUrl: gns3.baseUrl });
  const ask = (credential: string, projectId = PROJECT_ID, now?: number) =>
    refusedNow(access, { userId: "u", username: "u", credential }, projectId, now);
  assert.equal(await ask("alice"), undefined);
  assert.equal((await ask("nobody"))?.code, "forbidden");
  assert.equal((await ask("alice", "00000000-0000-4000-8000-000000000000"))?.code, "project_not_found");
  assert.equal(await ask("alice", CLOSED_ID), undefined);
  const expiring = `h.${btoa(JSON.stringify({ exp: 1000 }))}.s`;
  assert.equal((await ask(expiring, PROJECT_ID, 999_000))?.code, "unauthorized", "revoked before its time");
  assert.equal(await ask(expiring, PROJECT_ID, 1_000_000), undefined, "it ran out");
  gns3.instead.set(`GET /v3/projects/${PROJECT_ID}`, () => new Response("down", { status: 502 }));
  assert.equal(await ask("alice"), undefined);
});
