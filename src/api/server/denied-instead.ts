/** Policy check of malformed requests: without the permission, the answer is 403 or 404 in place of 400. */
import type { Request } from 'express';
import type { TemperError } from '../../model/errors';
import type { ApiContext } from '../context';
import { asTemperError } from './errors';
import type { Route, Unread } from './route';

/** Undefined if the rules allow the request or the route has no check. */
export const deniedInstead = async (
  { requireAllowed }: Route,
  { status }: TemperError,
  { request, ...unread }: Omit<Unread, 'field'> & { readonly request: Request },
  ctx: ApiContext,
): Promise<TemperError | undefined> => {
  if (status !== 400 || !requireAllowed) return undefined;
  const body: unknown = request.body;
  // A body that could not be parsed is still a Buffer.
  const fields = typeof body === 'object' && body !== null && !Buffer.isBuffer(body) ? body : {};
  const field = (name: string): unknown =>
    Object.hasOwn(fields, name) ? (fields as Record<string, unknown>)[name] : undefined;
  return requireAllowed({ ...unread, field }, ctx).then(
    () => undefined,
    (thrown) => asTemperError(thrown, ''),
  );
};
