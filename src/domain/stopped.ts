// Why work was stopped, told along with the signal that stops it.

/** The reason of a signal that was aborted on purpose. `message` is half a sentence: "the user stopped the turn". */
export class Stopped extends DOMException {
  constructor(why: string) {
    super(why, "AbortError");
  }
}
