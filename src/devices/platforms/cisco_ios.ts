// Cisco IOS and what speaks like it in a lab: Dynamips, IOL/IOU, IOSv, IOS XE (CSR 1000v, Catalyst 8000v).
// Sources: Cisco's "Using the Command-Line Interface" (keys, modes, filters) and what such consoles are known to print.
import type { Platform } from "../platform.ts";
import { starts, whole } from "../words.ts";
import { CISCO_LIKE, OWN_FILE, UNKNOWN_QUESTIONS } from "./common.ts";

const firstSetUp =
  "it needs its first set-up: it demands a new enable secret, which has to be typed on its console once";

export const ciscoIos: Platform = {
  ...CISCO_LIKE,
  name: "cisco_ios",
  title: "Cisco IOS",
  deviceTypes: ["cisco_ios_telnet", "cisco_ios"],
  nodeTypes: ["dynamips", "iou"],
  hints: [
    /ios(?:v|l|u|[-_ ]?xe)\b|\bv?ios\b|vios|cisco|crb[-_]linux|adventerprise|ipbase/i,
    /\b(?:csr1000v|cat(?:alyst)?[-_ ]?[89]\d{3}v?|c[1-9]\d{3})\b/i,
  ],
  modes: [
    { name: "user", prompt: /^[^\s()<>[\]#%]{1,63}>$/ },
    { name: "exec", prompt: /^[^\s()<>[\]#%]{1,63}#$/, from: "user", enter: "enable", leave: "disable" },
    {
      name: "config",
      // Long names are cut off here, so that it need not begin like the other prompts.
      prompt: /^[^\s()<>[\]#%]{1,63}\(config\)#$/,
      from: "exec",
      enter: "configure terminal",
      leave: "end",
      prefix: "do ",
    },
    { name: "tcl", prompt: /^[^\s()<>[\]#%]{1,63}\(tcl\)#$/, from: "exec", leave: "tclquit" },
    {
      name: "config part",
      prompt: /^[^\s()<>[\]#%]{1,63}\([\w-]+(?:-[\w-]+)*\)#$/,
      from: "config",
      leave: "exit",
      prefix: "do ",
    },
  ],
  home: "exec",
  configMode: "config",
  // Control-^ stops what runs, Control-C what asks.
  interrupt: ["\x1e", "\x03"],
  // Control-R draws the line again and is no answer to anything; Control-U takes it away where it is no key. Control-C
  // ends a question that was not drawn.
  wake: [{ keys: "\x12\x15" }, { keys: "\x03" }, { keys: "\r" }],
  invitation: /Press RETURN to get started/i,
  questions: [
    { pattern: /^Password:\s*$/i, password: true, to: starts("en|able") },
    { pattern: /Save\? \[yes\/no\]:\s*$/i, confirm: "no\r", to: starts("rel|oad") },
    { pattern: /Reset .*\? \[no\]:\s*$/i, confirm: "yes\r", to: starts("cle|ar") },
    { pattern: /remove .*\? \[yes\/no\]:\s*$/i, confirm: "yes\r", to: /zeroize|trustpoint/i },
    {
      pattern: /^(?:Destination|Delete) filename \[[^\]]+\]\?\s*$/i,
      confirm: "\r",
      to: starts("cop|y", "del|ete"),
    },
    { pattern: /\[confirm\]\s*$/i, confirm: "\r" },
    ...UNKNOWN_QUESTIONS,
  ],
  startup: [
    { pattern: /initial configuration dialog\? \[yes\/no\]:\s*$/i, answer: "no\r" },
    { pattern: /basic management setup\? \[yes\/no\]:\s*$/i, answer: "no\r" },
    { pattern: /terminate autoinstall\? \[yes\](?:\/no)?:?\s*$/i, answer: "yes\r" },
    { pattern: /^% Please answer 'yes' or 'no'\.?\s*$/i, answer: "no\r" },
  ],
  blocked: [
    { pattern: /^Enter enable secret:\s*$/i, why: firstSetUp },
    {
      pattern: /^rommon \d+ ?>\s*$/i,
      why: "it is in its ROM monitor and has not booted IOS: boot it on its console",
    },
    {
      pattern: /^(?:switch|loader)[:>]\s*$/i,
      why: "it is in its boot loader and has not booted IOS: boot it on its console",
    },
  ],
  login: {
    username: /(?:^|\s)(?:Username|login):\s*$/i,
    password: /^Password:\s*$/i,
    refused: /^% (?:Login invalid|Authentication failed|Bad (?:passwords|secrets)|Access denied)/im,
    leave: "exit",
  },
  failures: [
    /^% ?(?:Invalid|Incomplete|Ambiguous|Unrecognized|Unknown|Bad|Error|Cannot|Can't|Unable|No such|Not |Wrong|Illegal|Insufficient)/i,
    /^% ?(?:Access denied|Authorization failed|Command rejected|Login invalid|Authentication failed|Failed|Permission)/i,
    /^% ?.* (?:overlaps with|is already|already exists|in use by|must be|cannot be|is not (?:allowed|supported|valid|a valid|defined|configured|running|enabled))/i,
    /^Command rejected:/i,
    /^%Error/i,
  ],
  readOnly: [
    ...CISCO_LIKE.readOnly,
    whole("more", `\\s+${OWN_FILE}`),
  ],
  pipes: {
    filters: starts("i|nclude", "e|xclude", "b|egin", "s|ection", "c|ount"),
    writers: ["append", "redirect", "tee", "format"],
  },
  refused: [
    ...CISCO_LIKE.refused,
    { pattern: /^sh\w* .*\sto-f\w*\s/i, why: "it would write a file on the device" },
    { pattern: starts("gue|stshell", "req|uest"), why: "it would open the shell of the device's own system" },
  ],
  destroys: [
    ...CISCO_LIKE.destroys,
    starts("conf|igure rep|lace"),
    starts("sq|ueeze", "def|ault int|erface", "no cr|ypto p|ki tr|ustpoint"),
  ],
  configurations: {
    running: "show running-config",
    startup: "show startup-config",
    none: /startup-config is not present|%% Non-volatile configuration memory/i,
    noise: [
      /^Building configuration/,
      /^Current configuration ?:/,
      /^Using \d+ out of \d+ bytes/,
      /^! (?:Last configuration change|NVRAM config last updated|No configuration change)/,
      /^ntp clock-period /,
      /^end$/,
    ],
  },
  charset: /^[\x20-\x7e]+$/,
  maxLength: 254,
  session: {
    paging: { off: "terminal length 0", on: "terminal length $1" },
    width: { wide: "terminal width 511", usual: "terminal width 80" },
  },
  limits: [
    { pattern: starts("do tra|ceroute", "tra|ceroute", "do pi|ng", "pi|ng"), seconds: 60 },
    { pattern: /^(?:do )?sh\w* tech/i, seconds: 240 },
    { pattern: starts("do cop|y", "cop|y", "do wr|ite", "wr|ite", "cr|ypto k|ey g|enerate"), seconds: 90 },
  ],
  restarts: [starts("rel|oad", "do rel|oad")],
};
