// Requests that change the lab: power, addresses, new nodes and links. Reported as the tool answered, not as hoped.
import type { Call } from "../model_script.ts";
import { asList, asObject, asText, failureOf, type SeenCall } from "./evidence.ts";
import { isPc, type LabView, namesIn, nodeNamed } from "./lab_view.ts";
import { settingsOf } from "./pc_facts.ts";
import {
  asked,
  bullets,
  onDevices,
  say,
  type Situation,
  type Thought,
  tried,
  use,
  VPCS_TOOL,
} from "./thought.ts";

/** Uses a tool once and then reports its results; says so when the tool is not there. */
function once(situation: Situation, why: string, call: Call): Thought {
  if (!situation.tools.has(call.name)) {
    return say(
      `That needs the tool ${call.name}, which I do not have here. In this mode I may look at the lab, not change it.`,
    );
  }
  const done = situation.seen.findLast((seen) => seen.name === call.name);
  return done ? report(done) : use(why, call);
}

function report(call: SeenCall): Thought {
  const failure = failureOf(call);
  if (failure) return say(`It did not work: ${failure}`);
  const { results, summary } = asObject(call.value);
  const lines = asList(results).map((one) => {
    const link = asText(one.link) ||
      (one.node_id1 ? `${asText(one.node_id1)} – ${asText(one.node_id2)}` : "");
    const what = asText(one.name) || link || asText(one.node_id) || asText(one.device_name);
    const state = asText(one.node_status) || asText(one.status);
    return [`${what}: ${asText(one.error) || state}`, asText(one.note)].filter(Boolean).join(". ");
  });
  if (lines.length === 0) return say("The tool answered:", call.output);
  return say(asText(summary), bullets(lines));
}

/** Only what is asked for is done: "start R1" is a request, "why does R1 not start" is none. */
const REQUEST = String.raw`^\W*(?:please\s+|can you\s+|could you\s+|now\s+|i want to\s+|i want you to\s+)*`;
const request = (verbs: string) => new RegExp(`${REQUEST}(?:${verbs})\\b`, "i");

const VERBS = [
  { words: request("stop|switch off|turn off|power off|halt"), tool: "stop_gns3_node", doing: "I stop" },
  { words: request("suspend|pause"), tool: "suspend_gns3_node", doing: "I suspend" },
  { words: request("start|boot|switch on|turn on|power on"), tool: "start_gns3_node", doing: "I start" },
];

export function isPower(question: string): boolean {
  return VERBS.some(({ words }) => words.test(question));
}

/** Starts, stops or suspends the nodes that the question names, or all. */
export function changePower(situation: Situation, lab: LabView): Thought {
  const { tool, doing } = VERBS.find(({ words }) => words.test(situation.question))!;
  const named = namesIn(lab, situation.question);
  const all = /\b(all|every|everything)\b/i.test(situation.question);
  const nodes = lab.nodes.filter((node) => all || named.includes(node.name));
  if (nodes.length === 0) {
    return say(`Which node? There are: ${lab.nodes.map((node) => node.name).join(", ")}.`);
  }
  const node_ids = nodes.map((node) => node.id || node.name);
  return once(situation, `${doing} ${nodes.map((node) => node.name).join(", ")}.`, {
    name: tool,
    args: { node_ids },
  });
}

const ADDRESS = /\b(\d{1,3}(?:\.\d{1,3}){3})\/(\d{1,2})\b/;

export function isAddressing(question: string): boolean {
  return ADDRESS.test(question) && request("set|give|assign|configure|change|put").test(question);
}

