// Entry of the Worker: the whole server runs here, with the permissions that `cli/server_worker.ts` leaves it.
/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
import { createServer } from "./server.ts";
import { runWorker } from "./worker_loop.ts";

runWorker(self, createServer);
