// The demo: starts lab, model and server, and either shows one conversation or says where to go.
import type { CommandContext } from "../cli/command.ts";
import { addressOf, untilStopped } from "../cli/serve.ts";
import { findProgram } from "../cli/find_program.ts";
import { startServer } from "../cli/server_worker.ts";
import { type Config, freezeConfig, readConfig } from "../config.ts";
import { converse } from "./demo_conversation.ts";
import { type PracticeGns3, startPracticeGns3 } from "./gns3_server.ts";
import { type PracticeModel, startPracticeModel } from "./model.ts";

export interface DemoOptions {
  once: boolean;
  port: number;
  context: CommandContext;
}

const WORD_DELAY_MS = 25;

/** Runs the demo. Everything it makes is in a temporary folder that goes with it. Resolves to the exit code. */
export async function runDemo({ once, port, context }: DemoOptions): Promise<number> {
  const stateDir = await Deno.realPath(await Deno.makeTempDir({ prefix: "gns3-copilot-demo-" }));
  const gns3 = await startPracticeGns3();
  const model = await startPracticeModel({ wordDelay: WORD_DELAY_MS });
  try {
    const config = demoConfig({ gns3, model, stateDir, port, once });
    const server = await startServer(config, context.workerUrl, {
      tshark: findProgram("tshark", context.env.PATH),
    });
    const address = addressOf(server);
    if (once) {
      try {
        await converse({ address, gns3, print: context.print });
        return 0;
      } finally {
        await server.drain();
        server.terminate();
      }
    }
    const stopped = untilStopped(server, config, context);
    for (const line of whereToGo(address, gns3)) context.print(line);
    return await stopped;
  } finally {
    await model.close();
    await gns3.close();
    await Deno.remove(stateDir, { recursive: true });
  }
}

interface Parts {
  gns3: PracticeGns3;
  model: PracticeModel;
  stateDir: string;
  port: number;
  once: boolean;
}

function demoConfig({ gns3, model, stateDir, port, once }: Parts): Config {
  const { config } = readConfig({ args: [], env: {}, read: () => "" });
  return freezeConfig({
    ...config,
    gns3Url: gns3.url,
    projectsDir: gns3.projectsDir,
    stateDir,
    port,
    logLevel: once ? "error" : "warn",
    model: {
      provider: "practice",
      base_url: model.url,
      model: "practice-1",
      temperature: 0,
      context_limit: 128,
      context_strategy: "balanced",
      copilot_mode: "lab_automation_assistant",
    },
  });
}

function whereToGo(address: string, gns3: PracticeGns3): string[] {
  const chat = `${address}/v3/projects/${gns3.projectId}/chat`;
  const consoles = [...gns3.network.devices.values()].map((device) =>
    `  ${device.name.padEnd(5)} telnet 127.0.0.1 ${gns3.project(gns3.projectId).consoles.of(device.id)?.port}`
  );
  return [
    "GNS3 Copilot Server, practice lab: PC1 - R1 - R2 - PC2 with OSPF, and a scripted practice model.",
    "",
    `  Server        ${address}   (routes at ${address}/docs)`,
    `  Practice GNS3 ${gns3.url}   (alice / practice-alice)`,
    "",
    "Ask it something:",
    `  curl -N ${chat}/stream -H 'content-type: application/json' \\`,
    `    -H 'authorization: Bearer ${gns3.tokens.alice}' \\`,
    `    -d '{"message": "Can PC1 reach PC2, and if not, why?"}'`,
    "",
    "Break the lab on its consoles or through the practice GNS3's API, and ask again:",
    ...consoles,
    "",
    "Ctrl-C stops it.",
  ];
}
