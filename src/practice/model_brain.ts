// The brain of the demo's model: no language model, but a few rules that choose tools from the question and conclude
// from what the tools really returned. What it cannot do, it says.
import {
  changePower,
  createLink,
  createNode,
  isAddressing,
  isCreating,
  isLinking,
  isPower,
  setAddress,
} from "./brain/change.ts";
import { callsOf, failureOf, outputsOf, questionOf } from "./brain/evidence.ts";
import { labOf, type LabView } from "./brain/lab_view.ts";
import { endsOf, reach } from "./brain/reach.ts";
import { describeLab, isRouterQuestion, showAddresses, showRouters } from "./brain/show.ts";
import { say, type Situation, type Thought, tried, use } from "./brain/thought.ts";
import { type ChatBody, contentOf } from "./model_script.ts";

const TOPOLOGY = "gns3_topology_reader";
const TITLE_WORDS = 6;

const ABILITIES = `I am the practice model: a few rules, not a language model. I can
- test whether one device reaches another, and look for the reason when it does not ("can PC1 reach PC2, and if not, why?")
- describe the lab ("what is in the lab?") and its addresses ("show the addresses")
- show OSPF neighbours, routes, interfaces or the configuration of routers, where there is a tool for that
- start and stop nodes, set a PC's address ("set PC1 to 10.0.1.20/24 gateway 10.0.1.1"), create nodes and links, where the mode allows it
For anything else, connect a real model.`;

type Plan = (situation: Situation, lab: LabView) => Thought;

// The first that fits is taken: requests to change something come before questions that share their words.
const PLANS: { fits(question: string): boolean; plan: Plan }[] = [
  { fits: isAddressing, plan: setAddress },
  { fits: isCreating, plan: createNode },
  { fits: isReachability, plan: reachability },
  { fits: isLinking, plan: createLink },
  { fits: isPower, plan: changePower },
  { fits: isRouterQuestion, plan: showRouters },
  { fits: (question) => /\b(ip|ips|address(es)?|subnets?|gateways?)\b/i.test(question), plan: showAddresses },
  {
    fits: (question) => /\b(lab|topology|nodes?|devices?|links?|overview|network)\b/i.test(question),
    plan: (_, lab) => describeLab(lab),
  },
];

function isReachability(question: string): boolean {
  return /\b(reach(es|able)?|unreachable|ping|pings|talk|communicate|connectivity|trace|see each other)\b/i
    .test(question) ||
    /\bconnection\b.*\b(work|between)|\b(can|does|why)\b.*\bconnect/i.test(question);
}

function reachability(situation: Situation, lab: LabView): Thought {
  const ends = endsOf(situation.question, lab);
  return typeof ends === "string" ? say(ends) : reach(situation, lab, ends);
}

/** What to say or which tools to call next, from the question and from what has been seen since. */
export function think(body: ChatBody): Thought {
  const question = questionOf(body);
  const mayCall = body.tool_choice !== "none";
  const tools = new Set(mayCall ? (body.tools ?? []).map((tool) => tool.function.name) : []);
  const seen = callsOf(body);
  const situation: Situation = { question, tools, seen, lab: labOf(seen), outputs: outputsOf(seen) };
  if (
    /^\W*(hi|hello|hey|good (morning|day|evening)|bonjour|hallo|salut)\b/i.test(question) &&
    question.length < 40
  ) {
    return say(`Hello! ${ABILITIES}`);
  }
  const fitting = PLANS.find(({ fits }) => fits(question));
  if (!fitting) return say(ABILITIES);
  if (!situation.lab) return lookAtLab(situation);
  return fitting.plan(situation, situation.lab);
}

function lookAtLab(situation: Situation): Thought {
  if (tried(situation, TOPOLOGY)) {
    const call = situation.seen.findLast(({ name }) => name === TOPOLOGY)!;
    return say(
      `I could not read the topology: ${
        failureOf(call) || call.output.slice(0, 300) || "the tool answered nothing"
      }`,
    );
  }
  if (!situation.tools.has(TOPOLOGY)) {
    return say(`For that I need the tool ${TOPOLOGY}, which I do not have here.`);
  }
  return use("I look at the lab first.", { name: TOPOLOGY, args: {} });
}

/** A short title from the user's words: without tools, a request is taken for one that wants a title. */
export function titleFor({ messages }: ChatBody): string {
  const text = contentOf(messages.findLast((message) => message.role === "user"));
  // A title prompt often quotes the conversation: "The engineer:", the question, a blank line, the answer.
  const quoted = /^[^\n]{0,40}:\n([\s\S]*?)(?:\n\s*\n|$)/.exec(text)?.[1] ?? text;
  const words = quoted.replaceAll(/\[\[[^\]]*\]\]/g, "").replaceAll(/[?!.,;:"“”]+(?=\s|$)/g, "").trim().split(
    /\s+/,
  );
  const title = words.slice(0, TITLE_WORDS).join(" ").slice(0, 60);
  return title ? title[0]!.toUpperCase() + title.slice(1) : "Practice";
}
