// FRRouting's vtysh, started at once on the console or from a Linux shell. What is not marked so was seen on FRR 8.4.
// Sources: FRR's user guide ("VTYSH", "Basic commands"), and the recordings in tests/testdata/consoles/frr.
import type { Platform } from "../platform.ts";
import { starts, whole } from "../words.ts";
import { CISCO_LIKE, HELP_KEY, UNKNOWN_QUESTIONS } from "./common.ts";
import { LINUX_LOGIN, LINUX_SHELL, LINUX_WAKE, SHELL_PAGER } from "./linux.ts";

const host = "(?:\\s+(?:ip|ipv6))?\\s+[\\w:][\\w.:%-]*";

export const frr: Platform = {
  ...CISCO_LIKE,
  name: "frr",
  title: "FRRouting",
  deviceTypes: ["gns3_frr_telnet"],
  nodeTypes: [],
  hints: [/\bfrr\b|frrouting|\bfrr[-_\d]/i],
  modes: [
    { name: "shell", prompt: LINUX_SHELL },
    { name: "user", prompt: /^[\w.-]{1,64}>$/, from: "shell", enter: "vtysh", leave: "exit" },
    { name: "exec", prompt: /^[\w.-]{1,64}#$/, from: "user", enter: "enable", leave: "disable" },
    {
      name: "config",
      prompt: /^[\w.-]{1,64}\(config\)#$/,
      from: "exec",
      enter: "configure terminal",
      leave: "end",
      prefix: "do ",
    },
    {
      name: "config part",
      prompt: /^[\w.-]{1,64}\(config-[\w-]+\)#$/,
      from: "config",
      leave: "exit",
      prefix: "do ",
    },
  ],
  comment: /^[!#]/,
  home: "exec",
  configMode: "config",
  interrupt: ["\x03"],
  wake: LINUX_WAKE,
  invitation: /Press (?:ENTER|RETURN)|press Enter to activate/i,
  pager: SHELL_PAGER,
  questions: UNKNOWN_QUESTIONS,
  startup: [],
  blocked: [],
  login: LINUX_LOGIN,
  failures: [
    /^% ?(?:Unknown|Ambiguous|Malformed|Invalid|Incomplete|Can't|Cannot|Configuration failed|There is no|No such|Specify|Please|Bad|Error|Failed|Command|Not |Unable|.* not (?:found|enabled|running|exist))/i,
    /^(?:Can't|Cannot|Failed to|No such) /i,
    /^(?:ping|traceroute)6?: /,
    /(?:vtysh|sh): (?:command )?not found/,
  ],
  readOnly: [
    starts("sh|ow"),
    whole("wr|ite t|erminal"),
    whole("pi|ng", host),
    whole("traceroute", host),
    whole("find", "\\s+[\\w -]+"),
    whole("li|st"),
  ],
  pipes: { filters: starts("inc|lude"), writers: ["append", "redirect", "tee"] },
  refused: [
    HELP_KEY,
    { pattern: starts("start-s|hell"), why: "it would open a shell of the router's own system" },
    { pattern: starts("deb|ug"), why: "debugging floods the console and the log" },
    {
      pattern: starts("telnet", "ssh"),
      why: "it would open a session on another device, whose commands are judged by other rules",
    },
    { pattern: starts("cra|shlog", "output file", "copy"), why: "it is not used here" },
  ],
  configurations: {
    running: "show running-config",
    noise: [/^Building configuration/, /^Current configuration:/, /^end$/],
  },
  // "2026/11/30 17:59:46 [PHJDC-499N2][EC 100663314] STARVATION: …", "2026/11/30 17:59:46 OSPF: [M7Q4P-46WDR] …"
  noise: /^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d(?:\.\d+)? (?:[A-Z]+: |\[[A-Z0-9]{5}-[A-Z0-9]{5}\])/,
  charset: /^[\x20-\x7e]+$/,
  maxLength: 400,
  limits: [
    { pattern: starts("do traceroute", "traceroute"), seconds: 60 },
    // vtysh's ping runs until it is stopped.
    { pattern: starts("do pi|ng", "pi|ng"), seconds: 6, endless: true },
  ],
  restarts: [],
};
