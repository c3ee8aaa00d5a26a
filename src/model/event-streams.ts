/** Reads server-sent events from a body cut at any place, as in html.spec.whatwg.org section 9.2.6. */

export type StreamEvent = { readonly id: string | null; readonly event: string; readonly data: string };

// Characters. An event without end must not fill the memory.
const longestEvent = 1024 * 1024;

const lineField = (line: string): readonly [string, string] => {
  const at = line.indexOf(':');
  return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1).replace(/^ /, '')];
};

const eventOf = (lines: readonly string[]): StreamEvent | undefined => {
  const fields = lines.filter((line) => !line.startsWith(':')).map(lineField);
  const data = fields.filter(([name]) => name === 'data').map(([, value]) => value);
  if (data.length === 0) return undefined;
  const last = (name: string) => fields.filter(([field]) => field === name).at(-1)?.[1];
  return { id: last('id') ?? null, event: last('event') ?? 'message', data: data.join('\n') };
};

/** @returns the events that a piece completes; it throws if an event is too long */
export const createEventReader = (): ((piece: Uint8Array) => StreamEvent[]) => {
  const decoder = new TextDecoder();
  let [rest, lines, held] = ['', [] as string[], 0];
  return (piece) => {
    rest += decoder.decode(piece, { stream: true });
    // A carriage return at the end may be the first half of a CRLF.
    const complete = rest.split(/\r\n|\n|\r(?!$)/);
    rest = complete.pop()!;
    const events: StreamEvent[] = [];
    for (const line of complete) {
      held += line.length;
      if (line !== '') lines.push(line);
      else {
        const event = eventOf(lines);
        if (event) events.push(event);
        [lines, held] = [[], 0];
      }
    }
    if (held + rest.length > longestEvent) throw new Error('the stream sends an event without end');
    return events;
  };
};

/** Drops a last event without its end. */
export async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<StreamEvent> {
  const read = createEventReader();
  for await (const piece of body) yield* read(piece);
}
