// The conversation of `demo --once`, as a person at a terminal would see it.
import type { PracticeGns3 } from "./gns3_server.ts";

export interface ConversationOptions {
  address: string;
  gns3: PracticeGns3;
  /** Writes one line. */
  print(text: string): void;
}

const QUESTION = "Can PC1 reach PC2, and if not, why?";

interface StreamEvent {
  type: string;
  content?: string;
  error?: string;
  tool_call?: { function: { name: string; arguments: string; complete?: boolean } };
  tool_output?: string;
  status?: string;
}

/** Asks, pulls the cable between R1 and R2 through GNS3's API, and asks again. Throws when a turn fails. */
export async function converse({ address, gns3, print }: ConversationOptions): Promise<void> {
  print(
    "Practice lab: PC1 - R1 - R2 - PC2 with OSPF. No GNS3, no key: the model is a script that really uses the tools.",
  );
  const ask = async (message: string) => {
    print(`\nYou        ${message}`);
    const answer = await fetch(`${address}/v3/projects/${gns3.projectId}/chat/stream`, {
      method: "POST",
      headers: { authorization: `Bearer ${gns3.tokens.alice}`, "content-type": "application/json" },
      body: JSON.stringify({ message, session_id: "demo" }),
    });
    if (!answer.ok) {
      throw new Error(`The demo's own request was refused: ${answer.status} ${await answer.text()}`);
    }
    await show(answer.body!, print);
  };
  await ask(QUESTION);
  await pullCable(gns3);
  print("\n(Somebody pulls the cable between R1 and R2.)");
  await ask(QUESTION);
}

async function pullCable(gns3: PracticeGns3): Promise<void> {
  const project = `${gns3.url}/v3/projects/${gns3.projectId}`;
  const headers = { authorization: `Bearer ${gns3.tokens.alice}` };
  const links: { link_id: string; nodes: { node_id: string }[] }[] =
    await (await fetch(`${project}/links`, { headers })).json();
  const routers = ["R1", "R2"].map((name) => gns3.nodeId(name));
  const cable = links.find((link) => link.nodes.every((end) => routers.includes(end.node_id)));
  const answer = await fetch(`${project}/links/${cable?.link_id}`, { method: "DELETE", headers });
  if (!answer.ok) throw new Error(`The practice GNS3 did not delete the link: ${answer.status}`);
  await answer.body?.cancel();
}

/** Prints a stream: calls when they are complete, results in short, the answer at its end. */
async function show(body: ReadableStream<Uint8Array>, print: (text: string) => void): Promise<void> {
  let rest = "";
  let text = "";
  const say = () => {
    if (text) print(indent("Assistant  ", text));
    text = "";
  };
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      if (!line.startsWith("data: ")) continue;
      const event: StreamEvent = JSON.parse(line.slice(6));
      if (event.type === "content") text += event.content;
      if (event.type === "tool_call" && event.tool_call!.function.complete) {
        say();
        print(`  calls    ${event.tool_call!.function.name} ${event.tool_call!.function.arguments}`);
      }
      if (event.type === "tool_end") print(indent("  result   ", resultOf(event)));
      if (event.type === "error") throw new Error(event.error);
    }
  }
  say();
}

interface DeviceOutcome {
  device_name?: string;
  commands?: { command: string; output?: string; error?: string }[];
}

/** What devices printed, as on their consoles; of other results only how much they say. */
function resultOf(event: StreamEvent): string {
  const output: { results?: DeviceOutcome[] } = JSON.parse(event.tool_output!);
  const consoles = output.results?.filter((one) => one.commands) ?? [];
  if (!consoles.length) return `${event.status}, ${event.tool_output!.length} characters of JSON`;
  return consoles.flatMap(({ device_name, commands = [] }) =>
    commands.map(({ command, output = "", error }) =>
      `${device_name}> ${command}\n${output || error || ""}`.trimEnd()
    )
  ).join("\n");
}

function indent(label: string, text: string): string {
  return label + text.trim().replaceAll("\n", `\n${" ".repeat(label.length)}`);
}
