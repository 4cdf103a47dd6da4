// The tool that knows faults to practise on, and remembers which of them were used in this project.
import { z } from "zod";
import type { UsedFault } from "../domain/fault.ts";
import type { InjectionSkill, Issue } from "../knowledge/kinds.ts";
import { type Found, lookUp } from "../knowledge/lookup.ts";
import { boundedObject } from "./bounded.ts";
import { fits, type Lab, labOf } from "./lab_platforms.ts";
import { defineTool, type ToolContext } from "./tool.ts";

/** The turn's context, and the faults that are known in it. */
type Context = ToolContext & { catalogues: readonly InjectionSkill[] };

const input = z.object({
  action: z.enum(["list", "get", "used", "record", "undo", "undone"]).optional(),
  context: z.array(z.string().max(100)).max(50).optional().describe(
    'with list: what runs in this lab, as ["ospf", "vlan"]',
  ),
  device_type: z.string().max(100).optional().describe(
    'a fault type as list names it ("injection_ospf"), or a device type ("cisco_ios_telnet")',
  ),
  issue: z.string().max(100).optional().describe("the id of a fault"),
  detail: z.enum(["index", "summary", "full"]).optional(),
  devices: z.array(z.string().min(1).max(200)).max(20).optional().describe(
    "with record: the devices it is on",
  ),
  undo: z.array(z.object({
    device_name: z.string().min(1).max(200),
    commands: z.array(z.string().min(1).max(1_000)).min(1).max(50),
  })).max(20).optional().describe("with record: what to type where to undo it, with the values filled in"),
  note: z.string().max(2_000).optional().describe(
    "with record: former values, a link's id, what else is needed",
  ),
  fault_id: z.int().min(1).optional().describe("with undo and undone"),
});
type Args = z.infer<typeof input>;

export const injectionSkills = defineTool({
  name: "injection_skills",
  description:
    "Faults for troubleshooting practice. list: fault types that suit this lab, and what was used here before; " +
    '{"device_type": "injection_ospf"} lists its faults, {"issue": "<id>"} gives one with its commands to inject, verify ' +
    "and undo. After injecting: record (issue, devices, undo). used: what was injected in this project. undo: the " +
    "commands that take it out; undone: note that it is out. The answers are for you, not for the student.",
  input,
  // None of it touches the lab.
  risk: "read",
  modes: ["teaching_assistant", "troubleshooting_injection"],
  async run(args, given) {
    const { injections } = await given.skills.knowledge();
    const context: Context = { ...given, catalogues: [...injections.values()] };
    const { action, device_type, issue, detail } = args;
    const asked = action && action !== "get"
      ? action
      : issue?.trim()
      ? "issue"
      : device_type?.trim()
      ? "index"
      : "list";
    if (context.mode === "teaching_assistant" && asked !== "list" && asked !== "index") {
      return {
        error:
          "In teaching mode faults are only listed. To have one injected, the user asks for fault injection " +
          "(POST …/chat/inject, or the mode troubleshooting_injection).",
      };
    }
    switch (asked) {
      case "list":
        return await list(args, context);
      case "index":
        return await index(device_type!, detail, context);
      case "issue":
        return await one(issue!, device_type, context);
      case "used":
        return { faults: context.faults.list().slice(0, 50).map(told) };
      case "record":
        return record(args, context);
      case "undo":
        return undo(args, context);
      case "undone":
        return undone(args, context);
    }
  },
});

const named = ({ catalogues }: Context) =>
  catalogues.map((value) => ({
    key: value.key,
    aliases: [value.key.replace("injection_", ""), value.name, ...value.protocols],
    value,
  }));

async function list({ context: wanted = [] }: Args, context: Context) {
  const lab = await labOf(context);
  const words = wanted.map((word) => word.toLowerCase().trim()).filter((word) => word.length > 1);
  const suits = ({ key, protocols }: InjectionSkill) =>
    words.length === 0 ||
    words.some((word) =>
      key.includes(word) || protocols.some((name) => name === word || word.includes(name))
    );
  const chosen = context.catalogues.filter(suits);
  const shown = chosen.length ? chosen : context.catalogues;
  return {
    fault_types: shown.map(({ key, name, protocols, issues }) => ({
      device_type: key,
      name,
      protocols,
      faults: issues.size,
      ...(lab
        ? { with_commands_for_this_lab: [...issues.values()].filter((one) => fits(one, lab).length).length }
        : {}),
    })),
    ...(chosen.length ? {} : { note: `Nothing is about ${words.join(", ")}: these are all.` }),
    ...(lab ? { devices_of_this_lab: Object.fromEntries(lab.byType) } : {}),
    ...memory(context),
    next: '{"device_type": "injection_…"} lists the faults of a type.',
  };
}

/** What was used before, for the agent that injects; a teaching assistant could only give it away. */
function memory({ mode, faults }: Context) {
  if (mode === "teaching_assistant") return {};
  const used = faults.list();
  return {
    used_before: [...new Set(used.map(({ issue }) => issue))].slice(0, 100),
    still_in_the_lab: used.filter(({ undone_at }) => undone_at === null).slice(0, 20)
      .map(({ id, issue, devices }) => ({ fault_id: id, issue, devices })),
  };
}

