// A gateway of ours and a server behind it, each on a port of its own.
import { createGateway, type FilesTaken } from "../../../src/http/gateway/gateway.ts";
import { testLog } from "../../fakes/log.ts";

/** A gateway in front of `gns3Url`, on a port of its own. */
export function gatewayTo(gns3Url: string) {
  const { log, lines } = testLog();
  const taken: FilesTaken[] = [];
  let holding = 0;
  const gateway = createGateway({
    gns3Url,
    log,
    beforeFilesAreTaken: (request) => {
      taken.push(request);
      holding++;
      return Promise.resolve(() => void holding--);
    },
  });
  const server = Deno.serve(
    // A client that is cut off because GNS3 broke off is an error to Deno, which would print it.
    { hostname: "127.0.0.1", port: 0, onListen() {}, onError: () => new Response() },
    (request, { remoteAddr }) => gateway.fetch(request, { address: remoteAddr.hostname }),
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    lines,
    taken,
    holding: () => holding,
    /** What the server does when it is told to stop. */
    close: () => gateway.close(),
    [Symbol.asyncDispose]: async () => {
      gateway.close();
      await server.shutdown();
    },
  };
}

/** An ordinary server. */
export function upstream(handler: (request: Request) => Response | Promise<Response>) {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, handler);
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Sends bytes and gives everything that comes back until the connection ends. */
export async function exchange(url: string, request: string): Promise<{ head: string; body: Uint8Array }> {
  const { hostname, port } = new URL(url);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  await connection.write(new TextEncoder().encode(request));
  const bytes = new Uint8Array(await new Response(connection.readable).arrayBuffer());
  const end = new TextDecoder("latin1").decode(bytes).indexOf("\r\n\r\n");
  return { head: new TextDecoder().decode(bytes.subarray(0, end)), body: bytes.subarray(end + 4) };
}
