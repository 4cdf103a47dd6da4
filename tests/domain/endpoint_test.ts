import assert from "node:assert/strict";
import { endpointOf } from "../../src/domain/endpoint.ts";

Deno.test("endpointOf knows well-known providers by their name", () => {
  assert.equal(endpointOf({ provider: "openai" }).url, "https://api.openai.com/v1/chat/completions");
  assert.equal(endpointOf({ provider: "Ollama" }).url, "http://127.0.0.1:11434/v1/chat/completions");
  assert.equal(
    endpointOf({ provider: "openai", base_url: "http://host:8080" }).url,
    "http://host:8080/chat/completions",
  );
});

Deno.test("endpointOf refuses a provider without an address and an address that is none", () => {
  assert.throws(() => endpointOf({ provider: "acme" }), {
    code: "bad_request",
    message: 'The model configuration needs a base_url: the address of provider "acme" is not known.',
  });
  assert.throws(() => endpointOf({ provider: "acme", base_url: "ftp://x/v1" }), { code: "bad_request" });
  assert.throws(() => endpointOf({ provider: "acme", base_url: "localhost" }), { code: "bad_request" });
});

Deno.test("endpointOf keeps a query for the request and out of what is shown", () => {
  const endpoint = endpointOf({
    provider: "azure",
    base_url: "https://u:p@x.azure.com/openai/v1/chat/completions?api-version=1",
  });
  assert.deepEqual(endpoint, {
    baseUrl: "https://x.azure.com/openai/v1",
    query: { "api-version": "1" },
    url: "https://x.azure.com/openai/v1/chat/completions",
    host: "x.azure.com",
  });
});
