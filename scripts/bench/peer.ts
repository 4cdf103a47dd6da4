// The peer: GNS3's own copilot, in a gns3-server that somebody has started (README.md tells how).
import type { Target } from "./bench.ts";
import { ask, MARKERS } from "./client.ts";

/**
 * The peer that PEER_URL, PEER_TOKEN (somebody with the privileges `LLMConfig.*`) and PEER_PROJECT (the id of an opened
 * project) name; undefined without PEER_URL. PEER_PID is for its processor time and memory. Its user's default model
 * configuration becomes one of `model`.
 */
export async function connectPeer(model: string): Promise<Target | undefined> {
  const url = Deno.env.get("PEER_URL")?.replace(/\/+$/, "");
  if (!url) return undefined;
  const token = Deno.env.get("PEER_TOKEN") ?? "";
  const project = Deno.env.get("PEER_PROJECT") ?? "";
  type User = { user_id: string };
  const { value: user } = await ask<User>(`${url}/v3/access/users/me`, token);
  const configs = `${url}/v3/access/users/${user.user_id}/llm-model-configs`;
  type Config = { config_id: string; name: string };
  const { value: own } = await ask<Config[]>(`${configs}/own`, token);
  for (const { config_id, name } of own) {
    if (name === "bench") await ask(`${configs}/${config_id}`, token, { method: "DELETE" });
  }
  const { value: made } = await ask<Config>(configs, token, {
    method: "POST",
    body: {
      name: "bench",
      model_type: "text",
      is_default: true,
      provider: "openai",
      base_url: model,
      model: "bench",
      api_key: "bench",
      temperature: 0.7,
      context_limit: 128,
      context_strategy: "balanced",
      copilot_mode: "teaching_assistant",
    },
  });
  await ask(`${configs}/default/${made.config_id}`, token, { method: "PUT" });
  const pid = Number(Deno.env.get("PEER_PID")) || undefined;
  const chat = `${url}/v3/copilot/projects/${project}/chat`;
  return { name: "peer", url, chat, token, pid, marker: MARKERS.peer, health: `${url}/v3/version` };
}
