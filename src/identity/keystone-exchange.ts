/** HTTP exchanges with Keystone and the services of its catalogue. */
import { Agent, type Dispatcher, request } from 'undici';
import { AnswerTooLong, bytesWithin } from '../model/bodies';
import { withoutVersion } from '../model/texts';
import { Down, type KeystoneHeaders, type Reply } from './keystone-replies';

export type KeystoneAddress = {
  /** With or without /v3. */
  readonly identityUrl: string;
  /** Time limit of a whole exchange; default 5000 ms. */
  readonly timeoutMs?: number;
  /** PEM certificates that replace the system's. */
  readonly ca?: string;
};

/** Some ten thousand role assignments of 400 bytes. */
const bodyLimitBytes = 4 * 1024 * 1024;

export type Exchange = (
  method: Dispatcher.HttpMethod,
  path: string,
  extra: { readonly headers: KeystoneHeaders; readonly body?: string },
) => Promise<Reply>;

/** Requests to Keystone, and the sockets that others may use beside. */
export const exchangeWith = ({ identityUrl, ca, timeoutMs = 5_000 }: KeystoneAddress) => {
  const base = `${withoutVersion(identityUrl, 'v3')}/v3`;
  const dispatcher = new Agent({ connect: { timeout: timeoutMs, ...(ca ? { ca } : {}) } });
  const exchange: Exchange = (method, path, extra) =>
    askOnce(`${base}${path}`, { method, dispatcher, signal: AbortSignal.timeout(timeoutMs), ...extra });
  return { exchange, dispatcher };
};

type KeystoneRequest = {
  method: Dispatcher.HttpMethod;
  dispatcher: Agent;
  signal: AbortSignal;
  headers: KeystoneHeaders;
  body?: string;
  /** Of texts; Keystone by default. */
  service?: string;
};

/** Throws Down without a response. Retries a reset connection once (keep-alive races). */
export const askOnce = async (url: string, given: KeystoneRequest, again = true): Promise<Reply> => {
  const { service = 'the identity service', ...options } = given;
  try {
    const reply = await request(url, { ...options, headers: { accept: 'application/json', ...options.headers } });
    const subject = reply.headers['x-subject-token'];
    return {
      status: reply.statusCode,
      subjectToken: typeof subject === 'string' ? subject : null,
      body: await readJson(reply.body, service),
    };
  } catch (thrown) {
    if (thrown instanceof Down) throw thrown;
    const code = (thrown as { code?: string; name?: string })?.code ?? (thrown as Error)?.name ?? 'unknown';
    if (again && ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(String(code))) return askOnce(url, given, false);
    throw new Down(`${service} did not answer (${code})`);
  }
};

/** Undefined if the body is not JSON. Throws Down if it is too long. */
const readJson = async (body: AsyncIterable<Buffer>, service: string): Promise<unknown> => {
  const bytes = await bytesWithin(body, bodyLimitBytes).catch((thrown) => {
    throw thrown instanceof AnswerTooLong ? new Down(`${service} answered more than can be read`) : thrown;
  });
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
};
