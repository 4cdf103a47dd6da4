// Secrets in what devices show.
import assert from "node:assert/strict";
import { secretMask } from "../../src/devices/secrets.ts";

/** The text in which `SECRET` stands for what must not be seen. */
const hides = (text: string) => {
  const masked = secretMask()(text);
  assert.ok(!masked.includes("SECRET"), masked);
  return masked;
};

// K8
Deno.test("secretMask takes passwords, keys and community names out of every platform's configuration", () => {
  const lines = [
    "enable secret 5 $1$SECRET$abc",
    "enable password SECRET",
    "enable secret level 7 9 SECRET",
    "username admin privilege 15 secret 9 SECRET",
    "username admin password 0 SECRET",
    " password 7 SECRET",
    " login password SECRET",
    "snmp-server community SECRET RO 10",
    "snmp-server host 10.0.0.9 version 2c SECRET",
    "snmp-server user u g v3 auth sha SECRET priv aes 128 SECRET",
    " neighbor 10.0.0.2 password 7 SECRET",
    " neighbor 10.0.0.2 password SECRET",
    " ip ospf message-digest-key 1 md5 7 SECRET",
    " ip ospf authentication-key SECRET",
    " area 1 virtual-link 2.2.2.2 message-digest-key 1 md5 SECRET",
    "   key-string 7 SECRET",
    "crypto isakmp key SECRET address 10.0.0.2",
    " pre-shared-key local SECRET",
    "radius-server host 10.0.0.5 auth-port 1812 key 7 SECRET",
    "tacacs-server key SECRET",
    " key 7 SECRET",
    " ppp chap password 0 SECRET",
    " ppp pap sent-username a password 0 SECRET",
    "ntp authentication-key 1 md5 SECRET 7",
    "vtp password SECRET",
    " standby 1 authentication md5 key-string SECRET",
    " isis password SECRET",
    "  wpa-psk SECRET",
    "set authentication password cipher SECRET",
    " local-user admin password irreversible-cipher SECRET",
    " ospf authentication-mode md5 1 cipher SECRET",
    " peer 10.0.0.2 password cipher SECRET",
    "snmp-agent community read cipher SECRET",
    "snmp-agent community write SECRET",
    " pre-shared-key cipher SECRET",
    "ospf authentication-mode simple plain SECRET",
    "snmp-agent target-host trap address udp-domain 10.0.0.9 params securityname cipher SECRET",
    "super password level 3 cipher SECRET",
    "rocommunity SECRET 10.0.0.0/24",
    "PrivateKey = SECRET",
    "  password: SECRET",
    "+ enable secret 5 SECRET",
    "-username a secret SECRET",
    "-----BEGIN RSA PRIVATE KEY-----\nSECRET\n-----END RSA PRIVATE KEY-----",
  ];
  for (const line of lines) assert.match(hides(line), /<secret 1>/, line);
});

Deno.test("secretMask gives the same secret the same number, so that two ends can be compared", () => {
  const mask = secretMask();
  assert.equal(mask(" ip ospf authentication-key one"), " ip ospf authentication-key <secret 1>");
  assert.equal(mask(" ip ospf authentication-key two"), " ip ospf authentication-key <secret 2>");
  assert.equal(mask(" neighbor 1.1.1.1 password one"), " neighbor 1.1.1.1 password <secret 1>");
  assert.equal(mask(mask("enable secret 5 three")), "enable secret 5 <secret 3>");
  assert.equal(secretMask()("snmp-server community abc RO"), "snmp-server community <secret 1> RO");
});

Deno.test("secretMask leaves everything else as it is", () => {
  const text = [
    "service password-encryption",
    "no service password-recovery",
    "key chain RIP",
    " key 1",
    "hostname R1",
    "ip community-list 1 permit 65001:1",
    " set community 65001:1",
    "% Bad passwords",
    "Password:",
    "ip route 10.0.0.0 255.0.0.0 10.1.1.1",
    "Authentication: none, community list 1",
    "  Authorized hosts: 3",
    "aaa authentication login default local",
    "ssh server cipher aes256_ctr",
    "description private link to host A",
  ].join("\n");
  assert.equal(secretMask()(text), text);
});
