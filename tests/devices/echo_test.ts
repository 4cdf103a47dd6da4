// The echo of a typed line, as line editors show it.
import assert from "node:assert/strict";
import { echoState } from "../../src/devices/echo.ts";

const LINE = `description ${[...Array(30).keys()].map((i) => `part${i}`).join(" ")}`;

Deno.test("echoState knows the whole line, its beginning, and what somebody else typed", () => {
  assert.equal(echoState("show ip", "show ip", "R1#"), "shown");
  assert.equal(echoState("show", "show ip", "R1#"), "coming");
  assert.equal(echoState("", "show ip", "R1#"), "coming");
  assert.equal(echoState("shoXw ip", "show ip", "R1#"), "other");
  assert.equal(echoState("sh\r\n*Mar 1: %X-1-Y: z\r\nR1#show ip", "show ip", "R1#"), "shown");
});

Deno.test("echoState sees through line ends that a narrow terminal needs", () => {
  const at = (cut: number, between: string) => LINE.slice(0, cut) + between + LINE.slice(cut);
  assert.equal(echoState(at(70, "\r\r\n"), LINE, "R1#"), "shown"); // BusyBox
  assert.equal(echoState(at(70, `${LINE[70]}\r`), LINE, "R1#"), "shown"); // readline: the character twice
  assert.equal(echoState(at(75, " \r"), LINE, "R1#"), "shown");
});

Deno.test("echoState takes the end of a long line for the line where the rest is scrolled away", () => {
  assert.equal(echoState(`${LINE.slice(0, 60)}\r<${LINE.slice(-70)}`, LINE, "R1#"), "shown"); // a dumb terminal
  assert.equal(echoState(`${"\b".repeat(9)}\rR1(config)#$${LINE.slice(-60)}`, LINE, "R1(config)#"), "shown"); // IOS
  assert.equal(echoState(`\r<${LINE.slice(-70)}X`, LINE, "R1#"), "other");
  assert.equal(echoState("\r<ip", "show ip", "R1#"), "other"); // too little to tell
});
