/** Where requests of one minute are counted: the library's own store, for several at once and for a clock that is set back. */
import { type IncrementResponse, MemoryStore } from 'express-rate-limit';

export class RequestCounts extends MemoryStore {
  /** Says what the count is at this request; the library's answer is an object that the next request changes. */
  override async increment(key: string): Promise<IncrementResponse> {
    if (this.#isOfAnotherClock(key)) void this.resetKey(key);
    void super.increment(key);
    return { ...this.current.get(key)! };
  }

  /** A window that ends later than one that begins now was begun before the clock was set back, and would last until it is there again. */
  #isOfAnotherClock(key: string): boolean {
    const window = this.current.get(key) ?? this.previous.get(key);
    return window !== undefined && window.resetTime.getTime() - Date.now() > this.windowMs;
  }
}
