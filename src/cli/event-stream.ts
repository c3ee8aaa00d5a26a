/** Reads server-sent events from a body, as html.spec.whatwg.org section 9.2.6 has them. */

export type StreamEvent = { readonly id: string | null; readonly event: string; readonly data: string };

// Nothing we are sent is longer; a line without end must not fill the memory.
const longestLine = 1024 * 1024;

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

/** The lines of a body, however it was cut. */
async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop()!;
    if (rest.length > longestLine) throw new Error('the stream sends a line without end');
    yield* lines;
  }
}

/** The events of a body; one that its end cut off is dropped. */
export async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<StreamEvent> {
  let lines: string[] = [];
  for await (const line of linesOf(body)) {
    if (line !== '') {
      lines.push(line);
      continue;
    }
    const event = eventOf(lines);
    lines = [];
    if (event) yield event;
  }
}
