// Every row of the chaos table in this process, each with a server of its own: so the test runner finds every timer,
// promise and connection that a fault leaves behind. Against the real program: `deno task chaos`.
import assert from "node:assert/strict";
import { type FaultProxy, startFaultProxy } from "../../scripts/chaos/fault_proxy.ts";
import type { Row } from "../../scripts/chaos/row.ts";
import { LIMITS } from "../../scripts/chaos/stage.ts";
import { ROWS, rowsOf } from "../../scripts/chaos/table.ts";
import { startChatServer } from "../fakes/chat.ts";

async function play(row: Row): Promise<void> {
  const [toGns3, toModel] = await Promise.all([startFaultProxy(), startFaultProxy()]) as [
    FaultProxy,
    FaultProxy,
  ];
  {
    await using server = await startChatServer({
      config: { gns3Url: `http://127.0.0.1:${toGns3.port}`, ...LIMITS },
      model: { base_url: `http://127.0.0.1:${toModel.port}/v1` },
    });
    toGns3.target = Number(new URL(server.gns3.url).port);
    toModel.target = Number(new URL(server.model.url).port);
    const errors = () => server.lines.filter(({ level }) => level === "error");
    await row.play({
      ...server,
      chat: server.chat,
      toGns3,
      toModel,
      errors: () => errors().map((line) => line.msg),
    });
    assert.deepEqual(errors(), [], "the log tells of no fault of the program");
  }
  await Promise.all([toGns3.close(), toModel.close()]);
}

for (const row of rowsOf({ short: true, only: "", seed: 0 })) {
  Deno.test(`chaos: ${row.where}: ${row.fault}`, () => play(row));
}

Deno.test("chaos: the order of the rows is the seed's, and no row is left out", () => {
  const names = (seed: number) =>
    rowsOf({ short: false, only: "", seed }).map(({ where, fault }) => where + fault);
  assert.deepEqual(names(7), names(7));
  assert.notDeepEqual(names(7), names(8));
  assert.deepEqual(names(7).toSorted(), ROWS.map(({ where, fault }) => where + fault).toSorted());
});
