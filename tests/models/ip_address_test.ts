import assert from "node:assert/strict";
import { isLoopback, plainAddress } from "../../src/models/ip_address.ts";

Deno.test("plainAddress finds the IPv4 address inside an IPv6 one, however it is written", () => {
  const cases: [string, string][] = [
    ["::ffff:169.254.169.254", "169.254.169.254"],
    ["[::ffff:a9fe:a9fe]", "169.254.169.254"],
    ["0:0:0:0:0:ffff:a9fe:a9fe", "169.254.169.254"],
    ["64:ff9b::a9fe:a9fe", "169.254.169.254"],
    ["2002:a9fe:a9fe::1", "169.254.169.254"],
    ["::169.254.169.254", "169.254.169.254"],
    ["::1", "::1"],
    ["::", "::"],
    ["FE80::1%eth0", "fe80::1"],
    ["fd00:ec2::254", "fd00:ec2::254"],
    ["2001:db8::a9fe:a9fe", "2001:db8::a9fe:a9fe"],
    ["10.0.0.1", "10.0.0.1"],
    ["Example.ORG", "example.org"],
    ["1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8:9"],
  ];
  for (const [given, expected] of cases) assert.equal(plainAddress(given), expected, given);
});

Deno.test("isLoopback knows every name of the machine itself", () => {
  for (const host of ["127.0.0.1", "127.9.9.9", "0.0.0.0", "::1", "::", "localhost", "a.localhost"]) {
    assert.ok(isLoopback(host), host);
  }
  for (const host of ["128.0.0.1", "localhost.example", "10.0.0.1", "::2"]) {
    assert.ok(!isLoopback(host), host);
  }
});
