// Tools that look at the lab: what is in it, and what nodes can be made from.
import { z } from "zod";
import { COPILOT_MODES } from "../domain/model_config.ts";
import { viewOf } from "../gns3/topology.ts";
import { defineTool } from "./tool.ts";

export const topologyReader = defineTool({
  name: "gns3_topology_reader",
  description:
    "Reads the lab as it is now: all nodes (name, id, type, status, position, free ports) and all links " +
    "(id, ends, filters). Use it before you change the lab and whenever you need ids, ports or positions.",
  input: z.object({}),
  risk: "read",
  modes: COPILOT_MODES,
  async run(_args, { gns3, project, signal }) {
    const { nodes, links } = viewOf(await gns3.topology(project.project_id, signal));
    return { project: project.name, nodes, links };
  },
});

export const templates = defineTool({
  name: "get_gns3_templates",
  description:
    "Lists the templates that nodes can be created from, with their template_id. Built-in ones (VPCS, " +
    "Ethernet switch, Cloud, NAT) are included.",
  input: z.object({
    name_contains: z.string().optional().describe(
      "only templates whose name, type or category holds this text",
    ),
  }),
  risk: "read",
  modes: COPILOT_MODES,
  async run({ name_contains }, { gns3, signal }) {
    const all = await gns3.templates(signal);
    const wanted = name_contains?.trim().toLowerCase() ?? "";
    const found = all.filter((one) =>
      [one.name, one.template_type, one.category ?? ""].some((text) => text.toLowerCase().includes(wanted))
    );
    return {
      templates: found.map(({ template_id, name, template_type, category, tags }) => ({
        template_id,
        name,
        type: template_type,
        ...(category ? { category } : {}),
        ...(tags.length ? { tags } : {}),
      })),
      ...(found.length === 0 && all.length > 0
        ? { note: `No template fits. There are: ${all.map((one) => one.name).join(", ")}.` }
        : {}),
    };
  },
});
