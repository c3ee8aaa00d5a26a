/** Readable texts for error bodies and failed connections, for every client of the API. */

export const jsonObject = (text: string): Record<string, unknown> | undefined => {
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === 'object' && read !== null ? (read as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
};

// JSON within a string is parsed at any depth; a plain string is the text.
const sentenceIn = (value: unknown): string | undefined => {
  const body = typeof value === 'string' ? jsonObject(value) : value;
  if (body === undefined || body === null) return typeof value === 'string' && value !== '' ? value : undefined;
  const { error_message, faultstring, description, error, message } = body as Record<string, unknown>;
  return [error_message, faultstring, description, error, message].map(sentenceIn).find((text) => text !== undefined);
};

export const errorSentence = (body: string): string | undefined => {
  const read = jsonObject(body);
  return read && sentenceIn(read);
};

/** fetch hides the reason in the cause. */
export const fetchReason = (thrown: unknown): string => {
  const { cause, name, message } = thrown as Error & { cause?: { code?: string; message?: string } };
  if (name === 'TimeoutError') return 'it took too long';
  return cause?.code ?? cause?.message ?? message ?? String(thrown);
};
