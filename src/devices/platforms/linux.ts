// A Linux shell: hosts, containers, network appliances. Reading is a narrow list of programs with harmless arguments.
import type { Login, Platform, WakeKeys } from "../platform.ts";
import { UNKNOWN_QUESTIONS } from "./common.ts";
import { LINUX_READS } from "./linux_reads.ts";

/** `root@host:~# `, `[user@host dir]$ `, `host:/etc# `, `/ # `, `~ $ `, `bash-5.1# `, `# `. */
export const LINUX_SHELL =
  /^(?:\([\w.-]+\) ?)?(?:\[?[\w.-]+@[\w.-]+(?:[:\s][^#$]*)?\]?|[\w.-]+:[~/][^#$]*|[~/][^#$]*|(?:ba|da|z|k|a)?sh-[\d.]+)?\s?[#$]$/;

export const LINUX_LOGIN: Login = {
  username: /(?:^|\s)login:\s*(?:\^L)?$/,
  password: /^Password:\s*$/i,
  refused: /^Login incorrect/im,
  leave: "exit",
};

/**
 * Control-L draws a shell's prompt again. A program that reads lines shows it as `^L`: it gets a comment, which is no
 * answer. Return alone only where nothing shows at all: a login, or "press Enter to activate this console".
 */
export const LINUX_WAKE: WakeKeys[] = [
  { keys: "\x0c" },
  { keys: "\x15#\r", after: /\^L$/ },
  { keys: "\x15\r", unless: /\^L/ },
];

/** Pagers that programs start by themselves: `more` and `less`. */
export const SHELL_PAGER = {
  pattern: /^\s*(?:-+ ?More ?-+(?:\(\d+%\))?|:|\(END\)|lines \d+-\d+(?:\/\d+)?(?: \(END\)| \d+%)?)\s*$/i,
  more: " ",
  quit: "q",
};

/** A command at the beginning, behind another one, or behind sudo. */
const atCommand = (command: string) => new RegExp(`(?:^|[;&|(\`{]|\\bsudo\\s)\\s*${command}`);

const fullScreen = "it needs a terminal of its own and cannot be used from here";

export const linux: Platform = {
  name: "linux",
  title: "Linux shell",
  deviceTypes: ["gns3_linux_telnet"],
  nodeTypes: [],
  hints: [/alpine|ubuntu|debian|busybox|linux|centos|fedora|tinycore|ipterm|toolbox|networkers/i],
  modes: [{ name: "shell", prompt: LINUX_SHELL }],
  comment: /^#/,
  home: "shell",
  configMode: "shell",
  lineEnding: "\r",
  interrupt: ["\x03"],
  cancel: "\x03",
  clear: "\x05\x15",
  enter: "\r",
  wake: LINUX_WAKE,
  invitation: /press (?:ENTER|RETURN) to activate/i,
  pager: SHELL_PAGER,
  questions: [
    { pattern: /^\[sudo\] password for \S+:\s*$/, password: true },
    ...UNKNOWN_QUESTIONS,
  ],
  startup: [],
  blocked: [
    { pattern: /^grub>\s*$/i, why: "it is in its boot loader: boot it on its console" },
    {
      pattern: /^(?:New|Enter new UNIX|Retype new) password:\s*$/i,
      why: "it demands a new password, which has to be typed on its console once",
    },
  ],
  login: LINUX_LOGIN,
  failures: [
    /^(?:-?(?:ba|da|a|z|k)?sh: )?(?:line \d+: )?[^:]{1,120}: (?:[^:]{1,200}: )?(?:command not found|not found|applet not found|Permission denied|Operation not permitted|No such file or directory|(?:unrecognized|invalid|unknown) option.*)$/i,
    /^RTNETLINK answers: /,
    /^(?:Error|Cannot find device|Command failed|Object ".*" is unknown|Usage:|ifconfig: |ping: |traceroute: |arp: |route: |ip: )/,
    /^Sorry, try again\.$/,
    // Programs that fetch something, in a lab without a way out.
    /\b(?:Temporary failure resolving|Temporary failure in name resolution|DNS lookup error|temporary error \(try again later\))/i,
    /\b(?:Could not|unable to) resolve\b|^wget: |^curl: \(|^fatal: unable to access/i,
    /^(?:E|ERROR): /,
  ],
  readOnly: LINUX_READS,
  refused: [
    {
      pattern: /^(?:sudo\s+)?(?:vim?|nano|emacs|mc|less|man|screen|tmux|htop|minicom)(?:\s|$)/,
      why: fullScreen,
    },
    {
      pattern: /^(?:sudo\s+)?(?:ssh|telnet|rlogin|slogin|cu)(?:\s|$)/,
      why: "it would open a session on another device, whose commands are judged by other rules",
    },
  ],
  // Only where a command stands: the risk of a line is told before it is known what kind of device it is for, and there
  // `no shutdown` and `description reboot` are harmless.
  destroys: [
    atCommand("(?:reboot|poweroff|halt|mkfs\\S*|fdisk|parted|wipefs|shred|userdel|init\\s+[06])(?![\\w-])"),
    atCommand("shutdown\\s+(?:-|now|\\+\\d)"),
    atCommand("rm\\s+(?:-\\w*\\s+)*-\\w*[rRf]"),
    atCommand("dd\\s.*\\bof="),
    atCommand("find\\s.*-delete\\b"),
  ],
  exec: [],
  modeChanges: { in: /^(?!)/, out: /^(?!)/, back: /^(?:exit|logout)$/ },
  charset: /^[\x20-\x7e\p{L}\p{M}\p{N}\p{P}\p{S}]+$/u,
  maxLength: 1_000,
  limits: [
    { pattern: /^(?:sudo\s+)?ping6?\s(?!.*-[cw] ?\d)/, seconds: 8, endless: true },
    { pattern: /^(?:sudo\s+)?(?:ping6?|traceroute6?|tracepath6?)\s/, seconds: 60 },
    { pattern: /^(?:sudo\s+)?(?:apt|apt-get|apk|yum|dnf|pip3?)\s/, seconds: 180 },
  ],
  restarts: [/^(?:sudo\s+)?(?:reboot|poweroff|halt|shutdown)(?:\s|$)/],
};
