// Huawei VRP: VRP 5 (AR, S, NE20E), where a line takes effect at once, and VRP 8 (CE, NE40E), where it is committed.
// Sources: Huawei's "Command Line Interface" chapters (views, keys, two-stage configuration, `|` filters).
import type { Platform } from "../platform.ts";
import { starts, whole, word } from "../words.ts";
import { HELP_KEY, MORE, SYSLOG, UNKNOWN_QUESTIONS } from "./common.ts";

const VRP_LOG =
  /^(?:[A-Z][a-z]{2}\s+\d+ \d{4} |\d{4}-\d\d-\d\d )[\d:.]+(?:[+-][\d:]+)? ?(?:DST )?\S+ %%\d|^#?[A-Z][a-z]{2}\s+\d+ \d{4} [\d:.]+ /;

const firstPassword =
  "it needs its first set-up: it demands a new password, which has to be typed on its console once";
/** Options as `-c 3` and `-vpn-instance A`, words as `ipv6`, an address. */
const ARGUMENTS = "(?:\\s+(?:-[a-z][\\w-]*|[\\w:][\\w.:/-]*))+";

export const huaweiVrp: Platform = {
  name: "huawei_vrp",
  title: "Huawei VRP",
  deviceTypes: ["gns3_huawei_telnet_ce", "huawei_telnet"],
  nodeTypes: [],
  hints: [/huawei|\bvrp\b|\bce(?:128|68|58)\d{2}|ne40e|\bar1000v\b|\busg6000v\b/i],
  modes: [
    { name: "user", prompt: /^<[^\s<>]{1,64}>$/ },
    // The system view and all views below it look alike where a name has a hyphen; `display` and `ping` work in all.
    {
      name: "view",
      prompt: /^\[[~*]?[^\s[\]]{1,120}\]$/,
      from: "user",
      enter: "system-view",
      leave: "return",
      prefix: "",
    },
  ],
  home: "user",
  configMode: "view",
  lineEnding: "\r",
  interrupt: ["\x03"],
  cancel: "\x03",
  // Control-X empties the line before the cursor, Control-E goes to its end first; Control-U is for what only looks like
  // VRP.
  clear: "\x05\x18\x15",
  enter: "\r",
  wake: [{ keys: "\x12\x15" }, { keys: "\r" }],
  invitation: /Press any key to get started|Press ENTER to get started|Please Press ENTER/i,
  pager: { pattern: MORE, more: " ", quit: "\x03" },
  noise: new RegExp(`${SYSLOG.source}|${VRP_LOG.source}`),
  questions: [
    // Leaving without a commit: stay, whatever the device proposes.
    { pattern: /Uncommitted configurations.*\[Y\(yes\)\/N\(no\)\/C\(cancel\)\]:?\s*$/i, answer: "C\r" },
    { pattern: /commit them before exiting\?.*\]:?\s*$/i, answer: "C\r" },
    { pattern: /saved to .*next startup.*\[y\/n\]\s*:?\s*$/i, confirm: "n\r", to: starts("reb|oot") },
    { pattern: /[[(]y\/n[\])](?:\s*\[[yn]\])?\s*:?\s*$/i, confirm: "y\r" },
    ...UNKNOWN_QUESTIONS,
  ],
  startup: [
    {
      pattern: /(?:Change now|change the password|modify the password)\? ?\[Y\/N\]\s*:?\s*$/i,
      answer: "n\r",
    },
    {
      pattern: /(?:auto-?config|ZTP|Zero Touch).*(?:stop|continue|terminate|abort).*\[Y\/N\]\s*:?\s*$/i,
      answer: "y\r",
    },
  ],
  blocked: [
    {
      pattern: /initial password is required.*\[Y\/N\]\s*:?\s*$|^Continue to set it\? ?\[Y\/N\]\s*:?\s*$/i,
      why: firstPassword,
    },
    {
      pattern: /^(?:Please configure the login password.*|Enter Password|New Password)\s*:\s*$/i,
      why: firstPassword,
    },
    {
      pattern: /^(?:BIOS|BootLoad(?:er)?|Fastboot)\s*[>:]\s*$/i,
      why: "it is in its boot loader: boot it on its console",
    },
  ],
  login: {
    username: /^(?:Username|login):\s*$/i,
    password: /^Password:\s*$/i,
    refused: /^(?:Error|%)/im,
    leave: "quit",
  },
  failures: [
    /^Error ?:/i,
    /^(?:%|\^)?\s*(?:Unrecognized|Incomplete|Ambiguous|Wrong|Too many) (?:command|parameter)/i,
    /^Failed to /i,
    /^The (?:command|operation) (?:failed|is not supported)/i,
  ],
  readOnly: [
    starts("dis|play"),
    whole("pi|ng", ARGUMENTS),
    whole("tra|cert", ARGUMENTS),
    whole("dir", "(?:\\s+/all)?(?:\\s+(?:flash|cfcard|sd\\d|usb\\d):[\\w/.-]*)?"),
    whole("pwd"),
  ],
  pipes: {
    filters: starts("i|nclude", "e|xclude", "b|egin", "co|unt", "s|ection", "no-more"),
    writers: ["append", "redirect", "save", "tee", "refresh"],
  },
  refused: [
    HELP_KEY,
    { pattern: starts("deb|ugging", "t|erminal deb|ugging"), why: "debugging floods the console" },
    {
      pattern:
        /^(?:s?telnet|ssh|s?ftp|tftp)\s+(?!(?:ipv6\s+)?(?:server|client|user|authentication|authorization)\b)/i,
      why: "it would open a session on another device, whose commands are judged by other rules",
    },
    {
      pattern: new RegExp(`^${word("dis|play")}\\s+${word("diag|nostic-information")}\\s+\\S`, "i"),
      why: "it would write a file on the device",
    },
    {
      pattern: starts("dia|gnose", "_hidecmd", "start-shell", "bash"),
      why: "it would open an inner shell of the device",
    },
  ],
  destroys: [
    starts("reb|oot", "sch|edule reb|oot"),
    starts("res|et sa|ved-configuration", "res|et re|cycle-bin", "fac|tory-configuration"),
    starts("fo|rmat", "del|ete", "fix|disk", "rst|all"),
    // A whole process with all that belongs to it; `undo ospf cost` on an interface is a usual change.
    /^undo\s+(?:ospf|ospfv3|bgp|isis|rip|ripng)(?:\s+[\d.]+)?$/i,
    starts("undo ip vpn-instance"),
    starts("rol|lback", "clear conf|iguration", "undo rsa", "rsa local-key-pair destroy"),
  ],
  exec: [
    starts(
      "sav|e",
      "reb|oot",
      "res|et",
      "fo|rmat",
      "del|ete",
      "undel|ete",
      "cop|y",
      "mov|e",
      "ren|ame",
      "mk|dir",
      "rm|dir",
    ),
    starts("startup", "sch|edule", "clock", "undo deb|ugging", "undo t|erminal", "fac|tory-configuration"),
  ],
  modeChanges: {
    in: whole("sys|tem-view"),
    out: whole("ret|urn"),
    back: whole("q|uit;exit;logout"),
  },
  comment: /^#/,
  multiline: /^header\s+(?:login|shell)\s+information\s+([^\s\w])/i,
  commit: { pending: /^\[\*/, command: "commit", discard: "clear configuration candidate" },
  configurations: {
    running: "display current-configuration",
    startup: "display saved-configuration",
    none: /no correct configuration file|does not exist|no saved configuration|no startup/i,
    noise: [/^!/, /^return$/, /^Building|^The current configuration/],
  },
  // Descriptions and banners may be in any language.
  charset: /^[\x20-\x7e\p{L}\p{M}\p{N}\p{P}]+$/u,
  maxLength: 510,
  session: {
    paging: { off: "screen-length 0 temporary", on: "undo screen-length temporary" },
    modes: ["user"],
  },
  limits: [
    { pattern: starts("pi|ng", "tra|cert"), seconds: 60 },
    { pattern: /^dis\w* diag/i, seconds: 240 },
    { pattern: starts("sav|e", "commit", "cop|y"), seconds: 90 },
  ],
  restarts: [starts("reb|oot")],
};
