// A kind of device, described as data: what its prompts look like, what is harmless, what is never sent to it.
import { AppError } from "../domain/error.ts";
import type { Node } from "../domain/project.ts";

/** A level of a device's command line. `prompt` is matched with the whole last line, without blanks at its end. */
export interface Mode {
  name: string;
  prompt: RegExp;
  /** The mode from which `enter` leads here; `leave` leads back. The lowest mode has none. */
  from?: string;
  enter?: string;
  leave?: string;
}

/** A question that a device may ask. Without `answer` the command is stopped and the question reported. */
export interface Question {
  pattern: RegExp;
  answer?: string;
}

/** One rule of what is never sent, in any mode, and why. */
export interface Refusal {
  pattern: RegExp;
  why: string;
}

export interface Platform {
  name: string;
  /** What people call such a device, for messages. */
  title: string;
  /** Netmiko's names, as in the tag `device_type:…`. */
  deviceTypes: string[];
  /** GNS3 node types that are always of this kind. */
  nodeTypes: string[];
  modes: Mode[];
  /** The mode in which commands run. */
  home: string;
  lineEnding: string;
  /** Stops a running command. */
  interrupt: string;
  /** Empties a half-typed line without running it. */
  clear: string;
  /** Asks for a fresh prompt; confirms nothing. */
  enter: string;
  pager?: { pattern: RegExp; more: string; quit: string };
  questions: Question[];
  /** Lines by which a device says that it did not do what it was told. */
  failures: RegExp[];
  /** Commands that only look or test. */
  readOnly: RegExp[];
  refused: Refusal[];
  /** The characters that a command may have. */
  charset: RegExp;
  maxLength: number;
  onOpen: string[];
  onClose: string[];
  /** Commands that need another time limit than usual, the first match counts. */
  limits: { pattern: RegExp; seconds: number }[];
}

/** What a command would do, known before it is sent. */
export type Verdict = { kind: "read" | "change" } | { kind: "refused"; why: string };

/** Judges `command` exactly as it would be sent: without blanks around it, nothing else changed. */
export function judge(platform: Platform, command: string): Verdict {
  const refused = (why: string): Verdict => ({ kind: "refused", why });
  // A line break would start a second command, and a device may skip a hidden character and read what follows it.
  if (/[\p{C}\p{Zl}\p{Zp}]/u.test(command)) {
    return refused("it holds a line break or a control character; send one command at a time");
  }
  const text = command.trim();
  if (text === "") return refused("it is empty");
  for (const { pattern, why } of platform.refused) if (pattern.test(text)) return refused(why);
  if (!platform.charset.test(text)) return refused("it holds characters that this device does not take");
  if (text.length > platform.maxLength) return refused(`it is longer than ${platform.maxLength} characters`);
  return { kind: platform.readOnly.some((pattern) => pattern.test(text)) ? "read" : "change" };
}

/**
 * The platform of a node: a GNS3 node type that is always of one kind decides, else the tag `device_type:…`. A tag that
 * contradicts the type must not lift the rules of what is really there. Throws `validation_error` that says how to tag.
 */
export function platformOf(node: Node, platforms: readonly Platform[]): Platform {
  const typed = platforms.find((platform) => platform.nodeTypes.includes(node.node_type));
  if (typed) return typed;
  const tag = node.tags.find((one) => one.startsWith("device_type:"))?.slice("device_type:".length).trim();
  const tagged = platforms.find((platform) => tag && platform.deviceTypes.includes(tag));
  if (tagged) return tagged;
  const known = platforms.flatMap((platform) => platform.deviceTypes).join(", ");
  throw new AppError(
    "validation_error",
    tag
      ? `${node.name} has the tag device_type:${tag}, which is not known here. Known types: ${known}.`
      : `What kind of device ${node.name} (${node.node_type}) is, is not known: give the node or its template ` +
        `a tag device_type:<type>. Known types: ${known}.`,
  );
}

/** The time limit of a command in milliseconds. */
export function limitOf(platform: Platform, command: string, usualMs: number): number {
  const special = platform.limits.find(({ pattern }) => pattern.test(command));
  return special ? special.seconds * 1_000 : usualMs;
}

/** The command that leads one step from mode `from` towards mode `to`, up or down the tree of modes. */
export function nextStep(platform: Platform, from: string, to: string): string | undefined {
  const mode = (name?: string) => platform.modes.find((one) => one.name === name);
  const path: string[] = [];
  for (let at = mode(to); at; at = mode(at.from)) path.unshift(at.name);
  const below = path.indexOf(from);
  return below >= 0 ? mode(path[below + 1])?.enter : mode(from)?.leave;
}
