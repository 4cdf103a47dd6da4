// The telnet console of one practice node, as GNS3's: a TCP port while the node is on, one session shared by all
// clients, nothing printed to a client that has just come. The GNS3 server's WebSocket attaches here too.
import { TcpSocket } from "./tcp.ts";
import { TelnetPeer } from "./telnet_server.ts";
import { type Shell, Terminal } from "./terminal.ts";

/** A client that leaves this many bytes unread is dropped, so that it cannot slow down the others. */
const MAX_UNREAD = 1 << 20;

/** Where a client's bytes go. `write` resolves when they have left. */
export interface ClientSink {
  write(bytes: Uint8Array): Promise<unknown>;
  close(): void;
}

/** A client's place at the console. */
export interface Attachment {
  receive(bytes: Uint8Array): void;
  detach(): void;
}

interface Client {
  sink: ClientSink;
  peer: TelnetPeer;
  waiting: Uint8Array[];
  unread: number;
  sending: boolean;
}

/** The console of one node. `open` when the node starts, `shut` when it stops. */
export class NodeConsole {
  /** The port; kept over stops and starts unless somebody else has taken it meanwhile. */
  port: number;
  #listener: Deno.TcpListener | null = null;
  #terminal: Terminal | null = null;
  #clients = new Set<Client>();
  #tasks = new Set<Promise<unknown>>();
  readonly #hostname: string;
  readonly #negotiation: number;
  readonly #makeShell: () => Shell;

  constructor(hostname: string, negotiationMs: number, makeShell: () => Shell) {
    this.#hostname = hostname;
    this.#negotiation = negotiationMs;
    this.#makeShell = makeShell;
    this.port = freePort(hostname);
  }

  get isOpen(): boolean {
    return this.#terminal !== null;
  }

  get clients(): number {
    return this.#clients.size;
  }

  open(): void {
    if (this.#terminal) return;
    try {
      this.#listener = Deno.listen({ hostname: this.#hostname, port: this.port });
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
      this.#listener = Deno.listen({ hostname: this.#hostname, port: 0 });
      this.port = (this.#listener.addr as Deno.NetAddr).port;
    }
    const terminal = new Terminal(
      this.#makeShell(),
      (text) => this.#broadcast(new TextEncoder().encode(text)),
    );
    this.#terminal = terminal;
    this.#own(terminal.finished);
    this.#own(this.#accept(this.#listener));
  }

  /** Drops all clients and forgets the session. */
  shut(): void {
    this.#terminal?.close();
    this.#terminal = null;
    this.#listener?.close();
    this.#listener = null;
    this.dropClients();
  }

  /** Disconnects everybody and keeps the session. */
  dropClients(): void {
    for (const client of [...this.#clients]) this.#drop(client);
  }

  freeze(frozen: boolean): void {
    this.#terminal?.freeze(frozen);
  }

  notify(text: string): void {
    this.#terminal?.notify(text);
  }

  /** `shut`, and waits until nothing of it runs any more. */
  async close(): Promise<void> {
    this.shut();
    await Promise.allSettled(this.#tasks);
  }

  /** Adds a client; null while the node is off. */
  attach(sink: ClientSink): Attachment | null {
    const terminal = this.#terminal;
    if (!terminal) return null;
    const client: Client = { sink, waiting: [], unread: 0, sending: false, peer: undefined! };
    this.#clients.add(client);
    client.peer = new TelnetPeer(
      (bytes) => this.#send(client, bytes),
      (text) => terminal.input(text),
      this.#negotiation,
    );
    return {
      receive: (bytes) => {
        if (this.#clients.has(client)) client.peer.receive(bytes);
      },
      detach: () => this.#drop(client),
    };
  }

  #broadcast(bytes: Uint8Array): void {
    for (const client of [...this.#clients]) this.#send(client, bytes);
  }

  #send(client: Client, bytes: Uint8Array): void {
    if (!this.#clients.has(client)) return;
    client.unread += bytes.length;
    if (client.unread > MAX_UNREAD) return this.#drop(client);
    client.waiting.push(bytes);
    if (!client.sending) this.#own(this.#pump(client));
  }

  // One write at a time, with everything that has come since the last one.
  async #pump(client: Client): Promise<void> {
    client.sending = true;
    try {
      while (client.waiting.length && this.#clients.has(client)) {
        const bytes = await new Blob(client.waiting.splice(0) as BlobPart[]).bytes();
        await client.sink.write(bytes);
        client.unread -= bytes.length;
      }
    } catch {
      this.#drop(client);
    } finally {
      client.sending = false;
    }
  }

  #drop(client: Client): void {
    if (!this.#clients.delete(client)) return;
    client.peer.close();
    client.sink.close();
  }

  async #accept(listener: Deno.TcpListener): Promise<void> {
    for await (const connection of listener) this.#own(this.#serve(connection));
  }

  async #serve(connection: Deno.TcpConn): Promise<void> {
    const socket = new TcpSocket(connection);
    const attachment = this.attach(socket);
    if (!attachment) return socket.close();
    const buffer = new Uint8Array(4096);
    try {
      for (;;) {
        const count = await socket.read(buffer);
        if (count === null) break;
        attachment.receive(buffer.subarray(0, count));
      }
    } finally {
      attachment.detach();
    }
  }

  #own(task: Promise<unknown>): void {
    const guarded = task.catch(() => {}).finally(() => this.#tasks.delete(guarded));
    this.#tasks.add(guarded);
  }
}

function freePort(hostname: string): number {
  const listener = Deno.listen({ hostname, port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  return port;
}
