/** Counts for express-rate-limit, safe for concurrent requests and clock changes. */
import { type IncrementResponse, MemoryStore } from 'express-rate-limit';

export class RequestCounts extends MemoryStore {
  /** A copy: the library's object changes with the next request. */
  override async increment(key: string): Promise<IncrementResponse> {
    if (this.#isOfAnotherClock(key)) void this.resetKey(key);
    void super.increment(key);
    return { ...this.current.get(key)! };
  }

  /** The clock was set back after such a window started, which would last too long. */
  #isOfAnotherClock(key: string): boolean {
    const window = this.current.get(key) ?? this.previous.get(key);
    return window !== undefined && window.resetTime.getTime() - Date.now() > this.windowMs;
  }
}
