// The other side of the bench, as a process of its own: a practice GNS3 server and a model that plays fixed scripts.
import { startPracticeGns3 } from "../../src/practice/gns3_server.ts";
import { startPracticeModel } from "../../src/practice/model.ts";
import type { Step } from "../../src/practice/model_script.ts";

const gns3 = await startPracticeGns3();
const model = await startPracticeModel();
const words = (count: number, ms = 0): Step => [
  { delta: { role: "assistant", content: "" } },
  { words: count, ms },
  { delta: {}, finish: "stop" },
  { usage: { prompt_tokens: 500, completion_tokens: count, total_tokens: 500 + count } },
];
const scripts: Record<string, Step> = {
  first: words(3),
  turn: words(12),
  burst: words(5000),
  paced: words(200, 20),
};
for (const [key, step] of Object.entries(scripts)) model.script(key, [step]);

// The bench reads the very request that our server made, to send the same one itself.
const control = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
  const key = new URL(request.url).searchParams.get("key") ?? "";
  return Response.json(model.requests(key).findLast((one) => !one.title)?.body ?? null);
});
console.log(JSON.stringify({
  gns3: gns3.url,
  projectsDir: gns3.projectsDir,
  projectId: gns3.projectId,
  token: gns3.tokens.alice,
  model: model.url,
  control: `http://127.0.0.1:${control.addr.port}`,
}));
Deno.addSignalListener("SIGTERM", async () => {
  await gns3.close();
  Deno.exit(0);
});
