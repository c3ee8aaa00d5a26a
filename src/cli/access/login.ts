/** Login at Keystone: a token, and the API's address from the catalogue. */
import { textWithin } from '../../model/bodies';
import { fetchReason, jsonObject } from '../../model/error-texts';
import { cutOffBy, endingWithin } from '../../model/signals';
import { withoutVersion } from '../../model/texts';
import { stop } from '../faults';
import type { Login, Target } from './clouds';

export type SignedIn = { readonly token: string; readonly url: string | null };

type Endpoint = { readonly interface?: string; readonly region_id?: string; readonly url?: string };
type Catalogue = readonly { readonly type?: string; readonly endpoints?: readonly Endpoint[] }[];

const loginLimitMs = 30_000;
/** Bytes. A token with a large cloud's catalogue has some hundred thousand. */
const longestAnswer = 4 * 1024 * 1024;

const endpointIn = (catalogue: Catalogue, { region, interface: wanted }: Target): string | null => {
  const endpoints = catalogue.find(({ type }) => type === 'baremetal')?.endpoints ?? [];
  const found = endpoints.find((one) => one.interface === wanted && (region === null || one.region_id === region));
  return found?.url === undefined ? null : withoutVersion(found.url, 'v1');
};

const askKeystone = async (
  fetcher: typeof fetch,
  { authUrl, identity, scope }: Login,
  signal: AbortSignal,
): Promise<Response> => {
  const base = withoutVersion(authUrl, 'v3');
  try {
    const ending = endingWithin(signal, loginLimitMs);
    const reply = await fetcher(`${base}/v3/auth/tokens`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ auth: { identity, ...(scope !== undefined && { scope }) } }),
      redirect: 'error', // the password must not reach another host
      signal: ending,
    });
    return cutOffBy(reply, ending);
  } catch (thrown) {
    return stop('unreachable', `The identity service at ${base} did not answer: ${fetchReason(thrown)}.`);
  }
};

/** Throws CliFault: refused credentials (refused), no answer (unreachable). */
export const signIn = async (
  fetcher: typeof fetch,
  login: Login,
  target: Target,
  signal: AbortSignal,
): Promise<SignedIn> => {
  const reply = await askKeystone(fetcher, login, signal);
  if (reply.status === 401 || reply.status === 403)
    return stop('refused', 'The identity service refused these credentials.', reply.status);
  const token = reply.headers.get('x-subject-token');
  const body = jsonObject(await textWithin(reply, longestAnswer).catch(() => '')) as
    | { token?: { catalog?: Catalogue } }
    | undefined;
  if (!reply.ok || !token) return stop('unreachable', `The identity service answered ${reply.status} to the login.`);
  return { token, url: endpointIn(body?.token?.catalog ?? [], target) };
};
