/** What an error body, or a connection that failed, says to people: the same for every client of the API. */

/** The object that a text is in JSON; undefined for anything else. */
export const jsonObject = (text: string): Record<string, unknown> | undefined => {
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === 'object' && read !== null ? (read as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
};

// JSON within a string is opened however deep it lies, a plain string is the text.
const sentenceIn = (value: unknown): string | undefined => {
  const body = typeof value === 'string' ? jsonObject(value) : value;
  if (body === undefined || body === null) return typeof value === 'string' && value !== '' ? value : undefined;
  const { error_message, faultstring, description, error, message } = body as Record<string, unknown>;
  return [error_message, faultstring, description, error, message].map(sentenceIn).find((text) => text !== undefined);
};

/** The text for people in an error body; undefined where it is no JSON object, or says nothing. */
export const errorSentence = (body: string): string | undefined => {
  const read = jsonObject(body);
  return read && sentenceIn(read);
};

/** What went wrong on the way, in a few words; fetch hides it in the cause. */
export const fetchReason = (thrown: unknown): string => {
  const { cause, name, message } = thrown as Error & { cause?: { code?: string; message?: string } };
  if (name === 'TimeoutError') return 'it took too long';
  return cause?.code ?? cause?.message ?? message ?? String(thrown);
};
