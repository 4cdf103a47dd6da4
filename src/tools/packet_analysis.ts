// The tool that reads captures with tshark.
import { z } from "zod";
import { AppError } from "../domain/error.ts";
import { COPILOT_MODES } from "../domain/model_config.ts";
import { describeLink } from "../gns3/topology.ts";
import type { Analysis } from "../host/protocol.ts";
import type { Query } from "../host/query.ts";
import { ALLOWED, readArguments } from "../host/tshark_args.ts";
import { openCapture, type OpenedCapture } from "./capture_source.ts";
import { findLink, LINK_HINT } from "./link_names.ts";
import { defineTool, type ToolContext } from "./tool.ts";

const FOUND_FIELDS = 40;
const lines = z.int().min(1).max(1_000).optional();

export const packetAnalysis = defineTool({
  name: "packet_analysis",
  description:
    "Reads the packet capture of a link, running or ended, with tshark. Without tshark_args: which protocols it holds " +
    'and its first packets. action "search_fields" finds names of filter fields by one word in query.',
  input: z.object({
    link_id: z.string().min(1).optional().describe(LINK_HINT),
    tshark_args: z.string().max(5_000).optional().describe(
      `as -Y "ospf.msg == 1" -T fields -e ip.src. Allowed: ${ALLOWED}`,
    ),
    first: lines.describe("only so many lines from the start of the output"),
    last: lines.describe("only so many lines from its end"),
    action: z.enum(["analyze", "search_fields"]).default("analyze"),
    query: z.string().trim().min(1).max(100).optional().describe(
      "for search_fields: one word, as ospf or tcp.flags",
    ),
  }),
  risk: "read",
  modes: COPILOT_MODES,
  async run({ link_id, tshark_args, first, last, action, query }, context) {
    if (action === "search_fields") return await search(query, context);
    if (link_id === undefined) throw new AppError("validation_error", `link_id is missing: ${LINK_HINT}.`);
    if (first !== undefined && last !== undefined) {
      throw new AppError("validation_error", "Give first or last, not both.");
    }
    const asked = tshark_args?.trim() ? { ...readArguments(tshark_args), first, last } : undefined;
    const { gns3, project, signal } = context;
    const { nodes, links } = await gns3.topology(project.project_id, signal);
    const link = findLink(link_id, links, nodes);
    const named = { link_id: link.link_id, link: describeLink(link, nodes), capturing: link.capturing };
    using capture = await openCapture(link, named.link, context);
    const ask = { ask: capture.ask, capturing: link.capturing };
    const answer = asked ? await asking(asked, ask) : await overview({ first, last }, ask);
    return { ...named, ...answer, ...(capture.note ? { notes: [capture.note, ...answer.notes ?? []] } : {}) };
  },
});

/** How an opened capture is asked, and whether it goes on: what is not in one that has ended will never be. */
interface Asked {
  ask: OpenedCapture["ask"];
  capturing: boolean;
}

interface Said {
  output?: string;
  protocols?: string;
  error?: string;
  unknown_fields?: string[];
  notes?: string[];
}

const HIERARCHY: Query = { statistics: ["io,phs"] };
const SHOWN = 20;
/** Bytes that the header of a pcapng file with comments and several interfaces may take. */
const SMALL = 2_000;

async function overview(part: Pick<Query, "first" | "last">, { ask, capturing }: Asked): Promise<Said> {
  const packets = await ask(part.first || part.last ? part : { first: SHOWN });
  if (packets.problem) return { error: packets.problem };
  if (packets.lines === 0) return { output: "", notes: [empty(packets, capturing)] };
  const hierarchy = await ask(HIERARCHY);
  const notes = [...remarks(packets, capturing), ...encrypted(hierarchy.output)];
  return {
    protocols: table(hierarchy.output),
    output: packets.output,
    ...(notes.length ? { notes } : {}),
  };
}

async function asking(query: Query, asked: Asked): Promise<Said> {
  const answer = await asked.ask(query);
  if (answer.unknownFields) {
    return {
      error: `tshark knows no field ${answer.unknownFields.join(", ")}. Find the right names with ` +
        'action "search_fields" and one word in query.',
      unknown_fields: answer.unknownFields,
    };
  }
  if (answer.problem) return { error: `tshark says: ${answer.problem}` };
  const notes = remarks(answer, asked.capturing);
  if (await nothingIn(query, answer, asked)) notes.unshift(...await whyEmpty(query, answer, asked));
  else if (query.statistics) notes.push(...encrypted(answer.output));
  return { output: answer.output, ...(notes.length ? { notes } : {}) };
}

