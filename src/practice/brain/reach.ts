// "Can PC1 reach PC2, and if not, why?": what the practice model does step by step, and what it concludes.
import type { Call } from "../model_script.ts";
import { findings } from "./diagnose.ts";
import {
  islandOf,
  isPc,
  isRouter,
  type LabView,
  namesIn,
  nodeNamed,
  nodesOnWay,
  type ViewNode,
  wayBetween,
} from "./lab_view.ts";
import { pingOf, type PingOutcome, settingsOf, traceOf } from "./pc_facts.ts";
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

/** The two ends that the question is about; `to` is null when only an address was given. */
export interface Ends {
  from: ViewNode;
  to: ViewNode | null;
  /** An address that the question names, or "". */
  given: string;
}

const LOOK = ["show ip interface brief", "show ip ospf neighbor", "show ip route"];

/** Finds the ends in the question; a sentence when it does not name them. */
export function endsOf(question: string, lab: LabView): Ends | string {
  const given = /\b\d{1,3}(?:\.\d{1,3}){3}\b/.exec(question)?.[0] ?? "";
  const named = namesIn(lab, question).map((name) => nodeNamed(lab, name)!).filter((n) =>
    isPc(n) || isRouter(n)
  );
  const pcs = lab.nodes.filter(isPc);
  if (named.length === 0 && pcs.length === 2) return { from: pcs[0]!, to: pcs[1]!, given };
  const [from, to] = named;
  if (!from) {
    return `Tell me which two devices you mean. There are: ${lab.nodes.map((node) => node.name).join(", ")}.`;
  }
  if (to || given) return { from, to: to ?? null, given };
  const others = pcs.filter((node) => node !== from);
  if (others.length === 1) return { from, to: others[0]!, given };
  return `Tell me what ${from.name} should reach. There are: ${
    lab.nodes.map((node) => node.name).join(", ")
  }.`;
}

/** The address to ping for an end, or "" while it is not known. */
export function targetOf(situation: Situation, node: ViewNode | null, given: string): string {
  if (given) return given;
  if (!node) return "";
  const outputs = situation.outputs.get(node.name) ?? [];
  if (isPc(node)) return settingsOf(outputs)?.address ?? "";
  const ports = routerFacts(outputs).ports ?? [];
  return (ports.find((port) => port.address && port.protocol === "up") ?? ports.find((port) => port.address))
    ?.address ?? "";
}

/** The routers that matter: those on the way, else all that hang together with one of the ends. */
function routersFor(lab: LabView, { from, to }: Ends): ViewNode[] {
  const way = to ? wayBetween(lab, from.name, to.name) : null;
  const names = way
    ? [from.name, ...nodesOnWay(way, from.name)]
    : [...islandOf(lab, from.name), ...(to ? islandOf(lab, to.name) : [])];
  return lab.nodes.filter((node) => isRouter(node) && names.includes(node.name));
}

/** The next step towards an answer, or the answer. */
export function reach(situation: Situation, lab: LabView, ends: Ends): Thought {
  return lookAtSettings(situation, lab, ends) ?? testThePath(situation, ends) ??
    conclude(situation, lab, ends);
}

function lookAtSettings(situation: Situation, lab: LabView, ends: Ends): Thought | null {
  const calls: Call[] = [];
  const running = (node: ViewNode | null): node is ViewNode => node?.status === "started";
  const pcs = [ends.from, ends.to].filter(running).filter((n) =>
    isPc(n) && !asked(situation, n.name, /^show ip/)
  );
  if (pcs.length && situation.tools.has(VPCS_TOOL)) {
    calls.push(onDevices(VPCS_TOOL, Object.fromEntries(pcs.map(({ name }) => [name, ["show ip"]]))));
  }
  const routers = routersFor(lab, ends).filter(running).filter((n) => !asked(situation, n.name, /^show/));
  if (routers.length && situation.tools.has(ROUTER_TOOL)) {
    calls.push(onDevices(ROUTER_TOOL, Object.fromEntries(routers.map(({ name }) => [name, LOOK]))));
  }
  return calls.length ? use("I look at the addresses of both ends.", ...calls) : null;
}

