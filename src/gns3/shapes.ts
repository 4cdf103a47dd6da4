// What GNS3 answers, reduced to the domain's types: unknown fields, and above all credentials, stop here.
import { z } from "zod";
import type { Group } from "../domain/inheritance.ts";
import type { Link, Node, Project } from "../domain/project.ts";

/** The user behind a credential. */
export interface Gns3User {
  user_id: string;
  username: string;
  is_superadmin: boolean;
}

/** A template: what a node is made from. `compute_id` is null where the caller chooses. */
export interface Template {
  template_id: string;
  name: string;
  template_type: string;
  category?: string;
  builtin: boolean;
  compute_id: string | null;
  tags: string[];
}

/** A name and a password for a device's console. Never leaves `gns3` and `devices`. */
export interface ConsoleCredentials {
  username: string;
  password: string;
}

/** A machine that runs nodes. */
export interface Compute {
  compute_id: string;
  name: string;
  host: string;
}

const number = z.number().catch(0);
const text = z.string().nullish().catch(null);

const portShape = z.object({
  name: z.string().catch(""),
  short_name: text,
  adapter_number: number,
  port_number: number,
  link_type: text,
});

const nodeShape = z.object({
  node_id: z.string(),
  name: z.string(),
  node_type: z.string(),
  // A closed project's nodes have no status.
  status: z.enum(["started", "stopped", "suspended"]).catch("stopped"),
  console: z.number().nullish().catch(null),
  console_host: text,
  console_type: text,
  compute_id: text,
  template_id: text,
  netmiko_device_type: text,
  properties: z.object({ hda_disk_image: text, image: text, path: text }).nullish().catch(null),
  tags: z.array(z.string()).nullish().catch(null),
  x: number,
  y: number,
  ports: z.array(portShape).nullish().catch(null),
});

/** A node without its credentials. GNS3 3.1's `netmiko_device_type` counts as the tag `device_type:…`. */
export function toNode(value: unknown): Node {
  const { netmiko_device_type, properties, tags, ports, ...node } = nodeShape.parse(value);
  const image = properties?.hda_disk_image || properties?.image || properties?.path;
  return {
    ...node,
    // A path on the compute is nobody's business.
    ...(image ? { image: image.replace(/^(?:\/|[A-Z]:\\).*[/\\]/i, "") } : {}),
    tags: typed(tags, netmiko_device_type),
    ports: (ports ?? []).map(({ short_name, link_type, ...port }) => ({
      ...port,
      ...(short_name ? { short_name } : {}),
      ...(link_type ? { link_type } : {}),
    })),
  };
}

/** The tags, with GNS3 3.1's field as one of them where no tag says it. */
function typed(tags: string[] | null | undefined, deviceType: string | null | undefined): string[] {
  const all = tags ?? [];
  if (!deviceType || all.some((tag) => tag.startsWith("device_type:"))) return all;
  return [...all, `device_type:${deviceType}`];
}

const credentialsShape = z.object({ default_username: text, default_password: text });

/** What a console is logged in with; only GNS3 3.1 has it. Undefined when neither name nor password is set. */
export function toCredentials(value: unknown): ConsoleCredentials | undefined {
  const { default_username, default_password } = credentialsShape.parse(value);
  if (!default_username && !default_password) return undefined;
  return { username: default_username ?? "", password: default_password ?? "" };
}

const linkShape = z.object({
  link_id: z.string(),
  nodes: z.array(z.object({ node_id: z.string(), adapter_number: number, port_number: number })),
  suspend: z.boolean().catch(false),
  capturing: z.boolean().catch(false),
  filters: z.record(z.string(), z.unknown()).catch({}),
  capture_file_name: text,
  capture_file_path: text,
  capture_compute_id: text,
});

/** A capture that has ended keeps its file's name and path as long as the project stays open in GNS3. */
export function toLink(value: unknown): Link {
  const { capture_file_name, capture_file_path, capture_compute_id, ...link } = linkShape.parse(value);
  if (!capture_file_name || !capture_file_path) return link;
  return {
    ...link,
    capture: {
      file_name: capture_file_name,
      path: capture_file_path,
      ...(capture_compute_id ? { compute_id: capture_compute_id } : {}),
    },
  };
}

/** A packet filter that a link can have, with the values it takes in this order. */
export interface LinkFilter {
  type: string;
  name: string;
  description: string;
  parameters: { name: string; type: string; minimum?: number; maximum?: number; unit?: string }[];
}

const bound = z.number().optional().catch(undefined);

const linkFilterShape = z.object({
  type: z.string(),
  name: z.string().catch(""),
  description: z.string().catch(""),
  parameters: z.array(z.object({
    name: z.string().catch(""),
    type: z.string().catch("int"),
    minimum: bound,
    maximum: bound,
    unit: z.string().optional().catch(undefined),
  })).catch([]),
});

export const toLinkFilter = (value: unknown): LinkFilter => linkFilterShape.parse(value);

const projectShape = z.object({
  project_id: z.string(),
  name: z.string(),
  status: z.enum(["opened", "closed"]),
  path: z.string().optional().catch(undefined),
});

export const toProject = (value: unknown): Project => projectShape.parse(value);

const userShape = z.object({
  user_id: z.string(),
  username: z.string(),
  is_superadmin: z.boolean().catch(false),
});

export const toUser = (value: unknown): Gns3User => userShape.parse(value);

const groupShape = z.object({ user_group_id: z.string(), name: z.string() });

export const toGroup = (value: unknown): Group => {
  const { user_group_id, name } = groupShape.parse(value);
  return { id: user_group_id, name };
};

const templateShape = z.object({
  template_id: z.string(),
  name: z.string(),
  template_type: z.string().catch("unknown"),
  category: z.string().optional().catch(undefined),
  builtin: z.boolean().catch(false),
  compute_id: z.string().nullish().catch(null).transform((id) => id ?? null),
  netmiko_device_type: text,
  tags: z.array(z.string()).nullish().catch(null),
});

export function toTemplate(value: unknown): Template {
  const { netmiko_device_type, tags, ...template } = templateShape.parse(value);
  return { ...template, tags: typed(tags, netmiko_device_type) };
}

const computeShape = z.object({ compute_id: z.string(), name: z.string().catch(""), host: z.string() });

export const toCompute = (value: unknown): Compute => computeShape.parse(value);

const versionShape = z.object({ version: z.string() });

export const toVersion = (value: unknown): string => versionShape.parse(value).version;
