/** Request counts of a minute: express-rate-limit's memory store, made safe for concurrent requests and clock changes. */
import { type IncrementResponse, MemoryStore } from 'express-rate-limit';

export class RequestCounts extends MemoryStore {
  /** Returns a copy: the library's object changes with the next request. */
  override async increment(key: string): Promise<IncrementResponse> {
    if (this.#isOfAnotherClock(key)) void this.resetKey(key);
    void super.increment(key);
    return { ...this.current.get(key)! };
  }

  /** Such a window started before the clock was set back. It would last until the clock reaches its end again. */
  #isOfAnotherClock(key: string): boolean {
    const window = this.current.get(key) ?? this.previous.get(key);
    return window !== undefined && window.resetTime.getTime() - Date.now() > this.windowMs;
  }
}
