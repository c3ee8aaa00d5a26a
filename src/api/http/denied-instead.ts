/** Whether a caller whose request is wrong might do it at all: one who may not is answered by the rule, not by the schema. */
import type { Request } from 'express';
import type { TemperError } from '../../model/errors';
import type { ApiContext } from '../context';
import { asTemperError } from './errors';
import type { Route, Unread } from './route';

/** What the route's rules say of a request that was refused with 400; undefined where they admit it, or are not asked. */
export const deniedInstead = async (
  { requireAllowed }: Route,
  { status }: TemperError,
  { request, ...unread }: Omit<Unread, 'field'> & { readonly request: Request },
  ctx: ApiContext,
): Promise<TemperError | undefined> => {
  if (status !== 400 || !requireAllowed) return undefined;
  const body: unknown = request.body;
  // Bytes are what is left of a body that could not be parsed.
  const fields = typeof body === 'object' && body !== null && !Buffer.isBuffer(body) ? body : {};
  const field = (name: string): unknown =>
    Object.hasOwn(fields, name) ? (fields as Record<string, unknown>)[name] : undefined;
  return requireAllowed({ ...unread, field }, ctx).then(
    () => undefined,
    (thrown) => asTemperError(thrown, ''),
  );
};
