import assert from "node:assert/strict";
import { endpointOf } from "../../src/domain/endpoint.ts";
import { guardEndpoint } from "../../src/models/endpoint_guard.ts";

const own = ["http://127.0.0.1:3080", "http://gns3.lab:3081"];

function guarded(base_url: string, hosts: string[] = []): string {
  try {
    guardEndpoint(endpointOf({ provider: "openai", base_url }), { hosts, own });
    return "allowed";
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return `${code}: ${message}`;
  }
}

for (
  const address of [
    "http://169.254.169.254/v1",
    "http://0xA9FEA9FE/v1",
    "http://2852039166/v1",
    "http://[::ffff:169.254.169.254]/v1",
    "http://[fe80::1]/v1",
    "http://metadata.google.internal/v1",
    "http://METADATA.google.internal./v1",
    "http://100.100.100.200",
  ]
) {
  Deno.test(`guardEndpoint refuses the internal address ${address}`, () => {
    assert.match(guarded(address), /^forbidden: base_url may not point at .*: that address is internal\.$/);
  });
}

Deno.test("guardEndpoint refuses the GNS3 server and this server under every local name, not their neighbours", () => {
  const message = "forbidden: base_url may not point at the GNS3 server or at this server.";
  for (
    const host of ["127.0.0.1", "127.1.2.3", "localhost", "0.0.0.0", "[::1]", "x.localhost", "2130706433"]
  ) {
    assert.equal(guarded(`http://${host}:3080/v3`), message);
  }
  assert.equal(guarded("http://GNS3.lab:3081/v1"), message);
  assert.equal(guarded("http://127.0.0.1:11434/v1"), "allowed");
  assert.equal(guarded("http://192.168.1.9:3080/v1"), "allowed");
  assert.equal(guarded("https://api.openai.com/v1"), "allowed");
});

Deno.test("guardEndpoint allows only listed hosts when there is a list", () => {
  const hosts = ["api.openai.com", "ollama.lab:11434", "*.example.org"];
  for (
    const url of ["https://api.openai.com/v1", "http://ollama.lab:11434/v1", "https://a.b.example.org/v1"]
  ) {
    assert.equal(guarded(url, hosts), "allowed");
  }
  for (
    const host of ["evil.com", "ollama.lab:80", "example.org", "api.openai.com.evil.com", "badexample.org"]
  ) {
    assert.match(
      guarded(`http://${host}/v1`, hosts),
      /^forbidden: .*the administrator allows only api\.openai\.com, /,
    );
  }
});