async function index(wanted: string, detail: Args["detail"], context: Context) {
  const lab = await labOf(context);
  const used = new Set(
    context.mode === "teaching_assistant" ? [] : context.faults.list().map(({ issue }) => issue),
  );
  const rows = (issues: Iterable<Issue>) => {
    const entries = [...issues].map((issue) => [issue.id, row(issue, detail, lab, used)] as const);
    return boundedObject(Object.fromEntries(entries));
  };
  const next = '{"issue": "<id>"} gives one with its commands.';
  const forDevice = context.catalogues.flatMap(({ issues }) =>
    [...issues.values()].filter(({ platforms }) => platforms.includes(wanted.trim()))
  );
  if (forDevice.length) return { device_type: wanted.trim(), issues: rows(forDevice), next };
  const found = lookUp(wanted, named(context));
  if (!found) return unknown(`There is no fault type "${wanted}".`, context);
  const { key, name, description, issues } = found.value;
  return {
    device_type: key,
    ...(found.guess ? { note: `"${wanted}" is not a name here; this is ${key}.` } : {}),
    name,
    ...(detail === "index" ? {} : { description }),
    issues: rows(issues.values()),
    ...(context.mode === "teaching_assistant" ? {} : { next }),
  };
}

function row(issue: Issue, detail: Args["detail"], lab: Lab | undefined, used: ReadonlySet<string>) {
  const { description } = issue.content;
  return {
    name: issue.name,
    ...(issue.difficulty ? { difficulty: issue.difficulty } : {}),
    ...(detail === "summary" && typeof description === "string" ? { description } : {}),
    ...(issue.platforms.length ? { platforms: issue.platforms } : {}),
    ...(lab && issue.platforms.length ? { devices_of_this_lab: fits(issue, lab) } : {}),
    ...(used.has(issue.id) ? { used_before: true } : {}),
  };
}

async function one(wanted: string, deviceType: string | undefined, context: Context) {
  const found = findIssue(wanted, deviceType, context);
  if (!found) {
    const within = deviceType && lookUp(deviceType, named(context))?.value;
    return within
      ? { error: `${within.key} has no fault "${wanted}".`, issues: [...within.issues.keys()] }
      : unknown(`There is no fault "${wanted}".`, context);
  }
  const lab = await labOf(context);
  const issue = found.value;
  const used = context.faults.list().filter((fault) => fault.issue === issue.id);
  return {
    issue: issue.id,
    ...(found.guess ? { note: `"${wanted}" is not a fault's id; this is ${issue.id}.` } : {}),
    ...(lab && issue.platforms.length ? { devices_of_this_lab: fits(issue, lab) } : {}),
    ...(used.length ? { used_before: used.slice(0, 5).map(told) } : {}),
    ...boundedObject(issue.content),
    next: "Fill in the values from the devices, note the former ones, inject, verify, then record.",
  };
}

function findIssue(
  wanted: string,
  deviceType: string | undefined,
  context: Context,
): Found<Issue> | undefined {
  const within = deviceType ? lookUp(deviceType, named(context))?.value : undefined;
  const issues = (skills: readonly InjectionSkill[]) =>
    skills.flatMap(({ issues }) =>
      [...issues].map(([key, value]) => ({ key, aliases: [value.name], value }))
    );
  return (within && lookUp(wanted, issues([within]))) ?? lookUp(wanted, issues(context.catalogues));
}

function unknown(error: string, context: Context) {
  return { error, fault_types: context.catalogues.map(({ key }) => key) };
}

function record({ issue, devices = [], undo = [], note }: Args, context: Context) {
  if (!issue?.trim() || devices.length === 0 || (undo.length === 0 && !note?.trim())) {
    return {
      error: "record needs `issue`, `devices`, and how to undo it: `undo` (or `note` for a fault on a link).",
    };
  }
  const known = findIssue(issue, undefined, context);
  const id = known && !known.guess ? known.key : issue.trim();
  const title = known && !known.guess ? known.value.name : id;
  const fault = context.faults.record(
    { issue: id, title, devices, undo, ...(note?.trim() ? { note: note.trim() } : {}) },
    new Date(context.now()),
  );
  return {
    fault_id: fault.id,
    recorded: true,
    next:
      "Tell the student only the symptom. Neither fault nor device nor command until they ask for the solution.",
  };
}

function undo({ fault_id }: Args, context: Context) {
  const inside = context.faults.list().filter((fault) => fault.undone_at === null);
  const chosen = fault_id === undefined ? inside : context.faults.list().filter(({ id }) => id === fault_id);
  if (chosen.length === 0) {
    return fault_id === undefined
      ? { faults: [], note: "No fault of this project is still in the lab." }
      : { error: `There is no fault ${fault_id} in this project.`, fault_ids: inside.map(({ id }) => id) };
  }
  return {
    faults: chosen.slice(0, 20).map((fault) => ({ ...told(fault), undo: fault.undo })),
    next:
      "Run these commands with the tool for the device (a link: clear its filters), check that it works again, then " +
      "call undone with the fault_id.",
  };
}

function undone({ fault_id }: Args, context: Context) {
  if (fault_id === undefined) return { error: "undone needs `fault_id`; used lists them." };
  const fault = context.faults.undone(fault_id, new Date(context.now()));
  return fault ? told(fault) : { error: `There is no fault ${fault_id} in this project; used lists them.` };
}

function told({ id, issue, title, devices, note, username, injected_at, undone_at }: UsedFault) {
  return {
    fault_id: id,
    issue,
    title,
    devices,
    ...(note ? { note } : {}),
    by: username,
    injected_at,
    ...(undone_at ? { undone_at } : { still_in_the_lab: true }),
  };
}
