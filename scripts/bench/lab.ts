// A practice GNS3 server, as a process of its own.
import { startPracticeGns3 } from "../../src/practice/gns3_server.ts";

const gns3 = await startPracticeGns3();
console.log(JSON.stringify({
  gns3: gns3.url,
  projectsDir: gns3.projectsDir,
  projectId: gns3.projectId,
  token: gns3.tokens.alice,
}));
Deno.addSignalListener("SIGTERM", async () => {
  await gns3.close();
  Deno.exit(0);
});
