import assert from "node:assert/strict";
import { AnswerTooLarge, textOf } from "../../src/gns3/body.ts";

/** What is read of an answer that stands on the wire exactly like this. */
async function readOf(answer: string, most: number): Promise<string> {
  using listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const served = listener.accept().then(async (connection) => {
    await connection.read(new Uint8Array(4096));
    await connection.write(new TextEncoder().encode(answer));
    connection.close();
  });
  const response = await fetch(`http://127.0.0.1:${listener.addr.port}/`);
  return await textOf(response, most).finally(() => served);
}

Deno.test("textOf reads an answer with a length, and one in chunks, up to the size allowed", async () => {
  assert.equal(await readOf("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\néé", 4), "éé");
  assert.equal(
    await readOf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\néé\r\n0\r\n\r\n", 4),
    "éé",
  );
  await assert.rejects(readOf("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabcd", 3), AnswerTooLarge);
});

Deno.test("textOf does not believe the length that an answer in chunks claims", async () => {
  const answer = `HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n` +
    `14\r\n${"x".repeat(20)}\r\n0\r\n\r\n`;
  await assert.rejects(readOf(answer, 10), AnswerTooLarge);
});
