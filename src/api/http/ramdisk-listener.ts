/** Where ramdisks, which have no login, are served: beside everything else, at an address of their own, or nowhere. */
import { z } from 'zod';
import { raise } from '../../model/errors';
import type { Route } from './route';

const isForRamdisks = ({ open }: Route): boolean => open === true;

/** They ask these first, for the versions that there are. */
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

/** The same routes, those of ramdisks refused. */
export const withoutRamdisks = (routes: readonly Route[]): Route[] =>
  routes.map((one) => (isForRamdisks(one) ? closed(one) : one));

/** What ramdisks need, and nothing else. */
export const onlyRamdisks = (routes: readonly Route[]): Route[] =>
  routes.filter((one) => isForRamdisks(one) || (one.rules === 'public' && discovery.includes(one.path)));
