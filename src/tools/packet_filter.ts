// The tool that spoils a link on purpose: loss, delay, corruption, or dropping what an expression matches.
import { z } from "zod";
import { AppError, type ErrorCode } from "../domain/error.ts";
import type { LinkFilter } from "../gns3/shapes.ts";
import { describeLink } from "../gns3/topology.ts";
import { findLink, LINK_HINT } from "./link_names.ts";
import { listed } from "./names.ts";
import { defineTool } from "./tool.ts";

type Value = number | string;
type Filters = Record<string, Value[]>;

const value = z.union([z.number(), z.string().max(2_000)]);

export const packetFilter = defineTool({
  name: "manage_gns3_packet_filter",
  description:
    "Shows or sets the packet filters of a link, which drop, delay or damage packets in both directions. " +
    "get_available lists what this link can do; set replaces all filters: {} removes them. What a filter drops is " +
    "not in the link's capture.",
  input: z.object({
    link_id: z.string().min(1).describe(LINK_HINT),
    action: z.enum(["get_available", "get", "set"]),
    filters: z.record(z.string(), z.union([z.array(value).max(10), value])).optional().describe(
      'for set: {"packet_loss": [30]}, {"delay": [200, 10]}, {"bpf": ["icmp"]}; values in the order that get_available shows',
    ),
  }),
  risk: ({ action }) => action === "set" ? "change" : "read",
  modes: ["troubleshooting_injection"],
  async run({ link_id, action, filters }, context) {
    const { gns3, project: { project_id }, signal } = context;
    const { nodes, links } = await gns3.topology(project_id, signal);
    const link = findLink(link_id, links, nodes);
    const named = { link_id: link.link_id, link: describeLink(link, nodes) };
    if (action === "get") return { ...named, filters: link.filters };
    const available = await gns3.linkFilters(project_id, link.link_id, signal);
    if (action === "get_available") return { ...named, available };
    if (!filters) {
      throw new AppError(
        "validation_error",
        'set needs filters, as {"packet_loss": [30]}; {} removes them all.',
      );
    }
    const wanted = checked(filters, available);
    const old = (await gns3.version()).startsWith("3.0");
    const put = async (filters: Filters, clears: boolean) => {
      if (clears) await gns3.setLinkFilters(project_id, link.link_id, HARMLESS, signal);
      return await gns3.setLinkFilters(project_id, link.link_id, filters, signal);
    };
    const clears = old && isEmpty(wanted) && !isEmpty(link.filters);
    try {
      const { filters: kept } = await put(wanted, clears);
      return { ...named, filters: kept, ...note(wanted, kept, clears) };
    } catch (error) {
      if (!(error instanceof AppError) || !REFUSALS.has(error.code)) throw error;
      // GNS3 has kept them although a node did not take them, and that node would not even start with them.
      await put(link.filters as Filters, old && isEmpty(link.filters));
      const why = error.message.replace(/[.\s]*$/, "");
      throw new AppError(error.code, `${why}. The link has the filters again that it had before.`);
    }
  },
});

const REFUSALS: ReadonlySet<ErrorCode> = new Set(["bad_request", "conflict", "validation_error"]);

const isEmpty = (filters: Record<string, unknown>) => Object.keys(filters).length === 0;

/**
 * GNS3 3.0 forgets cleared filters but does not tell the nodes, which go on dropping. It does tell them of another
 * filter: this one matches no frame.
 */
const HARMLESS: Filters = { bpf: ["greater 65535"] };

function note(wanted: Filters, kept: Record<string, unknown>, clears: boolean): { note?: string } {
  const said: string[] = [];
  const dropped = Object.keys(wanted).filter((type) => !Object.hasOwn(kept, type));
  if (dropped.length) said.push(`GNS3 did not keep ${dropped.join(", ")}: a first value of 0 means off.`);
  if (clears) {
    said.push(
      "This GNS3 does not pass the removal of filters on to its nodes, so they were given one that matches nothing " +
        "in their place. Check with a ping; if packets are still lost, stop and start the nodes of the link.",
    );
  }
  return said.length ? { note: said.join(" ") } : {};
}

/** The values in GNS3's form. Throws `validation_error` that says which filter or value does not fit, and what would. */
function checked(given: Record<string, Value[] | Value>, available: LinkFilter[]): Filters {
  return Object.fromEntries(
    Object.entries(given).map(([type, values]) => {
      const filter = available.find((one) => one.type === type);
      if (!filter) {
        const all = listed("This link offers", available.map(usage));
        throw new AppError("validation_error", `There is no filter "${type.slice(0, 100)}". ${all}`);
      }
      const list = oneText(Array.isArray(values) ? values : [values], filter);
      if (list.length === 0 || list.length > filter.parameters.length) {
        throw new AppError(
          "validation_error",
          `${type} takes 1 to ${filter.parameters.length} values: ${usage(filter)}.`,
        );
      }
      return [type, list.map((one, i) => fitted(one, type, filter.parameters[i]!))];
    }),
  );
}

/** Where a filter takes one text of several lines, a list is taken for its lines. */
function oneText(values: Value[], { parameters }: LinkFilter): Value[] {
  const isText = parameters.length === 1 && parameters[0]!.type !== "int";
  return isText && values.length > 1 ? [values.join("\n")] : values;
}

function fitted(given: Value, type: string, parameter: LinkFilter["parameters"][number]): Value {
  const wrong = (must: string) =>
    new AppError("validation_error", `${type}: ${parameter.name} must be ${must}.`);
  if (parameter.type !== "int") {
    const text = String(given).trim();
    const choices = parameter.unit?.split("|") ?? [];
    if (choices.length > 1 && !choices.includes(text)) throw wrong(`one of ${choices.join(", ")}`);
    if (text === "") throw wrong("a text that is not empty");
    return text;
  }
  const number = typeof given === "string" && given.trim() === "" ? NaN : Number(given);
  const { minimum = -Infinity, maximum = Infinity } = parameter;
  if (!Number.isInteger(number) || number < minimum || number > maximum) {
    throw wrong(
      `a whole number from ${minimum} to ${maximum}${parameter.unit ? ` (${parameter.unit})` : ""}`,
    );
  }
  return number;
}

/** `delay [Latency 0..32767 ms, Jitter (-/+) 0..32767 ms]` */
function usage({ type, parameters }: LinkFilter): string {
  const values = parameters.map(({ name, minimum, maximum, unit }) => {
    const range = minimum === undefined || maximum === undefined ? "" : ` ${minimum}..${maximum}`;
    return `${name}${range}${unit ? ` ${unit}` : ""}`;
  });
  return `${type} [${values.join(", ")}]`;
}
