// Entry of the Worker: the whole server runs here, with the permissions that `cli/server_worker.ts` leaves it.
/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
import process from "node:process";
import { createServer } from "./server.ts";
import { runWorker } from "./worker_loop.ts";

// Libraries that look for options of theirs in the environment (`yaml` does while it parses) find none there, instead of
// failing because it may not be read.
Object.defineProperty(process, "env", { value: {} });

runWorker(self, createServer);
