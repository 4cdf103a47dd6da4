// The telnet side of the practice consoles: one session for all clients, negotiation, editing, slow and rude clients.
import assert from "node:assert/strict";
import { setPower } from "../../src/practice/power.ts";
import { onConsole } from "./lab.ts";
import { TelnetClient } from "./telnet_client.ts";

const TERMINAL_TYPE = 24;

Deno.test("a new client gets one telnet question and no text, until somebody types", async () => {
  await onConsole("PC1", async (_, __, consoles) => {
    const client = await TelnetClient.connect(consoles.of("PC1")!.port);
    await new Promise((resolve) => setTimeout(resolve, 60));
    assert.deepEqual(client.commands, [[255, 253, TERMINAL_TYPE]]);
    assert.equal(client.received, "");
    await client.send("\r");
    assert.equal(await client.until(/> $/), "\r\n\rPC1> ");
    await client.close();
  });
});

// F9
Deno.test("input waits while the telnet question is open, and is taken once it is answered or time is up", async () => {
  await onConsole("PC1", async (_, __, consoles) => {
    const careless = await TelnetClient.connect(consoles.of("PC1")!.port, false);
    await careless.send("\r");
    await new Promise((resolve) => setTimeout(resolve, 60));
    assert.equal(careless.received, "");
    assert.equal(await careless.until(/> $/), "\r\n\rPC1> ");
    const polite = await TelnetClient.connect(consoles.of("PC1")!.port, false);
    await polite.send("\r");
    await polite.agree(TERMINAL_TYPE);
    // The name of the terminal, cut in two.
    await polite.sendBytes(255, 250, TERMINAL_TYPE, 0, 120);
    await polite.sendBytes(116, 255, 240);
    assert.equal(await polite.until(/> $/), "\r\n\rPC1> ");
    assert.deepEqual(polite.commands.at(-1), [255, 250, TERMINAL_TYPE, 1, 255, 240]);
    await careless.close();
    await polite.close();
  }, { timing: { negotiation: 300 } });
});

Deno.test("all clients see one session: what one types, the other reads, and a half-typed line stays", async () => {
  await onConsole("PC1", async (first, _, consoles) => {
    const second = await TelnetClient.connect(consoles.of("PC1")!.port);
    await first.send("show i");
    assert.equal(await second.until(/show i$/), "show i");
    await second.send("p\r");
    assert.match(await first.until(/> $/), /IP\/MASK {5}: 10\.0\.1\.10\/24/);
    await second.until(/> $/);
    await first.send("ech");
    await second.until(/ech/);
    await first.close();
    await second.send("o hello\r");
    assert.equal(await second.until(/> $/), "o hello\r\nhello\r\n\rPC1> ");
    await second.close();
  });
});

Deno.test("backspace and control keys edit the line; CR, CR LF and CR NUL are one Enter on a PC", async () => {
  await onConsole("PC1", async (client) => {
    await client.send("shoq\x7fw ip\x15echo a b\x17c\r\n");
    assert.match(await client.until(/c\r\n\rPC1> $/), /\r\na c\r\n\rPC1> $/);
    await client.sendBytes(...new TextEncoder().encode("echo x\r\0"));
    assert.equal(await client.until(/> $/), "echo x\r\nx\r\n\rPC1> ");
    await client.send("\x1b[Aecho y\r");
    assert.equal(await client.until(/> $/), "echo y\r\ny\r\n\rPC1> ", "an arrow key leaves nothing behind");
    await client.send("half\x03");
    assert.equal(await client.until(/> $/), "half^C\r\n\rPC1> ");
  });
});

Deno.test("on a router LF after CR is a second Enter, as on a serial line", async () => {
  await onConsole("R1", async (client) => {
    await client.send("\r\n");
    assert.equal(await client.until(/R1#\r\nR1#$/), "\r\nR1#\r\nR1#");
  });
});

Deno.test("what is typed while a command runs is taken afterwards", async () => {
  await onConsole("PC1", async (client) => {
    await client.send("ping 10.0.1.1 -c 2\recho later\r");
    const text = await client.until(/later\r\n\rPC1> $/);
    assert.match(text, /icmp_seq=2[^]*PC1> echo later\r\nlater/);
  });
});

// F14
Deno.test("stopping a node closes its clients and its port, starting it opens the same port", async () => {
  await onConsole("PC1", async (client, net, consoles) => {
    const { port } = consoles.of("PC1")!;
    setPower(net, "PC1", "stopped");
    await client.end();
    await assert.rejects(() => TelnetClient.connect(port), Deno.errors.ConnectionRefused);
    setPower(net, "PC1", "started");
    assert.equal(consoles.of("PC1")!.port, port);
    const again = await TelnetClient.connect(port);
    assert.match(await again.wake(), /PC1> $/);
    await again.close();
  });
});

Deno.test("a suspended router takes input only after it was resumed", async () => {
  await onConsole("R1", async (client, net) => {
    setPower(net, "R1", "suspended");
    await client.send("show clock\r");
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(client.received, "");
    setPower(net, "R1", "started");
    assert.match(await client.until(/R1#$/), /UTC/);
  });
});

// F9
Deno.test("a client that does not read is dropped before it slows down the others", async () => {
  await onConsole("R1", async (client, _, consoles) => {
    const lazy = await Deno.connect({ hostname: "127.0.0.1", port: consoles.of("R1")!.port });
    await client.run("terminal length 0");
    // About 60 kB an answer; the kernel's buffers take the first megabytes.
    for (let i = 0; i < 150 && consoles.of("R1")!.clients > 1; i++) {
      for (let j = 0; j < 60; j++) await client.run("show running-config");
    }
    assert.equal(consoles.of("R1")!.clients, 1);
    lazy.close();
  });
});
