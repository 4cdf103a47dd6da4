// Everything the assistant knows, from files: ours first, then those of the skills folder over them.
import { AppError } from "../domain/error.ts";
import { readDocument, type SkillFile } from "./document.ts";
import { forbiddenBy, readForbidden } from "./forbidden.ts";
import {
  type DeviceSkill,
  type InjectionSkill,
  type PacketSkill,
  readDevice,
  readInjection,
  readPacket,
} from "./kinds.ts";

/** A file that was left out, and why. */
export interface Problem {
  file: string;
  problem: string;
}

/** What the tools tell the model. */
export interface Knowledge {
  devices: ReadonlyMap<string, DeviceSkill>;
  packets: ReadonlyMap<string, PacketSkill>;
  injections: ReadonlyMap<string, InjectionSkill>;
  problems: readonly Problem[];
}

/** One state of the skills, never changed: a turn keeps the one that it started with. */
export interface SkillSet {
  /** Prompts of the folder by name, as `teaching_assistant`; they replace ours. */
  prompts: ReadonlyMap<string, string>;
  forbiddenCommands: readonly string[];
  /**
   * Why a command may not be typed on any device, as half a sentence; undefined when nothing is against it. For shells,
   * where a word is not taken for a longer one, `abbreviates` is false.
   */
  forbidden(command: string, abbreviates?: boolean): string | undefined;
  /** `builtin`, or the beginning of a hash over the folder's files. */
  version: string;
  /** Parsed when it is first asked for, because no answer should wait for that; never rejects. */
  knowledge(): Promise<Knowledge>;
}

/** What a set is built from. */
export interface SkillSource {
  /** The embedded files. */
  builtin(): Promise<readonly SkillFile[]>;
  /** Files of the skills folder, in the order of their paths. */
  folder: readonly SkillFile[];
  version: string;
  problems?: readonly Problem[];
  /** Told once, when the knowledge was parsed. */
  onParsed?(knowledge: Knowledge): void;
}

/** Never throws: a file that cannot be used is named among the problems. */
export function skillSet(source: SkillSource): SkillSet {
  const problems = [...source.problems ?? []];
  const prompts = new Map<string, string>();
  const forbidden = new Set<string>();
  for (const file of source.folder) {
    attempt(file, problems, () => {
      if (file.path.startsWith("config/")) { for (const one of readForbidden(file.text)) forbidden.add(one); }
      if (!file.path.startsWith("prompts/")) return;
      const { stem, body } = readDocument(file);
      const prompt = withoutLicence(body);
      if (prompt === "") throw new AppError("bad_request", "the prompt is empty");
      prompts.set(stem, prompt);
    });
  }
  const forbiddenCommands = [...forbidden];
  let knowledge: Promise<Knowledge> | undefined;
  return {
    prompts,
    forbiddenCommands,
    forbidden: (command, abbreviates) => {
      const pattern = forbiddenBy(forbiddenCommands, command, abbreviates);
      return pattern && `the administrator of this server has forbidden \`${pattern}\``;
    },
    version: source.version,
    knowledge: () => knowledge ??= parse(source, problems),
  };
}

async function parse(source: SkillSource, problems: Problem[]): Promise<Knowledge> {
  const devices = new Map<string, DeviceSkill>();
  const packets = new Map<string, PacketSkill>();
  const injections = new Map<string, InjectionSkill>();
  for (const file of [...await source.builtin(), ...source.folder]) {
    attempt(file, problems, () => {
      const { kind, folder } = placeOf(file.path);
      if (kind === "device" || kind === "feature") {
        addDevice(devices, readDevice(readDocument(file), folder, kind));
      }
      if (kind === "injection") addInjection(injections, readInjection(readDocument(file)));
      if (kind !== "packet_analysis") return;
      const skill = readPacket(readDocument(file));
      packets.set(skill.protocol, skill);
    });
    // Parsing holds everything else up: streams go on between two files.
    await new Promise((resolve) => setTimeout(resolve));
  }
  const knowledge = { devices, packets, injections, problems };
  source.onParsed?.(knowledge);
  return knowledge;
}

function attempt({ path }: SkillFile, problems: Problem[], work: () => void): void {
  try {
    work();
  } catch (error) {
    const known = error instanceof AppError && error.code === "bad_request";
    problems.push({ file: path, problem: known ? error.message : "it cannot be read" });
  }
}

/** The folder of its kind that a file is in, and below it the device's own, if it has one. */
function placeOf(path: string): { kind: string; folder: string } {
  const [kind = "", ...rest] = path.split("/");
  return { kind, folder: rest.length > 1 ? rest[0]! : "" };
}

/**
 * A device that is known already, also by another name, gets the new overview, and the new topics beside its other ones.
 */
function addDevice(devices: Map<string, DeviceSkill>, skill: DeviceSkill): void {
  const known = devices.get(skill.device_type) ??
    devices.values().find(({ device_types }) => device_types.includes(skill.device_type));
  if (!known) return void devices.set(skill.device_type, { ...skill, name: skill.name || skill.device_type });
  devices.set(known.device_type, {
    device_type: known.device_type,
    device_types: known.device_types,
    // A topic's file says nothing about the device.
    name: skill.name || known.name,
    description: skill.description || known.description,
    category: skill.name ? skill.category : known.category,
    aliases: [...new Set([...known.aliases, ...skill.aliases])],
    overview: skill.overview ?? known.overview,
    topics: new Map([...known.topics, ...skill.topics]),
  });
}

/** Faults of the same subject come together; one with the same id replaces the one before. */
function addInjection(injections: Map<string, InjectionSkill>, skill: InjectionSkill): void {
  const known = injections.get(skill.key);
  injections.set(
    skill.key,
    known ? { ...skill, issues: new Map([...known.issues, ...skill.issues]) } : skill,
  );
}

/** Licence lines at the top of a prompt are for people; the model would pay for them in every call. */
function withoutLicence(text: string): string {
  const header = /^(?:#[^\n]*(?:\n|$))+/.exec(text)?.[0] ?? "";
  return (header.includes("SPDX-License-Identifier") ? text.slice(header.length) : text).trim();
}
