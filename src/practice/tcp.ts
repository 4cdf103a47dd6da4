// A TCP connection that can be closed at any moment, also while it writes to somebody who does not read.

/** `read` gives null at the end; both `read` and `write` throw once it is closed. */
export class TcpSocket {
  #open = true;
  readonly #connection: Deno.TcpConn;
  /** Ends what is being written. A promise that lives as long as the connection would keep every write it raced with. */
  readonly #writing = new Set<(reason: Error) => void>();

  constructor(connection: Deno.TcpConn) {
    this.#connection = connection;
    connection.setNoDelay(true);
  }

  read(buffer: Uint8Array): Promise<number | null> {
    return this.#connection.read(buffer);
  }

  /** Writes all bytes. Some versions of Deno leave a write pending when its connection is closed: `close` ends it. */
  async write(bytes: Uint8Array): Promise<void> {
    if (!this.#open) throw closed();
    const { promise, reject } = Promise.withResolvers<never>();
    this.#writing.add(reject);
    try {
      await Promise.race([this.#writeAll(bytes), promise]);
    } finally {
      this.#writing.delete(reject);
    }
  }

  async #writeAll(bytes: Uint8Array): Promise<void> {
    for (let sent = 0; sent < bytes.length;) sent += await this.#connection.write(bytes.subarray(sent));
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#connection.close();
    for (const end of this.#writing) end(closed());
  }
}

function closed(): Error {
  return new Deno.errors.BrokenPipe("The connection is closed.");
}
