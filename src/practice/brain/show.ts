// Questions that only look: what is in the lab, who has which address, what a router shows.
import { isPc, isRouter, type LabView, linkText, namesIn, type ViewNode } from "./lab_view.ts";
import { settingsOf } from "./pc_facts.ts";
import { routerFacts } from "./router_facts.ts";
import {
  asked,
  bullets,
  onDevices,
  ROUTER_TOOL,
  say,
  type Situation,
  type Thought,
  use,
  VPCS_TOOL,
} from "./thought.ts";

/** Describes nodes and links. */
export function describeLab(lab: LabView): Thought {
  if (lab.nodes.length === 0) return say("The lab is empty: it has no nodes yet.");
  const nodes = lab.nodes.map(({ name, type, status }) => `${name}: ${type}, ${status}`);
  const links = lab.links.map((link) =>
    linkText(link) + (link.suspended ? " (suspended)" : "") +
    (link.filters ? ` (filters ${link.filters})` : "")
  );
  return say(
    `The lab has ${count(lab.nodes.length, "node")} and ${count(lab.links.length, "link")}.`,
    bullets(nodes),
    links.length ? "Links:" : "",
    bullets(links),
  );
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

/** Asks PCs, and routers where there is a tool for them, for their addresses. */
export function showAddresses(situation: Situation, lab: LabView): Thought {
  const named = namesIn(lab, situation.question);
  const wanted = lab.nodes.filter((node) =>
    (named.length === 0 || named.includes(node.name)) && (isPc(node) || isRouter(node))
  );
  if (wanted.length === 0) return say("There is no device with an address in this lab.");
  const started = wanted.filter((node) => node.status === "started");
  const groups = [
    { tool: VPCS_TOOL, command: "show ip", nodes: started.filter(isPc) },
    { tool: ROUTER_TOOL, command: "show ip interface brief", nodes: started.filter(isRouter) },
  ];
  const calls = groups.filter(({ tool }) => situation.tools.has(tool)).flatMap(({ tool, command, nodes }) => {
    const open = nodes.filter((node) => !asked(situation, node.name, /^show ip/));
    return open.length
      ? [onDevices(tool, Object.fromEntries(open.map(({ name }) => [name, [command]])))]
      : [];
  });
  if (calls.length) return use("I ask the devices.", ...calls);
  return say("These addresses are set:", bullets(wanted.flatMap((node) => addressLines(situation, node))));
}

function addressLines(situation: Situation, node: ViewNode): string[] {
  const outputs = situation.outputs.get(node.name) ?? [];
  if (node.status !== "started") return [`${node.name} is ${node.status}, so it cannot tell.`];
  const failed = outputs.find((one) => one.error && !one.output);
  if (failed) return [`${node.name}: ${failed.error}`];
  if (isRouter(node) && !situation.tools.has(ROUTER_TOOL)) {
    return [`${node.name}: this server offers me no tool for routers yet.`];
  }
  if (isRouter(node)) {
    const ports = routerFacts(outputs).ports?.filter((port) => port.address) ?? [];
    return ports.length
      ? ports.map(({ name, address, status }) => `${node.name} ${name}: ${address} (${status})`)
      : [`${node.name} has no address.`];
  }
  const settings = settingsOf(outputs);
  if (!settings) return [`${node.name}: it did not tell.`];
  if (!settings.address) return [`${node.name} has no address.`];
  const gateway = settings.gateway ? `gateway ${settings.gateway}` : "no gateway";
  return [`${node.name}: ${settings.address}/${settings.bits}, ${gateway}`];
}

const ROUTER_QUESTIONS: { about: RegExp; command: string; title: string }[] = [
  { about: /neighbou?r/i, command: "show ip ospf neighbor", title: "OSPF neighbours" },
  { about: /running|config/i, command: "show running-config", title: "Running configuration" },
  { about: /rout(e|es|ing)\b/i, command: "show ip route", title: "Routes" },
  { about: /version/i, command: "show version", title: "Version" },
  { about: /interface|port/i, command: "show ip interface brief", title: "Interfaces" },
];

/** True when the question is one for a router. */
export function isRouterQuestion(question: string): boolean {
  return ROUTER_QUESTIONS.some(({ about }) => about.test(question));
}

/** Runs the fitting `show` command on the routers that the question names, or on all. */
export function showRouters(situation: Situation, lab: LabView): Thought {
  const { command, title } = ROUTER_QUESTIONS.find(({ about }) => about.test(situation.question))!;
  const named = namesIn(lab, situation.question);
  const routers = lab.nodes.filter((node) =>
    isRouter(node) && (named.length === 0 || named.includes(node.name))
  );
  if (routers.length === 0) return say("There is no such router in this lab.");
  if (!situation.tools.has(ROUTER_TOOL)) {
    return say(`I would run \`${command}\` for that, but this server offers me no tool for routers yet.`);
  }
  const open = routers.filter((node) => node.status === "started" && !asked(situation, node.name, /^show/));
  if (open.length) {
    return use(
      `I run \`${command}\`.`,
      onDevices(ROUTER_TOOL, Object.fromEntries(open.map(({ name }) => [name, [command]]))),
    );
  }
  const parts = routers.map((node) => {
    if (node.status !== "started") return `${node.name} is ${node.status}.`;
    const shown = situation.outputs.get(node.name)?.findLast((one) => one.output || one.error);
    if (!shown) return `${node.name} printed nothing.`;
    return `${title} of ${node.name}:\n\`\`\`\n${(shown.output || shown.error).trim()}\n\`\`\``;
  });
  const facts = command.includes("neighbor") ? neighbourSummary(situation, routers) : "";
  return say(facts, ...parts);
}

function neighbourSummary(situation: Situation, routers: ViewNode[]): string {
  return routers.filter((node) => node.status === "started").map(({ name }) => {
    const { neighbours } = routerFacts(situation.outputs.get(name) ?? []);
    if (!neighbours?.length) return `${name} has no OSPF neighbour.`;
    return `${name} has ${neighbours.map((n) => `${n.id} (${n.state}) on ${n.port}`).join(", ")}.`;
  }).join(" ");
}
