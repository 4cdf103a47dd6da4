// Finds the link that the model means: it gives an id, or the names of the link's ends in some spelling.
import { AppError } from "../domain/error.ts";
import type { Link, LinkEnd, Node, Port } from "../domain/project.ts";
import { describeLink } from "../gns3/topology.ts";
import { listed } from "./names.ts";

/** What the model is told about giving a link. */
export const LINK_HINT = 'the link\'s id, or its ends as "PC1 - SW1" or "R1 Gi0/0 - R2 Gi0/1"';

/**
 * The link with this id, or between these ends: `PC1 - SW1`, `PC1 Ethernet0 to SW1 e3`, or one end where that is
 * enough. Throws `not_found` with the links that there are.
 */
export function findLink(reference: string, links: Link[], nodes: Node[]): Link {
  const id = reference.trim().toLowerCase();
  const exact = links.find((link) => link.link_id.toLowerCase() === id);
  if (exact) return exact;
  const known = new Map(nodes.map((node) => [node.node_id, node]));
  let fits: Link[] = [];
  for (const plain of PLAIN) {
    const wanted = plain(reference);
    fits = wanted === "" ? [] : links.filter((link) => spellings(link, known, plain).has(wanted));
    if (fits.length > 0) break;
  }
  if (fits.length === 1) return fits[0]!;
  const named = (some: Link[]) =>
    listed("Links", some.map((link) => `${describeLink(link, nodes)} (${link.link_id})`));
  throw new AppError(
    "not_found",
    fits.length > 1
      ? `"${reference.trim()}" fits several links. ${named(fits)}`
      : `There is no link "${reference.trim().slice(0, 200)}". ${named(links)}`,
  );
}

type Plain = (text: string) => string;

/**
 * What joins two ends may be spelled in any way, but so may names: first only blanks and case are free, then all that
 * is neither letter, number nor picture, and last the words that join.
 */
const PLAIN: Plain[] = [
  (text) => text.toLowerCase().replace(/\s+/g, " ").trim(),
  (text) => words(text),
  (text) => words(text.toLowerCase().replace(/\b(?:to|and|between|link)\b/g, " ")),
];

function words(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}\p{M}\p{Extended_Pictographic}]|[↔➔➜➝➞➡⬅⬌]/gu, " ")
    .replace(/\s+/g, " ").trim();
}

function spellings(link: Link, nodes: Map<string, Node>, plain: Plain): Set<string> {
  const [first = [], second = []] = link.nodes.map((end) => endSpellings(end, nodes.get(end.node_id)));
  const both = first.flatMap((a) => second.flatMap((b) => [`${a} - ${b}`, `${b} - ${a}`]));
  return new Set([...first, ...second, ...both].map(plain));
}

/** A node's name alone and with its port, however that is called. */
function endSpellings(end: LinkEnd, node: Node | undefined): string[] {
  const name = node?.name ?? end.node_id;
  const port = node?.ports.find((one) => isAt(one, end));
  const ports = [port?.name, port?.short_name, `${end.adapter_number}/${end.port_number}`];
  return [name, end.node_id, ...ports.filter((one) => one !== undefined).map((one) => `${name} ${one}`)];
}

function isAt(port: Port, end: LinkEnd): boolean {
  return port.adapter_number === end.adapter_number && port.port_number === end.port_number;
}
