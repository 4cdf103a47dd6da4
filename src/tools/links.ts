// The tool that connects nodes.
import { z } from "zod";
import { AppError } from "../domain/error.ts";
import type { Link, LinkEnd, Node } from "../domain/project.ts";
import { describeLink, freePorts, portKey, usedPorts } from "../gns3/topology.ts";
import { findNode, findPort, listed } from "./names.ts";
import { forEach } from "./results.ts";
import { defineTool } from "./tool.ts";

const node = z.string().min(1).describe("the node's id or name");
const port = z.string().min(1).describe("as Ethernet0, e0, GigabitEthernet0/1 or Gi0/1");

export const createLinks = defineTool({
  name: "create_gns3_link",
  description:
    "Connects nodes by cables, one after the other. gns3_topology_reader lists each node's free ports.",
  input: z.object({
    links: z.array(z.object({ node_id1: node, port1: port, node_id2: node, port2: port })).min(1).max(100),
  }),
  risk: "change",
  modes: ["lab_automation_assistant"],
  async run({ links: wanted }, { gns3, project, signal }) {
    const { nodes, links } = await gns3.topology(project.project_id, signal);
    return await forEach(wanted, { parallel: 1, signal, label: (link) => link }, async (link) => {
      const [first, second] = [findNode(link.node_id1, nodes), findNode(link.node_id2, nodes)];
      if (first === second) throw new AppError("conflict", `${first.name} cannot be linked with itself.`);
      const ends: [LinkEnd, LinkEnd] = [
        freeEnd(link.port1, first, nodes, links),
        freeEnd(link.port2, second, nodes, links),
      ];
      const made = await gns3.createLink(project.project_id, ends, signal);
      links.push(made);
      return { link_id: made.link_id, link: describeLink(made, nodes) };
    });
  },
});

function freeEnd(spelling: string, node: Node, nodes: Node[], links: Link[]): LinkEnd {
  const { name, adapter_number, port_number } = findPort(spelling, node);
  const end = { node_id: node.node_id, adapter_number, port_number };
  const used = usedPorts(links);
  const link = used.get(portKey(node.node_id, end));
  if (!link) return end;
  throw new AppError(
    "conflict",
    `${node.name} ${name} is in use by the link ${describeLink(link, nodes)} (${link.link_id}). ` +
      listed(`Free ports of ${node.name}`, freePorts(node, used)),
  );
}
