// Secrets in commands of network devices never reach the audit log.
import assert from "node:assert/strict";
import { maskSecrets } from "../../src/domain/device_secrets.ts";

Deno.test("maskSecrets cuts passwords, keys and communities out of commands of every platform", () => {
  const commands = [
    // Cisco IOS, Ruijie RGOS
    "enable secret 5 S3CRET",
    "enable password S3CRET",
    "username bob privilege 15 secret 0 S3CRET",
    "username bob password 7 S3CRET",
    "line vty 0 4\n password S3CRET\n login",
    "snmp-server community S3CRET RO 10",
    "snmp-server host 10.0.0.9 version 2c S3CRET",
    "snmp-server user u g v3 auth sha S3CRET priv aes 128 S3CRET",
    "crypto isakmp key S3CRET address 10.0.0.1",
    "pre-shared-key address 10.0.0.1 key S3CRET",
    "tacacs-server host 10.1.1.1 key S3CRET",
    "radius-server key 7 S3CRET",
    "tacacs server T\n key 7 S3CRET",
    "key chain K\n key 1\n  key-string S3CRET",
    "ip ospf message-digest-key 1 md5 S3CRET",
    "ip ospf authentication-key S3CRET",
    "neighbor 10.0.0.2 password S3CRET",
    "ntp authentication-key 1 md5 S3CRET",
    "standby 1 authentication md5 key-string S3CRET",
    "ppp chap password 0 S3CRET",
    "area-password S3CRET",
    "  SNMP-SERVER COMMUNITY S3CRET",
    // Huawei VRP
    "local-user admin password irreversible-cipher S3CRET",
    "super password level 3 cipher S3CRET",
    "set authentication password cipher S3CRET",
    "snmp-agent community read cipher S3CRET",
    "ospf authentication-mode md5 1 cipher S3CRET",
    "ospf authentication-mode simple plain S3CRET",
    "peer 10.0.0.2 password cipher S3CRET",
    "snmp-agent target-host trap address udp-domain 10.0.0.9 params securityname cipher S3CRET",
    // Linux
    "echo root:S3CRET | sudo chpasswd",
    "curl -u admin:S3CRET http://10.0.0.1",
    "wpa-psk S3CRET",
    "PrivateKey = S3CRET",
    "password: S3CRET",
    'PASSWORD="S3CRET"',
    '{"commands": ["enable secret S3CRET',
  ];
  for (const command of commands) {
    const masked = maskSecrets(command);
    assert.ok(masked.includes("***") && !masked.includes("S3CRET"), masked);
  }
});

Deno.test("maskSecrets leaves what is no secret, and the lines around one", () => {
  for (
    const command of [
      "show run | include password",
      "service password-encryption",
      "no enable password",
      "authentication-mode password",
      "show key chain",
      "key chain K",
      "crypto key generate rsa modulus 2048",
      "ip ospf authentication message-digest",
      "set community 65000:100",
      "interface Gi0/0\n ip address 10.0.0.1 255.255.255.0",
      "show snmp community",
      "",
    ]
  ) assert.equal(maskSecrets(command), command);
  assert.equal(
    maskSecrets("line vty 0 4\n password cisco\n login"),
    "line vty 0 4\n password ***\n login",
  );
});
