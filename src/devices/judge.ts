// What a command would do, known before it is sent: an allowlist decides what only reads, everything else changes.
import { modeOf, type Platform } from "./platform.ts";

/** `destroy` takes something away for good or restarts the device; `refused` is never sent. */
export type Verdict =
  | { kind: "read" | "change" | "destroy" }
  | { kind: "refused"; why: string };

/** Chaining, redirection and substitution, which some shells have where others have none: no reading command needs them. */
const SHELL = /[;&`<>]|\$[({]/;

/** Judges `command` exactly as it would be sent: without blanks around it, nothing else changed. */
export function judge(platform: Platform, command: string): Verdict {
  const refused = (why: string): Verdict => ({ kind: "refused", why });
  // A line break would start a second command, and a device may skip a hidden character and read what follows it.
  if (/[\p{C}\p{Zl}\p{Zp}]/u.test(command)) {
    return refused("it holds a line break or a control character; send one command at a time");
  }
  if (command.trim() === "") return refused("it is empty");
  const given = command.trim();
  const text = withoutPrefix(platform, given);
  for (const { pattern, why } of platform.refused) if (pattern.test(text)) return refused(why);
  if (!platform.charset.test(text)) return refused("it holds characters that this device does not take");
  if (text.length > platform.maxLength) return refused(`it is longer than ${platform.maxLength} characters`);
  if (reads(platform, text)) return { kind: "read" };
  const known = [...platform.exec, ...platform.destroys].some((pattern) => pattern.test(text));
  // In the home mode of some devices a word that is no command is the name of a host to connect to.
  if (text !== given && !known) return refused("it is no command that is known here to work behind `do`");
  return { kind: platform.destroys.some((pattern) => pattern.test(text)) ? "destroy" : "change" };
}

/** The command of the home mode in `text`, which people write with a prefix in other modes: `do show version`. */
export function withoutPrefix(platform: Platform, text: string): string {
  const prefix = configPrefix(platform).trim();
  if (!prefix) return text;
  const [word = ""] = text.split(/\s/, 1);
  // IOS's long form.
  const prefixed = [prefix, `${prefix}-exec`].includes(word.toLowerCase());
  return prefixed ? text.slice(word.length).trim() : text;
}

/** What runs a home-mode command in the configuration mode. */
export function configPrefix(platform: Platform): string {
  return modeOf(platform, platform.configMode ?? "")?.prefix ?? "";
}

function reads(platform: Platform, text: string): boolean {
  if (SHELL.test(text) || !/^[\x20-\x7e]+$/.test(text)) return false;
  const [command = "", ...pipes] = platform.pipes ? text.split("|") : [text];
  if (!platform.readOnly.some((pattern) => pattern.test(command.trim()))) return false;
  return pipes.every((pipe, i) => harmless(pipe.trim(), i === 0, platform));
}

/**
 * The first pipe must be a filter. Behind it `|` is an "or" in most filters' patterns, but some devices take it for one
 * more pipe: nothing that could be a beginning of a word that writes may stand there with something behind it.
 */
function harmless(pipe: string, first: boolean, { pipes }: Platform): boolean {
  if (pipes!.filters.test(pipe)) return true;
  if (first) return false;
  const [word = "", target] = pipe.toLowerCase().split(/\s+/);
  return !target || word === "" || !pipes!.writers.some((writer) => writer.startsWith(word));
}
