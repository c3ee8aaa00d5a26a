/** Reads a posted form within limits, into one buffer. */
import { AnswerTooLong, dropRest, type Incoming, requestBytes } from './bodies';

/** Bytes. The largest real form has about ten thousand, for a node's documents. */
const largestForm = 512 * 1024;
/** No form of the console has more. */
const mostFields = 1_000;

type FormFields = Readonly<Record<string, string | string[]>>;
type FormRequest = Incoming & {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  body?: FormFields;
};

const fault = (status: number): Error => Object.assign(new Error('the form cannot be read'), { status });

/** Throws an error with the status of the refusal. */
const formOf = async (request: FormRequest): Promise<FormFields | undefined> => {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(`${request.headers['content-type']}`)) return undefined;
  // No browser compresses a form.
  if ((request.headers['content-encoding'] ?? 'identity') !== 'identity') throw fault(415);
  const text = new TextDecoder().decode(await requestBytes(request, largestForm));
  if (text.split('&', mostFields + 1).length > mostFields) throw fault(413);
  const form: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(text))
    form[name] = form[name] === undefined ? value : [form[name], value].flat();
  return form;
};

/** A handler of Express. */
export const readForm = async (request: FormRequest, _: unknown, next: (thrown?: Error) => void): Promise<void> => {
  try {
    request.body = await formOf(request);
  } catch (thrown) {
    await dropRest(request);
    return next(thrown instanceof AnswerTooLong ? fault(413) : fault((thrown as { status?: number }).status ?? 400));
  }
  next();
};
