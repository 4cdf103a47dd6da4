// VPCS, GNS3's small virtual PC. Its prompt is the PC's name; it takes every unique beginning of a command's name.
import type { Platform } from "../platform.ts";

export const vpcs: Platform = {
  name: "vpcs",
  title: "VPCS",
  deviceTypes: ["gns3_vpcs_telnet"],
  nodeTypes: ["vpcs"],
  hints: [],
  modes: [{ name: "pc", prompt: /^\S{1,64}>$/ }],
  home: "pc",
  lineEnding: "\r",
  interrupt: ["\x03"],
  cancel: "\x03",
  // It has no key that empties the line. Several versions heed one backspace of those that arrive together.
  clear: "\x7f".repeat(8),
  enter: "\r",
  wake: [{ keys: "\r" }],
  questions: [],
  startup: [],
  blocked: [],
  failures: [
    /^Bad command:/,
    /^Invalid (?:address|arguments?|options?|command|mask|gateway)/i,
    /^(?:Incomplete|Unknown) command/i,
    /^Can't (?:find dhcp server|open )/i,
    /^Address not changed/i,
    /is being used by MAC/,
  ],
  readOnly: [
    /^sho?w?(?:\s[^|]*)?$/i,
    /^p(?:i|in|ing)?\s+[^\s|][^|]*$/i,
    /^t(?:r|ra|rac|race|racer)?\s+[^\s|][^|]*$/i,
    /^arp$/i,
    /^ver(?:sion)?$/i,
    /^history$/i,
    /^neighbor$/i,
    /^(?:help|\?)$/i,
    /^(?:ip|dhcp|set|save|load|clear|relay|ping|tracer?|trace|show)\s+\?$/i,
  ],
  refused: [
    { pattern: /^\s*!/, why: "`!` would run a program on the GNS3 server", host: true },
    {
      pattern: /^r(?:l\w*)?(?:\s|$)/i,
      why: "`rlogin` would connect from the GNS3 server itself",
      host: true,
    },
    { pattern: /^q\w*(?:\s|$)/i, why: "`quit` would end the PC: use stop_gns3_node" },
    { pattern: /^d(?:i\w*)?(?:\s|$)/i, why: "`disconnect` would cut off everybody on this console" },
    {
      pattern: /^(?:lo?a?d?|sav?e?)\s+(?!\?$|[\w-][\w.-]*$)/i,
      why: "`save` and `load` take one plain file name, no folder",
      host: true,
    },
  ],
  // It skips other characters and reads on, so that they would hide what a command really is.
  charset: /^[\x20-\x7e]+$/,
  // Its line buffer has 128 bytes, and old versions write past its end.
  maxLength: 120,
  destroys: [],
  exec: [],
  modeChanges: { in: /^(?!)/, out: /^(?!)/, back: /^(?!)/ },
  restarts: [],
  limits: [
    { pattern: /^p\w*\s.*\s-t(?:\s|$)/i, seconds: 10, endless: true },
    { pattern: /^p\w*\s.*\s-c\s*\d+/i, seconds: 120 },
    { pattern: /^[pt]\w*\s/i, seconds: 60 },
  ],
};
