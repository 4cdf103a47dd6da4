import assert from "node:assert/strict";
import { Hono } from "hono";
import { AppError } from "../../src/domain/error.ts";
import { credentialOf } from "../../src/http/auth.ts";
import { gns3Error } from "../../src/http/errors.ts";

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
