// What a terminal shows.
import assert from "node:assert/strict";
import { cleanText, lastLine } from "../../src/devices/text.ts";

const CASES: [string, string, string][] = [
  ["line ends of every kind", "a\r\nb\r\r\nc\nd", "a\nb\nc\nd"],
  ["colours", "\x1b[1mshow arp\x1b[0m. \x1b[31;40mred\x1b[m", "show arp. red"],
  ["a title and a charset", "\x1b]0;R1\x07a\x1b(Bb\x1b=c", "abc"],
  ["backspaces that erase", "abc\b \b\b \bx", "ax"],
  [
    "an IOS pager's marker, erased",
    ` --More-- ${"\b".repeat(9)}${" ".repeat(8)}${"\b".repeat(9)}line`,
    "line",
  ],
  ["a VRP pager's marker, erased", "  ---- More ----\x1b[42D                  \x1b[42Dline", "line"],
  ["a return that overwrites", "10%\r100%", "100%"],
  ["an erased line end", "abcdef\rxy\x1b[K", "xy"],
  ["a whole erased line", "abcdef\x1b[2K\rxy", "xy"],
  ["cursor movement", "abc\x1b[2Dx\x1b[5Cy", "axc    y"],
  ["bells and zeros", "a\x07b\x00c", "abc"],
  ["tabs and other scripts", "a\tb 上联 ✓", "a\tb 上联 ✓"],
  ["blanks at line ends", "a  \r\n b \r\n", "a\n b\n"],
  ["a sequence that is not complete", "ab\x1b", "ab"],
];

for (const [name, raw, shown] of CASES) {
  Deno.test(`cleanText carries out ${name}`, () => assert.equal(cleanText(raw), shown));
}

Deno.test("lastLine is the line that is not ended yet, with its blanks", () => {
  assert.equal(lastLine("a\r\n\r\n\rPC1> "), "PC1> ");
  assert.equal(lastLine("R1#\r\n"), "");
  assert.equal(lastLine("x\r\n --More-- \r          \rR1# "), "R1#       ");
});
