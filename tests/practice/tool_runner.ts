// Stands between the practice model and the practice lab in tests: runs the tool calls that the model makes, with the
// names and shapes of the product's tools, through the practice server's API and consoles.
import { type PracticeModel } from "../../src/practice/model.ts";
import type { ChatBodyMessage } from "../../src/practice/model_script.ts";
import type { Api } from "./lab.ts";
import { TelnetClient } from "./telnet_client.ts";

interface NodeJson {
  node_id: string;
  name: string;
  node_type: string;
  status: string;
  console: number;
  ports: { name: string; adapter_number: number; port_number: number }[];
}

interface LinkJson {
  link_id: string;
  suspend: boolean;
  filters: Record<string, unknown>;
  nodes: { node_id: string; adapter_number: number; port_number: number }[];
}

type Tool = (api: Api, args: Record<string, unknown>) => Promise<unknown>;

const nodesOf = async (api: Api) => (await api.call("GET", `${api.at}/nodes`)).body as NodeJson[];
const linksOf = async (api: Api) => (await api.call("GET", `${api.at}/links`)).body as LinkJson[];

async function topology(api: Api): Promise<unknown> {
  const [nodes, links] = [await nodesOf(api), await linksOf(api)];
  const port = (end: LinkJson["nodes"][number]) => {
    const node = nodes.find((n) => n.node_id === end.node_id)!;
    const { name } = node.ports.find((p) =>
      p.adapter_number === end.adapter_number && p.port_number === end.port_number
    )!;
    return `${node.name} ${name}`;
  };
  const used = new Set(links.flatMap((link) => link.nodes.map(port)));
  return {
    project: "practice-lab",
    nodes: nodes.map(({ name, node_id, node_type, status, ports }) => ({
      name,
      node_id,
      type: node_type,
      status,
      free_ports: ports.map((p) => p.name).filter((p) => !used.has(`${name} ${p}`)),
    })),
    links: links.map((link) => ({
      link_id: link.link_id,
      from: port(link.nodes[0]!),
      to: port(link.nodes[1]!),
      ...(link.suspend ? { suspended: true } : {}),
      ...(Object.keys(link.filters).length ? { filters: link.filters } : {}),
    })),
  };
}

async function onDevices(api: Api, args: Record<string, unknown>): Promise<unknown> {
  const nodes = await nodesOf(api);
  const configs = args.device_configs as { device_name: string; commands: string[] }[];
  const results = await Promise.all(configs.map(async ({ device_name, commands }) => {
    const node = nodes.find(({ name }) => name === device_name)!;
    if (node.status !== "started") {
      return { device_name, status: "error", error: `${device_name} is ${node.status}.` };
    }
    const client = await TelnetClient.connect(node.console);
    try {
      await client.wake();
      if (node.node_type === "dynamips") await client.run("terminal length 0");
      const ran: unknown[] = [];
      for (const command of commands) {
        ran.push({ command, status: "success", output: await client.run(command) });
      }
      return { device_name, status: "success", commands: ran };
    } finally {
      await client.close();
    }
  }));
  return { results, summary: `${results.length} done.` };
}

const power = (action: string): Tool => async (api, args) => {
  const results = [];
  for (const id of args.node_ids as string[]) {
    const { body } = await api.call("POST", `${api.at}/nodes/${id}/${action}`, {});
    const { name, status } = body as NodeJson;
    results.push({ node_id: id, name, status: "success", node_status: status });
  }
  return { results, summary: `${results.length} of ${results.length} succeeded.` };
};

async function createNodes(api: Api, args: Record<string, unknown>): Promise<unknown> {
  const results = [];
  for (const { template_id, name } of args.nodes as { template_id: string; name?: string }[]) {
    const { body } = await api.call("POST", `${api.at}/templates/${template_id}`, { x: 0, y: 0, name });
    results.push({ template_id, status: "success", name: (body as NodeJson).name });
  }
  return { results, summary: "1 of 1 succeeded." };
}

async function createLinks(api: Api, args: Record<string, unknown>): Promise<unknown> {
  const nodes = await nodesOf(api);
  const end = (id: string, name: string) => {
    const { adapter_number, port_number } = nodes.find((n) => n.node_id === id)!.ports.find((p) =>
      p.name === name
    )!;
    return { node_id: id, adapter_number, port_number };
  };
  const results = [];
  for (const link of args.links as Record<"node_id1" | "port1" | "node_id2" | "port2", string>[]) {
    const ends = [end(link.node_id1, link.port1), end(link.node_id2, link.port2)];
    const { status, body } = await api.call("POST", `${api.at}/links`, { nodes: ends });
    results.push({ ...link, status: status === 201 ? "success" : "error", link: (body as LinkJson).link_id });
  }
  return { results, summary: "1 of 1 succeeded." };
}

const TOOLS: Record<string, Tool> = {
  gns3_topology_reader: topology,
  get_gns3_templates: async (api) => ({ templates: (await api.call("GET", "/v3/templates")).body }),
  execute_vpcs_commands: onDevices,
  execute_multiple_device_commands: onDevices,
  start_gns3_node: power("start"),
  stop_gns3_node: power("stop"),
  create_gns3_node: createNodes,
  create_gns3_link: createLinks,
};

export const ALL_TOOLS = Object.keys(TOOLS);
export const LOOKING = ["gns3_topology_reader", "get_gns3_templates", "execute_vpcs_commands"];

/** What came of a question: the final text, and the calls of each step. */
export interface Conversation {
  answer: string;
  steps: { name: string; args: Record<string, unknown> }[][];
}

/** Asks the model and runs its tools until it answers in words. */
export async function ask(
  model: PracticeModel,
  api: Api,
  question: string,
  tools: string[] = ALL_TOOLS,
): Promise<Conversation> {
  const messages: ChatBodyMessage[] = [{ role: "system", content: "You help." }, {
    role: "user",
    content: question,
  }];
  const steps: Conversation["steps"] = [];
  for (let round = 0; round < 10; round++) {
    const response = await fetch(`${model.url}/chat/completions`, {
      method: "POST",
      body: JSON.stringify({
        model: "practice-1",
        messages,
        tools: tools.map((name) => ({
          type: "function",
          function: { name, parameters: { type: "object" } },
        })),
      }),
    });
    const { choices: [{ message }] } = await response.json() as { choices: [{ message: ChatBodyMessage }] };
    messages.push(message);
    if (!message.tool_calls) return { answer: String(message.content), steps };
    const calls = message.tool_calls.map(({ function: { name, arguments: args } }) => ({
      name,
      args: JSON.parse(args),
    }));
    steps.push(calls);
    const outputs = await Promise.all(calls.map(({ name, args }) => TOOLS[name]!(api, args)));
    message.tool_calls.forEach(({ id }, i) =>
      messages.push({ role: "tool", tool_call_id: id, content: JSON.stringify(outputs[i]) })
    );
  }
  throw new Error("The model did not come to an end.");
}
