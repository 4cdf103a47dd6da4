// Secrets as they stand in commands and configurations of network devices and hosts: they are cut out for the log.

const CUT = "***";

/**
 * What stands before a secret on IOS, VRP, RGOS, FRR and Linux. All that follows on the line is cut: how the secret is
 * encoded, quoted and where it ends differs by device and version, and a guess that is wrong once shows it.
 */
const BEFORE: readonly string[] = [
  // Users, lines, privileged modes, neighbours.
  String.raw`\b(?:password|passwd|secret|passphrase|passcode|psk)`,
  // Key chains, RADIUS and TACACS+, IPsec, routing protocols, NTP, HSRP, WireGuard.
  String
    .raw`\b(?:key-string|(?:pre-)?shared-key|presharedkey|private-?key|server-key|authentication-key|isakmp\s+key)`,
  String.raw`\bmessage-digest-key\s+\d+`,
  String.raw`\b(?:tacacs|radius)\S*\b[^\n]*\bkey`,
  String.raw`^\s*key(?=\s+[05678]\s+\S)`,
  String.raw`\bauthentication-mode\s+(?:simple|(?:hmac-)?(?:md5|sha\S*))`,
  String.raw`\bauthentication\s+(?:md5|text)`,
  // SNMP communities, and the keys of version 3.
  String.raw`\bsnmp\S*\s[^\n]*?\bcommunity`,
  String.raw`\bsnmp-server\s+host\s+\S+`,
  String.raw`\b(?:ro|rw)community6?`,
  String.raw`\bsecurityname`,
  String.raw`\bauth\s+(?:md5|sha\S*)`,
  // Programs on Linux hosts.
  String.raw`\b(?:curl|wget)\b[^\n]*?\s(?:-u|--user)`,
];

const SECRET = new RegExp(`(${BEFORE.join("|")})[ \\t]*[ \\t=:][ \\t]*\\S[^\\n]*`, "gim");
/** `echo root:secret | chpasswd` */
const CHANGED = /\b(echo|printf)\b[^\n]*(?=\|\s*(?:sudo\s+)?chpasswd)/gi;

/** The text with the secrets in it cut out, line by line. */
export function maskSecrets(text: string): string {
  return text.replace(SECRET, `$1 ${CUT}`).replace(CHANGED, `$1 ${CUT} `);
}
