// A TCP connection that can be closed at any moment, also while it writes to somebody who does not read.

/** `read` gives null at the end; both `read` and `write` throw once it is closed. */
export class TcpSocket {
  #open = true;
  readonly #connection: Deno.TcpConn;
  readonly #closed = Promise.withResolvers<never>();

  constructor(connection: Deno.TcpConn) {
    this.#connection = connection;
    connection.setNoDelay(true);
    this.#closed.promise.catch(() => {});
  }

  read(buffer: Uint8Array): Promise<number | null> {
    return this.#connection.read(buffer);
  }

  /** Writes all bytes. Some versions of Deno leave a write pending when its connection is closed, so the two race. */
  write(bytes: Uint8Array): Promise<void> {
    if (!this.#open) return this.#closed.promise;
    return Promise.race([this.#writeAll(bytes), this.#closed.promise]);
  }

  async #writeAll(bytes: Uint8Array): Promise<void> {
    for (let sent = 0; sent < bytes.length;) sent += await this.#connection.write(bytes.subarray(sent));
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#connection.close();
    this.#closed.reject(new Deno.errors.BrokenPipe("The connection is closed."));
  }
}
