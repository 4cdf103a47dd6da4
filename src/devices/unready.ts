// The reasons for which a console cannot be used now. Each sentence goes on after "R1 is not ready: ".
import { AppError } from "../domain/error.ts";
import { cleanText } from "./text.ts";

/** `what` begins with "it" or "its". */
export function unready(what: string): AppError {
  return new AppError("unavailable", what, { retryAfter: 5 });
}

/** The device asks for a name or a password, and nothing is guessed. */
export class NeedsCredentials extends AppError {
  constructor(what: string) {
    super(
      "conflict",
      `it needs credentials: ${what}. Set its default username and password in GNS3 (3.1 or later), ` +
        "or log in on its console yourself",
    );
  }
}

/** No prompt within `limitMs`. `printed` is what the console showed meanwhile. */
export function noPrompt(limitMs: number, printed: string): AppError {
  const seconds = Math.round(limitMs / 1_000);
  const lines = cleanText(printed).split("\n").map((line) => line.trim()).filter(Boolean);
  if (lines.length === 0) {
    return unready(
      `its console printed nothing for ${seconds} s: it still boots, or the console hangs; then reset the console in ` +
        "GNS3, or stop and start the node",
    );
  }
  return unready(
    `it showed no prompt for ${seconds} s: it still boots, or a command runs on it that was not started here ` +
      `(last lines: ${lines.slice(-3).join(" / ").slice(-300)})`,
  );
}
