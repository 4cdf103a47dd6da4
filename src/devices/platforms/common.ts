// What several kinds of command lines have in common: Cisco's manners, which Ruijie and FRR follow, and shells.
import type { Platform, Question } from "../platform.ts";
import { starts, whole } from "../words.ts";

/** Every spelling of "there is more", alone on its line. */
export const MORE = /^\s*(?:-+ ?More ?-+(?:\(\d+%\))?|<-+ ?More ?-+>|\(More\)\.*)\s*$/i;

/** Questions whose meaning is not known: nothing is answered, the command is stopped. */
export const UNKNOWN_QUESTIONS: Question[] = [
  { pattern: /\[confirm\]\s*$/i },
  { pattern: /[[(](?:y(?:es)?\/no?|y\(es\)\/n\(o\)\S*)[\])]\s*[:?]?\s*$/i },
  { pattern: /\[(?:yes|no|y|n)\]\s*[:?]\s*$/i },
  { pattern: /\?\s*\[[^\]]*\]\s*:?\s*$/ },
  { pattern: /^[A-Z].{3,}\[[^\]]*\]\s*[:?]\s*$/ },
  { pattern: /^[A-Z].{3,}\?\s*$/ },
  {
    pattern:
      /^(?:(?:re-?)?enter|confirm|input|old|new|current|retype)?\s*(?:\w+ ){0,3}pass(?:word|phrase)\b.{0,30}:\s*$/i,
  },
];

/** Log lines: `*Mar  1 00:00:10.123: %SYS-5-CONFIG_I: …`, with or without number, host name and time. */
export const SYSLOG =
  /^(?:<\d+>)?(?:\d+: )?(?:[\w.-]+: )?(?:[*.]?(?:[A-Z][a-z]{2}\s+\d+|\d{4}[-/]\d)[^%]{0,60})?%[\w/]+-(?:\w+-)?\d-\w+: ?|^-(?:Process|Traceback)=/;

/** What an address or a name of a host may hold, and numbers and words of options. */
export const PLAIN_ARGUMENTS = "(?:\\s+[\\w:][\\w.:%/-]*)+";

/** A file on the device itself; other names would make it fetch something from the network. */
export const OWN_FILE = "(?:flash\\d?|bootflash|nvram|system|disk\\d|slot\\d|unix|usb\\w*):[\\w/.-]*";

/** A line editor that asks for help at the very key. */
export const HELP_KEY = {
  pattern: /\?/,
  why: "`?` asks the device for help at once and cannot be sent as part of a command",
};

const otherDevice = "it would open a session on another device, whose commands are judged by other rules";

/** Reading and refusing as on Cisco's command line. */
export const CISCO_LIKE = {
  lineEnding: "\r",
  cancel: "\x03",
  clear: "\x05\x15",
  enter: "\r",
  pager: { pattern: MORE, more: " ", quit: "q" },
  noise: SYSLOG,
  readOnly: [
    starts("sh|ow"),
    whole("pi|ng", PLAIN_ARGUMENTS),
    whole("tra|ceroute", PLAIN_ARGUMENTS),
    whole("wr|ite t|erminal"),
    whole("dir", `(?:\\s+/(?:all|recursive))?(?:\\s+${OWN_FILE})?`),
    whole("who"),
    whole("pwd"),
  ],
  refused: [
    HELP_KEY,
    { pattern: starts("deb|ug"), why: "debugging can block a device and floods its console" },
    { pattern: starts("te|st"), why: "`test` can crash a device" },
    { pattern: starts("telnet", "ssh", "rlogin", "resume"), why: otherDevice },
    { pattern: starts("tc|lsh", "setup"), why: "it would open a dialogue that cannot be led from here" },
  ],
  destroys: [
    starts("rel|oad"),
    starts("wr|ite er|ase"),
    starts("era|se"),
    starts("fo|rmat"),
    starts("del|ete"),
    starts("cr|ypto k|ey z|eroize"),
    starts("no router"),
    /^no\s+(?:ip\s+vrf\s+(?!forw)|vrf\s+def)/i,
  ],
  exec: [
    // `sh` alone is `shutdown` where an interface is configured.
    starts("sho|w"),
    /^sh\s+\S/i,
    starts("pi|ng", "tra|ceroute", "wr|ite", "cop|y", "cle|ar", "rel|oad", "era|se", "del|ete", "fo|rmat"),
    starts("dir", "ren|ame", "mk|dir", "rm|dir", "und|ebug", "no deb|ug", "clo|ck set"),
  ],
  modeChanges: {
    in: whole("en|able;conf|igure;conf|igure t|erminal"),
    out: whole("end"),
    back: whole("exi|t;q|uit;logout;disa|ble"),
  },
  comment: /^!/,
  multiline:
    /^banner\s+(?:(?:motd|login|exec|incoming|prompt-timeout|slip-ppp|config-save)\s+)?(\^C|[^\s\w])/i,
} satisfies Partial<Platform>;
