// Which kind of device a node is: its GNS3 type, its tag or its template's, else how its image and template are called.
import { AppError } from "../domain/error.ts";
import type { Node } from "../domain/project.ts";
import type { Platform } from "./platform.ts";

/** What is known of the template from which a node was made. */
export interface TemplateHints {
  name: string;
  tags: string[];
}

const TAG = "device_type:";

/**
 * The tag `device_type:…` of the node decides, else a GNS3 node type that is always of one kind, else the template's tag,
 * else the names of image, template and node. A tag that contradicts the node type does not lift what must never be sent
 * to such a node. Throws `validation_error` that says how to tag.
 */
export function platformOf(node: Node, platforms: readonly Platform[], template?: TemplateHints): Platform {
  const typed = platforms.find((platform) => platform.nodeTypes.includes(node.node_type));
  const tag = tagOf(node.tags) ?? (typed ? undefined : tagOf(template?.tags ?? []));
  const found = tag
    ? platforms.find((platform) => platform.deviceTypes.includes(tag))
    : typed ?? byName([node.image ?? "", template?.name ?? "", node.name], platforms);
  if (found) return guarded(found, typed);
  const known = platforms.map(({ deviceTypes, title }) => `${deviceTypes[0]} (${title})`).join(", ");
  throw new AppError(
    "validation_error",
    tag
      ? `${node.name} has the tag device_type:${tag}, which is not known here. Known types: ${known}.`
      : `What kind of device ${node.name} (${node.node_type}) is, is not known: give the node or its template ` +
        "a tag device_type:<type> (GNS3 3.1), or a name that tells it, such as FRR-1 or IOSv-2. " +
        `Known types: ${known}.`,
  );
}

/** The same platform with the refusals that protect the GNS3 server from what the node may really be. */
function guarded(platform: Platform, typed?: Platform): Platform {
  const host = platform === typed ? [] : typed?.refused.filter(({ host }) => host) ?? [];
  return host.length ? { ...platform, refused: [...host, ...platform.refused] } : platform;
}

/** Whether a node's own data tell its kind, so that its template need not be looked up. */
export function knowsItself(node: Node, platforms: readonly Platform[]): boolean {
  return tagOf(node.tags) !== undefined ||
    platforms.some((platform) => platform.nodeTypes.includes(node.node_type));
}

function tagOf(tags: string[]): string | undefined {
  return tags.find((one) => one.startsWith(TAG))?.slice(TAG.length).trim() || undefined;
}

/** The surest name first: an image's name says more than what somebody called the node. */
function byName(names: string[], platforms: readonly Platform[]): Platform | undefined {
  for (const name of names) {
    const found = name && platforms.find(({ hints }) => hints.some((hint) => hint.test(name)));
    if (found) return found;
  }
}
