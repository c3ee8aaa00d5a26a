/** Reads a form that a browser posts: within its bounds, into one buffer however it is cut into pieces. */
import { AnswerTooLong, dropRest, type Incoming, requestBytes } from './bodies';

/** Bytes. The largest honest form of the console holds a node's documents, some ten thousand. */
const largestForm = 512 * 1024;
/** Its fields; more are no form of the console's. */
const mostFields = 1_000;

type FormFields = Readonly<Record<string, string | string[]>>;
type FormRequest = Incoming & {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Set where a form came. */
  body?: FormFields;
};

const fault = (status: number): Error => Object.assign(new Error('the form cannot be read'), { status });

/** Throws what has the status of its refusal. */
const formOf = async (request: FormRequest): Promise<FormFields | undefined> => {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(`${request.headers['content-type']}`)) return undefined;
  // No browser packs a form.
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
