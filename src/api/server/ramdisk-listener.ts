/** Routes of ramdisks, which have no login: on the main listener, a separate one, or none. */
import { z } from 'zod';
import { raise } from '../../model/errors';
import type { Route } from './route';

const isForRamdisks = ({ open }: Route): boolean => open === true;

/** Ramdisks first read the versions here. */
const discovery = ['/', '/v1'];

const closed = ({ method, path, since, tooOld, cleansTexts }: Route): Route => ({
  method,
  path,
  ...(since !== undefined && { since }),
  ...(tooOld !== undefined && { tooOld }),
  ...(cleansTexts && { cleansTexts }),
  rules: [],
  open: true,
  query: z.looseObject({}) as never,
  body: z.unknown() as never,
  handler: async () =>
    raise('Forbidden', { reason: 'Ramdisks are not served at this address (TEMPER_RAMDISK_LISTEN).' }),
});

/** All routes, but those of ramdisks refuse. */
export const withoutRamdisks = (routes: readonly Route[]): Route[] =>
  routes.map((one) => (isForRamdisks(one) ? closed(one) : one));

/** Routes of ramdisks and their discovery. */
export const onlyRamdisks = (routes: readonly Route[]): Route[] =>
  routes.filter((one) => isForRamdisks(one) || (one.rules === 'public' && discovery.includes(one.path)));
