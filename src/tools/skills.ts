// Tools that tell the model what it needs to know about a kind of device or about the packets of a protocol.
import { z } from "zod";
import { COPILOT_MODES } from "../domain/model_config.ts";
import type { DeviceSkill } from "../knowledge/kinds.ts";
import { lookUp } from "../knowledge/lookup.ts";
import type { Knowledge } from "../knowledge/skill_set.ts";
import { boundedList, boundedObject, boundedText } from "./bounded.ts";
import { defineTool } from "./tool.ts";

export const packetAnalysisSkills = defineTool({
  name: "packet_analysis_skills",
  description:
    "What to look for in the packets of a protocol: display filters, tshark fields, and how typical faults show. " +
    'Without a protocol it lists them; {"action": "get", "protocol": "ospf"} gives one. Use it before packet_analysis.',
  input: z.object({
    action: z.enum(["list", "get"]).optional(),
    protocol: z.string().max(100).optional().describe('such as "arp", "dhcp", "ospf"'),
  }),
  risk: "read",
  modes: COPILOT_MODES,
  async run({ action, protocol }, context) {
    const { packets } = await context.skills.knowledge();
    const things = [...packets].map(([key, value]) => ({ key, aliases: value.aliases, value }));
    const list = boundedList([...packets.values()].map(({ protocol, name, description }) => ({
      protocol,
      name,
      description,
    })));
    if (action === "list" || !protocol?.trim()) {
      return {
        protocols: list.rows,
        ...more(list),
        next: 'For one of them: {"action": "get", "protocol": "…"}.',
      };
    }
    const found = lookUp(protocol, things);
    if (!found) {
      return {
        error: `There is no packet skill for "${protocol}".`,
        protocols: list.rows.map((row) => row.protocol),
        next: "For any other protocol packet_analysis finds tshark's fields: {action: search_fields, query}.",
      };
    }
    const { name, description, content } = found.value;
    const body = content === undefined ? {} : typeof content === "object" ? content : { text: content };
    return {
      protocol: found.key,
      ...guessed(protocol, found),
      name,
      description,
      ...boundedObject(body as Record<string, unknown>),
    };
  },
});

export const deviceSkills = defineTool({
  name: "device_skills",
  description:
    "How to work with a kind of device: its commands for each topic (interfaces, vlan, ospf, bgp, nat, saving …), what " +
    "is special about it, how to check. Without arguments it lists device types and their topics; " +
    '{"device_type": "cisco_ios_telnet", "topic": "ospf"} gives one topic. Use it before you configure a device ' +
    "that you are not sure about.",
  input: z.object({
    action: z.enum(["list", "get"]).optional(),
    device_type: z.string().max(100).optional().describe(
      "as in the node's tag device_type:…, or what people call the device",
    ),
    topic: z.string().max(100).optional(),
    detail: z.enum(["index", "summary", "full"]).optional().describe("index: only the names of the topics"),
  }),
  risk: "read",
  modes: COPILOT_MODES,
  async run({ action, device_type, topic, detail }, context) {
    const skills = await context.skills.knowledge();
    if (action === "list" || (!device_type?.trim() && !topic?.trim())) return listOf(skills);
    if (!device_type?.trim()) return withTopic(skills, topic!);
    const found = lookUp(device_type, named(skills));
    if (!found) {
      return {
        error: `There is no skill for the device type "${device_type}".`,
        device_types: named(skills).map(({ key }) => key),
      };
    }
    const { value: skill } = found;
    const head = { device_type: found.key, ...guessed(device_type, found), name: skill.name };
    if (topic?.trim()) return { ...head, ...topicOf(skill, topic) };
    const topics = Object.fromEntries([...skill.topics].map(([key, { title }]) => [key, title]));
    return {
      ...head,
      description: skill.description,
      ...(detail === "index" ? {} : { overview: shown(skill.overview) }),
      topics,
      ...(skill.topics.size
        ? { next: `For one of them: {"device_type": "${found.key}", "topic": "…"}.` }
        : {}),
    };
  },
});

function named(skills: Knowledge) {
  return [...skills.devices].map(([key, value]) => ({ key, aliases: [...value.aliases, value.name], value }));
}

function listOf(skills: Knowledge) {
  const list = boundedList(
    [...skills.devices.values()].map(({ device_type, name, description, category, topics }) => ({
      device_type,
      name,
      description,
      ...(category === "device" ? {} : { category }),
      topics: [...topics.keys()],
    })),
  );
  return {
    skills: list.rows,
    ...more(list),
    next: 'For a topic: {"device_type": "…", "topic": "…"}.',
  };
}

/** Only a topic was named: who has it? */
function withTopic(skills: Knowledge, topic: string) {
  const fits = [...skills.devices.values()].flatMap((skill) => {
    const found = lookUp(topic, topicsOf(skill));
    return found ? [{ device_type: skill.device_type, topic: found.key, title: found.value.title }] : [];
  });
  return fits.length
    ? { skills: fits, next: "Name the device_type too." }
    : { error: `No device type has a topic "${topic}".`, ...listOf(skills) };
}

/** What people and other vendors call a topic. */
const TOPIC_WORDS: Readonly<Record<string, readonly string[]>> = {
  interfaces: ["interface", "ip address", "addressing", "port", "ip"],
  vlan: ["switching", "switchport", "trunk", "l2", "vlans", "dot1q"],
  stp: ["spanning tree", "rstp", "mstp", "pvst"],
  static_routes: ["static", "static route", "default route", "gateway", "route", "routing"],
  ospf: ["ospfv2", "ospfd"],
  bgp: ["ebgp", "ibgp", "bgpd"],
  dhcp: ["dhcp relay", "dhcp server", "dhcp client"],
  nat: ["pat", "masquerade", "address translation"],
  acl: ["access list", "access control", "firewall", "filter", "traffic filter", "iptables", "nftables"],
  verification: ["verify", "show", "display", "check", "diagnosis", "troubleshooting", "ping"],
  saving: ["save", "write memory", "save config", "startup config", "persist", "copy run start"],
};

function topicsOf(skill: DeviceSkill) {
  const topics = [...skill.topics].map(([key, value]) => ({
    key,
    aliases: [...TOPIC_WORDS[key] ?? [], value.title],
    value,
  }));
  // Parts of a long overview can be asked for in the same way.
  const parts = isObject(skill.overview)
    ? Object.entries(skill.overview).map(([key, content]) => ({
      key,
      aliases: [],
      value: { title: key, content },
    }))
    : [];
  return [...topics, ...parts.filter(({ key }) => !skill.topics.has(key))];
}

function topicOf(skill: DeviceSkill, topic: string) {
  const found = lookUp(topic, topicsOf(skill));
  if (!found) {
    return {
      error: `${skill.device_type} has no topic "${topic}".`,
      topics: Object.fromEntries([...skill.topics].map(([key, { title }]) => [key, title])),
    };
  }
  return {
    topic: found.key,
    ...guessed(topic, found),
    title: found.value.title,
    content: shown(found.value.content),
  };
}

function shown(content: unknown): unknown {
  if (typeof content === "string") return boundedText(content);
  return isObject(content) ? boundedObject(content) : content;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Says what was understood when it was not what was asked for. */
function guessed(asked: string, { key, guess }: { key: string; guess: boolean }): { note?: string } {
  return guess ? { note: `"${asked}" is not a name here; this is ${key}.` } : {};
}

function more({ more }: { more?: number }): { more?: string } {
  return more ? { more: `${more} more are not shown: ask for one by its name` } : {};
}
