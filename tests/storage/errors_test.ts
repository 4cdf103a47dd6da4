import assert from "node:assert/strict";
import { AppError } from "../../src/domain/error.ts";
import { storageError } from "../../src/storage/errors.ts";
import { refusal } from "./helpers.ts";

Deno.test("storageError says in a sentence what SQLite says in a code", () => {
  const cases: [number, string, RegExp][] = [
    [
      11,
      "internal",
      /gns3-copilot\/copilot_checkpoints\.db .*damaged.*left untouched.*gns3-copilot check --repair/,
    ],
    [26, "internal", /damaged/],
    [13, "unavailable", /disk .*full/],
    [8, "unavailable", /not writable/],
    [14, "unavailable", /cannot be opened/],
    [5, "unavailable", /Another program is using/],
    // Extended codes carry more in their higher bytes: SQLITE_READONLY_DBMOVED, SQLITE_IOERR_WRITE.
    [8 | (4 << 8), "unavailable", /not writable/],
    [10 | (3 << 8), "unavailable", /Check the disk/],
  ];
  for (const [errcode, code, message] of cases) {
    assert.ok(
      refusal(code, message)(storageError(Object.assign(new Error("x"), { errcode }))),
      `code ${errcode}`,
    );
  }
});

Deno.test("storageError knows the texts of errors that carry no code", () => {
  const texts: [string, RegExp][] = [
    ["file is not a database", /damaged/],
    ["database disk image is malformed", /damaged/],
    ["No space left on device (os error 28)", /full/],
    ["Read-only file system (os error 30), mkdir '/tmp/p/gns3-copilot'", /not writable/],
    ["Permission denied (os error 13)", /not writable/],
    ["database is not open", /was closed/],
  ];
  for (const [text, message] of texts) {
    const error = storageError(new Error(text));
    assert.ok(
      error instanceof AppError && message.test(error.message) && !error.message.includes("/tmp"),
      text,
    );
  }
});

Deno.test("storageError leaves anything else as it is", () => {
  const error = new TypeError("no such column: x");
  assert.equal(storageError(error), error);
});
