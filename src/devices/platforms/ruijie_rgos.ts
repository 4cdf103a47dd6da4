// Ruijie RGOS: Cisco's manners with words and settings of its own.
// Sources: Ruijie's "Configuring CLI" guides (modes, keys, filters) and the settings that Netmiko uses for it.
import type { Platform } from "../platform.ts";
import { starts, whole } from "../words.ts";
import { CISCO_LIKE, PLAIN_ARGUMENTS, SYSLOG, UNKNOWN_QUESTIONS } from "./common.ts";

export const ruijieRgos: Platform = {
  ...CISCO_LIKE,
  name: "ruijie_rgos",
  title: "Ruijie RGOS",
  deviceTypes: ["gns3_ruijie_telnet", "ruijie_os_telnet"],
  nodeTypes: [],
  hints: [/ruijie|rgos|\brg-\w/i],
  modes: [
    { name: "user", prompt: /^[^\s()<>[\]#%]{1,63}>$/ },
    { name: "exec", prompt: /^[^\s()<>[\]#%]{1,63}#$/, from: "user", enter: "enable", leave: "disable" },
    {
      name: "config",
      prompt: /^[^\s()<>[\]#%]{1,63}\(config\)#$/,
      from: "exec",
      enter: "configure terminal",
      leave: "end",
      prefix: "do ",
    },
    {
      name: "config part",
      prompt: /^[^\s()<>[\]#%]{1,63}\([\w/. -]+\)#$/,
      from: "config",
      leave: "exit",
      prefix: "do ",
    },
  ],
  home: "exec",
  configMode: "config",
  interrupt: ["\x03", "\x1e"],
  // No Control-C: while it boots, that opens the boot menu.
  wake: [{ keys: "\x12\x15" }, { keys: "\r" }],
  invitation: /Press RETURN to get started|Press any key to continue/i,
  noise: new RegExp(`${SYSLOG.source}|^\\*[A-Z][a-z]{2} +\\d+ [\\d:.]+: \\S* ?%`),
  questions: [
    { pattern: /^Password:\s*$/i, password: true, to: starts("en|able") },
    {
      pattern: /\[(?:yes|no|y|n)(?:\/\w+)?\]\s*:?\s*$|\(y\/n\)\s*[:?]?\s*$/i,
      confirm: "y\r",
      to: starts("rel|oad", "del|ete", "cle|ar"),
    },
    { pattern: /\[confirm\]\s*$/i, confirm: "\r" },
    ...UNKNOWN_QUESTIONS,
  ],
  startup: [
    {
      pattern: /(?:initial configuration dialog|system configuration dialog)\?? \[(?:yes\/no|y\/n)\]:?\s*$/i,
      answer: "no\r",
    },
    { pattern: /terminate autoinstall\? \[yes\](?:\/no)?:?\s*$/i, answer: "yes\r" },
  ],
  blocked: [
    {
      pattern: /^(?:bootloader|uboot|=> ?|BootLoader)[>#:]?\s*$/i,
      why: "it is in its boot loader: boot it on its console",
    },
    {
      pattern: /^(?:Please )?(?:set|enter|input) (?:a |the )?new .{0,30}password.*:\s*$/i,
      why: "it needs its first set-up: it demands a new password, which has to be typed on its console once",
    },
  ],
  login: {
    username: /(?:^|\s)(?:Username|login):\s*$/i,
    password: /^Password:\s*$/i,
    refused: /^% (?:Login|Authentication|Access|Bad|Error)/im,
    leave: "exit",
  },
  failures: [
    /^% ?(?:Invalid|Incomplete|Ambiguous|Unrecognized|Unknown|Bad|Error|Cannot|Can't|Unable|No such|Not |Wrong|Illegal|Fail)/i,
    /^% ?(?:Access denied|Authorization|Authentication|Command rejected|User doesn't have|Permission|Warning: .*fail)/i,
    /^% ?.* (?:overlaps? with|is already|already exists|in use|must be|cannot be|is not (?:allowed|supported|valid))/i,
  ],
  readOnly: [
    ...CISCO_LIKE.readOnly,
    whole("tracert", PLAIN_ARGUMENTS),
  ],
  pipes: {
    filters: starts("i|nclude", "e|xclude", "b|egin"),
    writers: ["append", "redirect", "tee", "save", "output"],
  },
  configurations: {
    running: "show running-config",
    startup: "show startup-config",
    none: /startup-config (?:is not present|does not exist)|no such file|not exist/i,
    noise: [
      /^Building configuration/,
      /^Current configuration ?:/,
      /^Using \d+ out of \d+ bytes/,
      /^! ?(?:Last configuration|NVRAM config)/,
      /^end$/,
    ],
  },
  charset: /^[\x20-\x7e]+$/,
  maxLength: 254,
  session: {
    paging: { off: "terminal length 0", on: "terminal length $1" },
    width: { wide: "terminal width 256", usual: "terminal width 79" },
  },
  limits: [
    { pattern: starts("do tra|ceroute", "tra|ceroute", "tracert", "do pi|ng", "pi|ng"), seconds: 60 },
    { pattern: starts("do cop|y", "cop|y", "do wr|ite", "wr|ite"), seconds: 60 },
  ],
  restarts: [starts("rel|oad", "do rel|oad")],
};
