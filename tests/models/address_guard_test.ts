import assert from "node:assert/strict";
import { addressGuard } from "../../src/models/address_guard.ts";

const NAMES: Record<string, string[]> = {
  "gns3.lab": ["10.1.1.5", "fd00::5"],
  "alias.lab": ["10.1.1.5"],
  "hidden.example": ["203.0.113.9", "169.254.169.254"],
  "six.example": ["fe80::1%eth0"],
  "nat64.example": ["64:ff9b::a9fe:a9fe"],
  "azure.example": ["168.63.129.16"],
  "here.example": ["127.0.0.1"],
  "fine.example": ["203.0.113.9"],
};

function guarded(
  base_url: string,
  own = ["http://127.0.0.1:3080", "http://gns3.lab:3080", "http://0.0.0.0:3081"],
) {
  const guard = addressGuard({
    hosts: [],
    own: () => own,
    resolve: (host) => Promise.resolve(NAMES[host] ?? []),
  });
  return guard.lookedUp({ provider: "openai", base_url }).then(
    () => "allowed",
    (error) => `${error.code}: ${error.message}`,
  );
}
const OWN = "forbidden: base_url may not point at the GNS3 server or at this server.";

Deno.test("addressGuard refuses a name that leads to an internal address", async () => {
  for (const host of ["hidden.example", "six.example", "nat64.example", "azure.example"]) {
    assert.equal(
      await guarded(`https://${host}/v1`),
      `forbidden: base_url may not point at ${host}: that address is internal.`,
    );
  }
  assert.equal(await guarded("https://fine.example/v1"), "allowed");
});

Deno.test("addressGuard refuses GNS3 and this server under every name and address of theirs, at their ports only", async () => {
  for (
    const url of [
      "http://alias.lab:3080",
      "http://10.1.1.5:3080",
      "http://[fd00::5]:3080",
      "http://here.example:3081",
    ]
  ) {
    assert.equal(await guarded(url), OWN, url);
  }
  for (const url of ["http://alias.lab:11434", "http://here.example:11434/v1", "http://127.0.0.1:11434/v1"]) {
    assert.equal(await guarded(url), "allowed", url);
  }
});

Deno.test("addressGuard knows this machine's addresses on its networks", async () => {
  const outside = Deno.networkInterfaces().find(({ family, address, name }) =>
    family === "IPv4" && name !== "lo" && !address.startsWith("127.")
  );
  if (!outside) return console.log("this machine has no other address: nothing to try");
  assert.equal(await guarded(`http://${outside.address}:3080/v1`), OWN);
  assert.equal(await guarded(`http://${outside.address}:3081/v1`), OWN);
  assert.equal(await guarded(`http://${outside.address}:8000/v1`), "allowed");
});

Deno.test("addressGuard leaves a name that does not exist to the call itself, and refuses what is no address", async () => {
  assert.equal(await guarded("http://nosuch.invalid/v1"), "allowed");
  assert.match(await guarded("ftp://fine.example"), /^bad_request: base_url is not an http or https address/);
});

Deno.test("addressGuard looks names up as the system does", async () => {
  const guard = addressGuard({ hosts: [], own: () => ["http://127.0.0.1:3080"] });
  await assert.rejects(guard.lookedUp({ provider: "openai", base_url: "http://localhost:3080/v1" }), {
    code: "forbidden",
  });
  await guard.lookedUp({ provider: "openai", base_url: "http://nosuch.invalid:3080/v1" });
});

Deno.test("addressGuard remembers a name's addresses for ten seconds, and that it has none not at all", async () => {
  const clock = { now: 0 };
  const asked: string[] = [];
  let addresses: string[] = [];
  const guard = addressGuard({
    hosts: [],
    own: () => [],
    now: () => clock.now,
    resolve: (host) => {
      asked.push(host);
      return Promise.resolve(addresses);
    },
  });
  const config = { provider: "openai", base_url: "https://changing.example/v1" };
  await guard.lookedUp(config);
  addresses = ["203.0.113.9"];
  await Promise.all([guard.lookedUp(config), guard.lookedUp(config)]);
  assert.equal(asked.length, 2);
  addresses = ["169.254.169.254"];
  clock.now = 9_999;
  await guard.lookedUp(config);
  clock.now = 10_000;
  await assert.rejects(guard.lookedUp(config), { code: "forbidden" });
  assert.equal(asked.length, 3);
  guard.written(config);
  assert.equal(asked.length, 3, "the address as written is looked at without asking anybody");
  assert.throws(() => guard.written({ provider: "openai", base_url: "http://169.254.169.254" }), {
    code: "forbidden",
  });
});
