// Takes secrets out of what devices show: configurations are full of passwords, hashes, keys and community names. Only
// the secret goes, and only where a line is one of a configuration: the model needs the rest, and messages such as
// "the password is too short". The log of what was typed is cut more roughly, in `domain/device_secrets.ts`.

/** One for each kind of line that ends in a secret; the group before it is kept, the secret is the last group. */
const LINES: RegExp[] = [
  // Cisco, Ruijie, FRR
  /^(\s*[-+ ]?\s*(?:no )?enable (?:secret|password)(?: level \d+)?(?: \d)? )(\S.*)$/i,
  /^(\s*[-+ ]?\s*(?:no )?username \S+ .*?(?:password|secret)(?: \d)? )(\S+)/i,
  /^(\s*[-+ ]?\s*(?:login )?(?:password|secret)(?: \d)? )(?!encryption|recovery)(\S+)\s*$/i,
  /^(\s*[-+ ]?\s*(?:no )?snmp-server (?:community|host \S+(?: vrf \S+)?(?: (?:traps?|informs?))?(?: version \S+(?: (?:auth|noauth|priv))?)?) )(\S+)/i,
  /^(\s*[-+ ]?\s*snmp-server user .*? auth (?:md5|sha\S*) )(\S+)/i,
  /^(.*\bpriv (?:des|3des|aes)(?: \d+)? )(\S+)/i,
  /^(\s*[-+ ]?\s*(?:key-string|wpa-psk(?: ascii| hex)?(?: \d)?|psk)(?: \d)? ?)(\S+)/i,
  /^(\s*[-+ ]?\s*(?:no )?(?:neighbor|peer) \S+ password (?:(?:\d|cipher|simple) )?)(\S+)/i,
  /^(.*\b(?:(?<!ntp )authentication-key|message-digest-key \d+ md5|ntp authentication-key \d+ \S+)(?: \d)? )(\S+)/i,
  /^(.*\b(?:radius|tacacs)(?:-server)?\b.*? key(?: \d)? )(\S+)/i,
  /^(\s+key [0-9] )(\S+)/i,
  /^(\s+key )(?!chain\b|\d+\s*$)(\S+)\s*$/i,
  /^(.*\b(?:isakmp key|pre-shared-key(?: (?:local|remote|address \S+))?(?: key)?|keyring .* key)(?: \d)? )(\S+)/i,
  /^(.*\b(?:chap|pap sent-username \S+|vtp|ftp|area-password|domain-password|isis) ?password(?: \d)? )(\S+)/i,
  /^(\s*[-+ ]?\s*(?:area-password|domain-password|isis password)(?: clear| md5)? )(\S+)/i,
  /^(.*\b(?:standby|vrrp|glbp) .*authentication (?:text |md5 key-string )?(?:\d )?)(\S+)\s*$/i,
  // Huawei
  /^(.*\b(?:password|key|authentication|community|securityname|md5|hmac-\S+|psk)\b.*\b(?:irreversible-cipher|cipher|simple|plain) )(\S+)/i,
  /^(.*\bsnmp-agent community (?:read|write) )(?!cipher|simple)(\S+)/i,
  // Linux
  /^(\s*[-+ ]?\s*(?:ro|rw)community6?\s+)(\S+)/i,
  /^(\s*[-+ ]?\s*(?:PrivateKey|PresharedKey|"?password"?)\s*[=:]\s*)(\S+)/i,
  /^(.*\bsnmp-agent usm-user v3 \S+ (?:authentication|privacy)-mode \S+ )(\S+)/i,
];

/** Masked before, or the word that says how the secret is written. */
const DONE = /^(?:<secret|(?:irreversible-)?cipher$|simple$|plain$)/i;
const WORTH_A_LOOK = /secret|password|key|community|cipher|auth|priv|psk|host/i;
const PRIVATE_KEY = /-----BEGIN [\w ]*PRIVATE KEY-----[^]*?(?:-----END [\w ]*PRIVATE KEY-----|$)/g;

/**
 * Replaces secrets by `<secret 1>`, `<secret 2>` …: the same secret gets the same number, so that two ends of a link can
 * still be compared. One for each answer; a number means nothing in another one.
 */
export function secretMask(): (text: string) => string {
  const known = new Map<string, string>();
  const name = (secret: string) => {
    const value = secret.replace(/^"|"$/g, "");
    if (!known.has(value)) known.set(value, `<secret ${known.size + 1}>`);
    return known.get(value)!;
  };
  const masked = (whole: string, kept: string, secret: string) =>
    DONE.test(secret) ? whole : kept + name(secret) + whole.slice(kept.length + secret.length);
  const line = (text: string) =>
    WORTH_A_LOOK.test(text) ? LINES.reduce((left, pattern) => left.replace(pattern, masked), text) : text;
  return (text) => text.replace(PRIVATE_KEY, name).split("\n").map(line).join("\n");
}
