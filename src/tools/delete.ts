// Tools that take nodes and links away.
import { z } from "zod";
import { AppError } from "../domain/error.ts";
import { describeLink } from "../gns3/topology.ts";
import { findLink, LINK_HINT } from "./link_names.ts";
import { findNode } from "./names.ts";
import { forEach } from "./results.ts";
import { defineTool } from "./tool.ts";

export const deleteNodes = defineTool({
  name: "delete_gns3_node",
  description:
    "Deletes nodes for good, with everything on their disks and all their links. A running node is stopped and " +
    "deleted; a locked one is left alone. Only a snapshot brings them back.",
  input: z.object({
    node_ids: z.array(z.string().min(1)).min(1).max(100).describe("ids or names of the nodes"),
  }),
  risk: "destroy",
  modes: ["lab_automation_assistant"],
  async run({ node_ids }, { gns3, project: { project_id }, signal }) {
    const lab = await gns3.topology(project_id, signal);
    const options = { parallel: 1, signal, label: (id: string) => ({ node_id: id }) };
    return await forEach(node_ids, options, async (reference) => {
      const node = findNode(reference, lab.nodes);
      try {
        await gns3.deleteNode(project_id, node.node_id, signal);
      } catch (error) {
        if (!(error instanceof AppError) || !/\block/i.test(error.message)) throw error;
        throw new AppError("conflict", `${error.message}. Ask the user to unlock it in GNS3 first.`);
      }
      const gone = lab.links.filter((link) => link.nodes.some((end) => end.node_id === node.node_id));
      const removed_links = gone.map((link) => describeLink(link, lab.nodes));
      lab.nodes = lab.nodes.filter((one) => one !== node);
      lab.links = lab.links.filter((link) => !gone.includes(link));
      return { node_id: node.node_id, name: node.name, was: node.status, removed_links };
    });
  },
});

export const deleteLinks = defineTool({
  name: "delete_gns3_link",
  description:
    "Deletes links; the nodes at their ends stay. Filters of a link and a running capture end with it.",
  input: z.object({
    link_ids: z.array(z.string().min(1)).min(1).max(100).describe(LINK_HINT),
  }),
  risk: "destroy",
  modes: ["lab_automation_assistant"],
  async run({ link_ids }, { gns3, project: { project_id }, signal }) {
    const lab = await gns3.topology(project_id, signal);
    const options = { parallel: 1, signal, label: (id: string) => ({ link_id: id }) };
    return await forEach(link_ids, options, async (reference) => {
      const link = findLink(reference, lab.links, lab.nodes);
      await gns3.deleteLink(project_id, link.link_id, signal);
      lab.links = lab.links.filter((one) => one !== link);
      return { link_id: link.link_id, link: describeLink(link, lab.nodes) };
    });
  },
});
