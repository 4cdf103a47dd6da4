// The consoles of a whole practice lab: one a PC or router, opened, frozen and shut as its device is switched.
import { NodeConsole } from "./console.ts";
import type { Change, Network } from "./network.ts";
import { routerShell } from "./router_cli.ts";
import type { Timing } from "./timing.ts";
import { vpcsShell } from "./vpcs_cli.ts";

/** Serves the consoles of `net` until `close()`. */
export class LabConsoles {
  #consoles = new Map<string, NodeConsole>();
  #closing: Promise<void>[] = [];
  readonly #net: Network;
  readonly #timing: Timing;
  readonly #hostname: string;
  readonly #logMessages: boolean;
  readonly #listener = (change: Change) => this.#changed(change);

  /** `logMessages` false keeps routers from printing their log on the console. */
  constructor(net: Network, timing: Timing, options: { hostname?: string; logMessages?: boolean } = {}) {
    this.#net = net;
    this.#timing = timing;
    this.#hostname = options.hostname ?? "127.0.0.1";
    this.#logMessages = options.logMessages ?? true;
    net.listeners.add(this.#listener);
  }

  /** The console of a device; null for one that has none. Made at first use, so that its port is known before it starts. */
  of(id: string): NodeConsole | null {
    const known = this.#consoles.get(id);
    const device = this.#net.devices.get(id);
    if (known || !device || device.kind === "switch") return known ?? null;
    const made = new NodeConsole(
      this.#hostname,
      this.#timing.negotiation,
      () =>
        device.kind === "pc"
          ? vpcsShell(this.#net, device, this.#timing)
          : routerShell(this.#net, device, this.#timing),
    );
    this.#consoles.set(id, made);
    return made;
  }

  async close(): Promise<void> {
    this.#net.listeners.delete(this.#listener);
    await Promise.all([...this.#consoles.values()].map((console) => console.close()));
    await Promise.all(this.#closing);
  }

  #changed(change: Change): void {
    if (change.type === "lab") return;
    const console = this.of(change.device);
    if (!console) return;
    if (change.type === "removed") {
      this.#consoles.delete(change.device);
      this.#closing.push(console.close());
    } else if (change.type === "log") {
      if (this.#logMessages) console.notify(change.text);
    } else if (change.power === "stopped") console.shut();
    else {
      console.open();
      console.freeze(change.power === "suspended");
    }
  }
}
