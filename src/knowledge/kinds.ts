// The kinds of skills, and how each is read from a document. Fields that are not known here are kept for the model.
import { z } from "zod";
import { AppError } from "../domain/error.ts";
import { sectionsOf, type SkillDocument } from "./document.ts";

/** A part of a device skill that is only shown when it is asked for. */
export interface Topic {
  title: string;
  content: unknown;
}

/** How to work with one kind of device (category `device`), or how to plan something (`feature`). */
export interface DeviceSkill {
  /** Netmiko's name, as in the tag `device_type:…`. */
  device_type: string;
  /** Other tags of the same kind of device. */
  device_types: string[];
  name: string;
  description: string;
  category: string;
  /** What people call it, and the other tags. */
  aliases: string[];
  /** What holds for all topics. */
  overview: unknown;
  topics: Map<string, Topic>;
}

/** What to look for in the packets of one protocol, with tshark's names of its fields. */
export interface PacketSkill {
  protocol: string;
  name: string;
  description: string;
  aliases: string[];
  content: unknown;
}

/** One fault. */
export interface Issue {
  id: string;
  name: string;
  difficulty?: string;
  protocols: string[];
  /** Device types for which it has commands; none: the agent has to find them itself. */
  platforms: string[];
  content: Record<string, unknown>;
}

/** The faults of one subject. */
export interface InjectionSkill {
  /** `injection_ospf` for the file `ospf_issues.yaml`. */
  key: string;
  name: string;
  description: string;
  protocols: string[];
  issues: Map<string, Issue>;
}

const text = z.string().catch("");
// Some files write a single name where a list is meant.
const names = z.union([z.array(z.coerce.string()), z.string().transform((one) => [one])]).catch([]);
const object = z.record(z.string(), z.unknown());
const head = z.object({ name: text, description: text, aliases: names, device_types: names }).loose();

/** A device or feature skill, or one topic of it: `topics` then has just that one, and there is no overview. */
export function readDevice(document: SkillDocument, folder: string, category: string): DeviceSkill {
  const { device_type, device_types, topic, topics, name, description, aliases, category: given, ...rest } =
    head.parse(document.values);
  const base = isBase(document.stem) ? folder : document.stem;
  const skill: DeviceSkill = {
    device_type: text.parse(device_type).trim() || folder || document.stem,
    device_types,
    name: name || base,
    description,
    category: text.parse(given) || category,
    aliases: [...aliases, ...device_types, base],
    overview: undefined,
    topics: new Map(),
  };
  const { intro, sections } = sectionsOf(document.body);
  if (folder && !isBase(document.stem)) {
    const key = text.parse(topic).trim() || document.stem;
    skill.topics.set(key, {
      title: name || key,
      content: contentOf({ description, ...rest }, document.body),
    });
    return { ...skill, name: "", description: "", aliases: [] };
  }
  for (const [key, value] of Object.entries(object.catch({}).parse(topics))) {
    const title = head.safeParse(value).data?.name;
    skill.topics.set(key, { title: title || key, content: value });
  }
  for (const section of sections) {
    skill.topics.set(section.key, { title: section.title, content: section.text });
  }
  skill.overview = contentOf(rest, intro);
  return skill;
}

/** The file of a device's folder that holds what all of its topics share. */
function isBase(stem: string): boolean {
  return /^(_base|index|skill)$/i.test(stem);
}

export function readPacket(document: SkillDocument): PacketSkill {
  const { protocol_key, name, description, aliases, device_types: _, ...rest } = head.parse(document.values);
  return {
    protocol: text.parse(protocol_key).trim() || document.stem,
    name: name || document.stem,
    description,
    aliases,
    content: contentOf(rest, document.body),
  };
}

const issueShape = z.object({
  name: z.string(),
  difficulty: z.string().optional().catch(undefined),
  protocols: names,
  platforms: object.catch({}),
}).loose();

/** A catalogue of faults; a Markdown file without `issues` is one fault. Throws `bad_request`. */
export function readInjection(document: SkillDocument): InjectionSkill {
  const { issues, protocols, name, description, aliases: _, device_types: __, ...rest } = head.extend({
    protocols: names,
  }).parse(
    document.values,
  );
  const given = object.safeParse(issues).data ??
    (document.body ? { [document.stem]: { name, description, ...rest, text: document.body } } : undefined);
  if (!given) throw new AppError("bad_request", "`issues` is missing or not a mapping");
  const skill: InjectionSkill = {
    key: `injection_${document.stem.replace(/_issues$/, "")}`,
    name: name || document.stem,
    description,
    protocols,
    issues: new Map(),
  };
  for (const [id, value] of Object.entries(given)) {
    const issue = issueShape.safeParse(value);
    if (!issue.success) throw new AppError("bad_request", `the issue \`${id.slice(0, 80)}\` has no name`);
    const { platforms, difficulty } = issue.data;
    skill.issues.set(id, {
      id,
      name: issue.data.name,
      ...(difficulty ? { difficulty } : {}),
      protocols: issue.data.protocols.length ? issue.data.protocols : protocols,
      platforms: Object.keys(platforms),
      content: issue.data,
    });
  }
  return skill;
}

/** The named values and the text as one; the text alone where there is nothing else. */
function contentOf(values: Record<string, unknown>, body: string): unknown {
  const named = Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== "" && value !== undefined),
  );
  if (Object.keys(named).length === 0) return body || undefined;
  return body ? { ...named, text: body } : named;
}