function testThePath(situation: Situation, ends: Ends): Thought | null {
  const there = pingCall(situation, ends.from, targetOf(situation, ends.to, ends.given));
  const back = ends.to ? pingCall(situation, ends.to, targetOf(situation, ends.from, "")) : null;
  const pings = [there, back].filter((call) => call !== null);
  if (pings.length) return use("Now I test the path.", ...pings);
  const target = targetOf(situation, ends.to, ends.given);
  const ping = pingOf(situation.outputs.get(ends.from.name) ?? [], target);
  const worthTracing = ping && isPc(ends.from) && ping.replies < ping.sent && !ping.notReachable &&
    !ping.error;
  if (!worthTracing || asked(situation, ends.from.name, /^trace/)) return null;
  return use(
    "I follow the path hop by hop.",
    onDevices(VPCS_TOOL, { [ends.from.name]: [`trace ${target} -m 6`] }),
  );
}

function pingCall(situation: Situation, from: ViewNode, target: string): Call | null {
  const tool = isPc(from) ? VPCS_TOOL : ROUTER_TOOL;
  if (from.status !== "started" || !target || !situation.tools.has(tool)) return null;
  if (asked(situation, from.name, new RegExp(`^ping ${target.replaceAll(".", "\\.")}`))) return null;
  return onDevices(tool, { [from.name]: [isPc(from) ? `ping ${target} -c 3` : `ping ${target}`] });
}

function conclude(situation: Situation, lab: LabView, ends: Ends): Thought {
  const { from, to } = ends;
  const target = targetOf(situation, to, ends.given);
  const goal = to ? (target ? `${to.name} (${target})` : to.name) : target;
  const ping = pingOf(situation.outputs.get(from.name) ?? [], target);
  const causes = findings(situation, lab, ends, ping);
  const reverse = to ? pingOf(situation.outputs.get(to.name) ?? [], targetOf(situation, from, "")) : null;
  const lines = [verdict(from.name, goal, ping)];
  if (ping?.quote) lines.push(`${from.name} printed: \`${ping.quote}\``);
  if (to && reverse) {
    lines.push(
      `The other way, ${to.name} to ${from.name}: ${reverse.replies} of ${reverse.sent} pings answered.`,
    );
  }
  const hops = traceOf(situation.outputs.get(from.name) ?? [], target);
  if (hops) lines.push(`The trace went: ${hops.join(" → ") || "nowhere"}.`);
  const works = ping !== null && ping.replies > 0 && ping.replies === ping.sent;
  if (causes.length) lines.push(works ? "Worth knowing:" : "What I found:", bullets(causes));
  else if (!works) lines.push("I did not find the cause in what I could look at.");
  const routers = routersFor(lab, ends);
  if (!works && routers.length && !situation.tools.has(ROUTER_TOOL)) {
    lines.push(
      `This server offers me no tool for routers yet, so I could not look into ${
        routers.map((r) => r.name).join(" and ")
      }.`,
    );
  }
  return say(...lines);
}

function verdict(from: string, goal: string, ping: PingOutcome | null): string {
  if (!ping) return `No: I could not even send a ping from ${from} to ${goal}.`;
  if (ping.error) return `I cannot tell: the ping from ${from} to ${goal} did not run (${ping.error}).`;
  const score = `${ping.replies} of ${Math.max(ping.sent, ping.replies)} pings were answered`;
  if (ping.replies === 0) return `No, ${from} cannot reach ${goal}${ping.sent ? `: ${score}` : ""}.`;
  if (ping.replies < ping.sent) return `Only partly: from ${from} to ${goal} ${score}.`;
  return `Yes, ${from} reaches ${goal}: ${score}${hopsText(ping.ttl)}.`;
}

// A virtual PC sends its answers with a time to live of 64, a router with 255.
function hopsText(ttl: number | null): string {
  if (ttl === null) return "";
  const passed = (ttl > 64 ? 255 : 64) - ttl;
  const routers = passed === 0 ? "no router" : passed === 1 ? "one router" : `${passed} routers`;
  return `, and their time to live (${ttl}) shows ${routers} in between`;
}
