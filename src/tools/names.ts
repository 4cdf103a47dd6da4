// Finds what the model means by a name: it mixes up names and ids, and people spell ports in many ways.
import { AppError } from "../domain/error.ts";
import type { Node, Port } from "../domain/project.ts";

const MOST_NAMES = 60;

/**
 * The node with this id or name; case and blanks, which GNS3 drops from some names, may differ where that is unique.
 * Throws `not_found`.
 */
export function findNode(reference: string, nodes: Node[]): Node {
  const wanted = reference.trim();
  const low = wanted.toLowerCase();
  const exact = nodes.find((node) => node.name === wanted || node.node_id.toLowerCase() === low);
  if (exact) return exact;
  const alike = nodes.filter((node) => unspaced(node.name) === unspaced(wanted));
  if (alike.length === 1) return alike[0]!;
  if (alike.length > 1) {
    throw new AppError(
      "not_found",
      `"${wanted}" fits several nodes: ${alike.map(({ name }) => name).join(", ")}. Spell the name exactly.`,
    );
  }
  throw new AppError(
    "not_found",
    `There is no node "${wanted}". ${listed("Nodes", nodes.map((n) => n.name))}`,
  );
}

const unspaced = (name: string) => name.toLowerCase().replace(/\s+/g, "");

/** The port that `spelling` means: `GigabitEthernet0/1`, `gigabitethernet 0/1`, `Gi0/1`, or just `0/1`. */
export function findPort(spelling: string, node: Node): Port {
  const wanted = spelling.trim();
  const exact = node.ports.filter((port) => port.name === wanted || port.short_name === wanted);
  if (exact.length === 1) return exact[0]!;
  const target = parts(wanted);
  const fits = node.ports.filter((port) => sameName(target, parts(port.name)) || isNumbered(target, port));
  if (fits.length === 1) return fits[0]!;
  const names = (fits.length > 1 ? fits : node.ports).map((port) => port.name);
  const why = fits.length > 1
    ? `"${wanted}" fits several ports of ${node.name}.`
    : `${node.name} has no port "${wanted}".`;
  throw new AppError("not_found", `${why} ${listed("Ports", names)}`);
}

/** `Nodes: R1, R2.`, shortened when there are very many. */
export function listed(what: string, names: string[]): string {
  if (names.length === 0) return `${what}: none.`;
  const rest = names.length - MOST_NAMES;
  return `${what}: ${names.slice(0, MOST_NAMES).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}.`;
}

interface PortName {
  letters: string;
  numbers: string;
}

function parts(name: string): PortName {
  const [, letters = "", numbers = ""] = /^([^\d]*)(.*)$/.exec(name.toLowerCase().replace(/[\s_-]+/g, ""))!;
  return { letters, numbers };
}

/** The same numbers, and one kind is the beginning of the other: `gi` and `gigabitethernet`. */
function sameName(a: PortName, b: PortName): boolean {
  if (a.numbers !== b.numbers || a.letters === "" || b.letters === "") {
    return a.letters === b.letters && same(a, b);
  }
  return a.letters.startsWith(b.letters) || b.letters.startsWith(a.letters);
}

const same = (a: PortName, b: PortName) => a.numbers === b.numbers;

/** Only numbers: adapter and port, or the last part of the name. */
function isNumbered(target: PortName, port: Port): boolean {
  if (target.letters !== "" || target.numbers === "") return false;
  return target.numbers === `${port.adapter_number}/${port.port_number}` ||
    target.numbers === parts(port.name).numbers;
}
