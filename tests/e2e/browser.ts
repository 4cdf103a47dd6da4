// A real Chromium, driven with playwright-core.
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { isFile, type Missing } from "./needs.ts";

const CHROMIUM = "/usr/bin/chromium";

/** Pictures of what a test saw; git ignores the folder. */
const SHOTS = fileURLToPath(new URL("./screenshots/", import.meta.url));

/** Why there can be no browser on this machine; null when there can. */
export function browserMissing(): Missing {
  return isFile(CHROMIUM) ? null : "chromium is not installed (apt-get install chromium)";
}

export interface Window extends AsyncDisposable {
  page: Page;
  /** Saves a picture as `name.png`. */
  shot(name: string): Promise<void>;
}

/** Opens a window that is large enough for the Web UI's panels. `await using` closes it. */
export async function openWindow(): Promise<Window> {
  // The sandbox of Chromium itself does not work as root, as in CI; the rest keeps it from calling home.
  const browser: Browser = await chromium.launch({
    executablePath: CHROMIUM,
    headless: true,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  await Deno.mkdir(SHOTS, { recursive: true });
  const page = await browser.newPage({ viewport: { width: 1600, height: 1100 } });
  page.setDefaultTimeout(15_000);
  return {
    page,
    shot: async (name) => void await page.screenshot({ path: `${SHOTS}/${name.replaceAll(" ", "_")}.png` }),
    [Symbol.asyncDispose]: () => browser.close(),
  };
}
