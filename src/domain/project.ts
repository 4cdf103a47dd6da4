// A GNS3 project and its topology, as far as this program needs them.

/** A project as GNS3 describes it. `path` is its folder on the GNS3 server's disk. */
export interface Project {
  project_id: string;
  name: string;
  status: "opened" | "closed";
  path?: string;
}

/** A port of a node: `name` and `short_name` are how people call it, the two numbers how GNS3 does. */
export interface Port {
  name: string;
  short_name?: string;
  adapter_number: number;
  port_number: number;
  link_type?: string;
}

/** A node. Console fields are missing while the project is closed; credentials never leave `gns3/`. */
export interface Node {
  node_id: string;
  name: string;
  node_type: string;
  status: "started" | "stopped" | "suspended";
  console?: number | null;
  console_host?: string | null;
  console_type?: string | null;
  template_id?: string | null;
  /** The file name of what the node runs: a disk image, a container image, an IOS image. */
  image?: string;
  /** The machine that runs the node; `local` is the GNS3 server itself. */
  compute_id?: string | null;
  tags: string[];
  x: number;
  y: number;
  ports: Port[];
}

/** One end of a link. */
export interface LinkEnd {
  node_id: string;
  adapter_number: number;
  port_number: number;
}

/** A cable between two ports; `suspend` means that it carries nothing. */
export interface Link {
  link_id: string;
  nodes: LinkEnd[];
  suspend: boolean;
  capturing: boolean;
  filters: Record<string, unknown>;
  /** The file of the running or last capture; `compute_id` is known only while it runs. Its path is not for people. */
  capture?: { file_name: string; path: string; compute_id?: string };
}

/** A snapshot of a project; `created_at` is ISO 8601 in UTC. GNS3 3.0 gives it a new id each time it opens the project. */
export interface Snapshot {
  snapshot_id: string;
  name: string;
  created_at: string;
}

/** The whole lab at one moment. */
export interface Topology {
  nodes: Node[];
  links: Link[];
}