/** `set PC1 to 10.0.1.20/24 gateway 10.0.1.1` */
export function setAddress(situation: Situation, lab: LabView): Thought {
  const { question } = situation;
  const [, address, bits] = ADDRESS.exec(question)!;
  const gateway = /\b(?:gateway|gw|via)\s+(?:to\s+)?(\d{1,3}(?:\.\d{1,3}){3})\b/i.exec(question)?.[1] ?? "";
  const node = namesIn(lab, question).map((name) => nodeNamed(lab, name)!).find(isPc);
  if (!node) return say("I can set addresses of virtual PCs. Which one do you mean?");
  if (node.status !== "started") {
    return say(`${node.name} is ${node.status}: start it first, then I can set its address.`);
  }
  if (!situation.tools.has(VPCS_TOOL)) {
    return say(`That needs the tool ${VPCS_TOOL}, which I do not have here.`);
  }
  const command = `ip ${address}/${bits}${gateway ? ` ${gateway}` : ""}`;
  if (!asked(situation, node.name, /^ip /)) {
    return use(
      `I set the address of ${node.name} and look at it.`,
      onDevices(VPCS_TOOL, { [node.name]: [command, "show ip"] }),
    );
  }
  const refused = situation.seen.map(failureOf).find(Boolean);
  if (refused) return say(`It did not work: ${refused}`);
  const outputs = situation.outputs.get(node.name) ?? [];
  const problem = outputs.find((one) => one.error);
  const now = settingsOf(outputs);
  const shown = now
    ? `${node.name} now has ${now.address || "no address"}/${now.bits}, gateway ${now.gateway || "none"}.`
    : "";
  if (problem) {
    return say(`\`${problem.command || command}\` did not work on ${node.name}: ${problem.error}`, shown);
  }
  if (now?.address !== address) {
    return say(`${node.name} did not take it.`, shown, outputs[0]?.output.trim() ?? "");
  }
  return say(shown, "It lasts until the PC stops; `save` keeps it.");
}

const KINDS = [
  { words: /\b(pc|pcs|vpcs|computer|host)\b/i, template: /^vpcs$/i },
  { words: /\brouter\b/i, template: /router/i },
  { words: /\bswitch\b/i, template: /switch/i },
];

export function isCreating(question: string): boolean {
  return request("create|add|make|place").test(question) && KINDS.some(({ words }) => words.test(question));
}

/** `add a router named R3` */
export function createNode(situation: Situation): Thought {
  const kind = KINDS.find(({ words }) => words.test(situation.question))!;
  if (!situation.tools.has("create_gns3_node")) return once(situation, "", { name: "create_gns3_node" });
  if (!tried(situation, "get_gns3_templates")) {
    return use("I look for a fitting template.", { name: "get_gns3_templates", args: {} });
  }
  const templates = asList(
    asObject(situation.seen.find((call) => call.name === "get_gns3_templates")?.value).templates,
  );
  const template = templates.find((one) => kind.template.test(asText(one.name)));
  if (!template) {
    return say(
      `There is no fitting template. I see: ${templates.map((one) => asText(one.name)).join(", ")}.`,
    );
  }
  const name = /\b(?:named|called|name)\s+"?([\w-]+)"?/i.exec(situation.question)?.[1];
  const node = { template_id: asText(template.template_id), ...(name ? { name } : {}) };
  return once(situation, `I create it from the template ${asText(template.name)}.`, {
    name: "create_gns3_node",
    args: { nodes: [node] },
  });
}

export function isLinking(question: string): boolean {
  return request("connect|link|cable|wire").test(question);
}

/** `connect PC3 to R1`, by the first free port of each. */
export function createLink(situation: Situation, lab: LabView): Thought {
  const [a, b] = namesIn(lab, situation.question).map((name) => nodeNamed(lab, name)!);
  if (!a || !b) return say(`Which two nodes? There are: ${lab.nodes.map((node) => node.name).join(", ")}.`);
  if (!tried(situation, "create_gns3_link")) {
    const full = [a, b].find((node) => node.freePorts.length === 0);
    if (full) return say(`${full.name} has no free port.`);
  }
  const link = {
    node_id1: a.id || a.name,
    port1: a.freePorts[0] ?? "",
    node_id2: b.id || b.name,
    port2: b.freePorts[0] ?? "",
  };
  return once(situation, `I connect ${a.name} and ${b.name}.`, {
    name: "create_gns3_link",
    args: { links: [link] },
  });
}
