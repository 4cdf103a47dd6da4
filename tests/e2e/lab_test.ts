// The practice ground of the other end-to-end tests: that it is what `lab.ts` says.
import assert from "node:assert/strict";
import { labMissing, startLab } from "./lab.ts";
import { testWhere } from "./needs.ts";

for (const version of ["3.1.0a7", "3.0.6"]) {
  testWhere(
    labMissing(),
    `a lab with GNS3 ${version} has open projects, users with their rights, and live consoles`,
    async () => {
      await using lab = await startLab({ version, vpcs: 2, slot: 41 });
      assert.equal(lab.version, version);
      const status = async (project: string, token: string) => {
        const response = await fetch(`${lab.base_url}/v3/projects/${project}`, {
          headers: { Authorization: `Bearer ${token}` },
        });
        const { status } = await response.json();
        return status ?? response.status;
      };
      assert.equal(await status(lab.project.project_id, lab.tokens.alice), "opened");
      assert.equal(await status(lab.project.project_id, lab.tokens.bob), 403);
      assert.equal(await status(lab.other_project.project_id, lab.tokens.bob), "opened");
      assert.ok(lab.project.path.startsWith(lab.projects_dir));
      const names = lab.nodes.map(({ name }) => name);
      assert.deepEqual(names, version.startsWith("3.0") ? ["PC1", "PC2"] : ["PC1", "PC2", "SW1"]);
      using console = await Deno.connect({ port: lab.nodes[0]!.console!, hostname: "127.0.0.1" });
      await console.write(new TextEncoder().encode("\r"));
      let heard = "";
      for await (const bytes of console.readable) {
        heard += new TextDecoder("latin1").decode(bytes);
        if (heard.includes("PC1>")) break;
      }
      assert.match(heard, /PC1>/);
    },
  );
}