/** A report has a frame around it even when no packet is there; only a small file can hold none. */
async function nothingIn(
  query: Query,
  { lines, timedOut, captureBytes }: Analysis,
  { ask }: Asked,
): Promise<boolean> {
  if (timedOut) return false;
  if (!query.statistics || lines === 0) return lines === 0;
  return captureBytes < SMALL && (await ask({ first: 1 })).lines === 0;
}

/** Nothing came out: because nothing is in, because nothing fits, or because too little was looked at. */
async function whyEmpty(query: Query, answer: Analysis, { ask, capturing }: Asked): Promise<string[]> {
  const hierarchy = await ask(HIERARCHY);
  const held = table(hierarchy.output);
  if (held === "") return [empty(answer, capturing)];
  const notes = [`No packet fits. The capture holds: ${summary(held)}.`];
  if (query.count !== undefined && query.filter !== undefined) {
    notes.push(
      `-c ${query.count} counts before -Y filters: only the first ${query.count} packets were looked at. ` +
        `Leave -c out and give first: ${query.count}.`,
    );
  }
  return [...notes, ...encrypted(hierarchy.output)];
}

function empty({ captureBytes, packetCut }: Analysis, capturing: boolean): string {
  if (!capturing) {
    return "The capture has ended without a whole packet. Start it again (start_gns3_capture), make traffic on the " +
      "link, then read it.";
  }
  if (packetCut) return "The capture's first packet is still being written: try again in a moment.";
  return captureBytes === 0
    ? "The capture's file is empty: nothing has been written yet."
    : "The capture holds no packet yet. Make traffic on the link (a ping, a routing protocol), then read it again.";
}

function remarks({ outputCut, packetCut, timedOut }: Analysis, capturing: boolean): string[] {
  const why = capturing ? "it is being written" : "the capture was cut off";
  return [
    ...(packetCut ? [`The file ends in the middle of a packet (${why}); all before it was read.`] : []),
    ...(outputCut ? ["The output was too long and is cut. Narrow it with -Y, -c, -e, first or last."] : []),
    ...(timedOut ? ["tshark took too long and was stopped; this is what it had said."] : []),
  ];
}

/** Protocols whose payload is closed to whoever has no key. */
const ENCRYPTED = [
  "tls",
  "dtls",
  "ssh",
  "esp",
  "quic",
  "gquic",
  "wg",
  "openvpn",
  "macsec",
  "isakmp",
  "ipsec",
];

function encrypted(hierarchy: string): string[] {
  const found = [...new Set([...hierarchy.matchAll(/^ *([\w-]+) +frames:\d+/gm)].map((match) => match[1]!))]
    .filter((name) => ENCRYPTED.includes(name));
  if (found.length === 0) return [];
  return [
    `Some of it is encrypted (${
      found.join(", ")
    }): only addresses, sizes, times and handshakes can be read, not what ` +
    "is inside.",
  ];
}

/** tshark's protocol hierarchy without its frame. */
function table(output: string): string {
  return output.split("\n").filter((line) => /frames:\d+/.test(line)).map((line) =>
    line.replace(/ {2,}frames:/, " frames:")
  )
    .join("\n");
}

function summary(held: string): string {
  return held.split("\n").map((line) => line.trim().replace(/ frames:(\d+) bytes:\d+/, " ($1)")).slice(0, 40)
    .join(", ");
}

async function search(query: string | undefined, context: ToolContext) {
  if (query === undefined) {
    throw new AppError("validation_error", "search_fields needs a word in query, as ospf or tcp.flags.");
  }
  if (!context.host) {
    throw new AppError("unavailable", "This server runs without the helper that reads packets.");
  }
  const { fields, total } = await context.host.searchFields(query, FOUND_FIELDS, context.signal);
  if (total === 0) {
    const advice = /\s/.test(query)
      ? "It is looked for as it stands: try one word."
      : "Try another or a shorter word.";
    return { fields, note: `No field's name or description holds "${query}". ${advice}` };
  }
  return {
    fields,
    ...(total > fields.length ? { note: `${total} fit; the best ${fields.length} are shown.` } : {}),
  };
}
