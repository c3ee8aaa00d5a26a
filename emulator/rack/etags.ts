/** ETags: fingerprints of documents, and what each vendor makes of an If-Match header. */

import { createHash } from 'node:crypto';
import { refuse } from './answers';
import type { Bmc, Doc } from './types';

/** Properties that change with every look; a fingerprint over them would never match. */
const volatile = new Set(['DateTime']);

const opaque = (doc: Doc): string => {
  const text = JSON.stringify(doc, (key, value: unknown) => (volatile.has(key) ? undefined : value));
  return createHash('sha1').update(text).digest('hex').slice(0, 12);
};

/** The ETag header for a document, in the vendor's spelling. */
export const etagOf = (bmc: Bmc, doc: Doc): string =>
  bmc.profile.etag === 'strong' ? `"${opaque(doc)}"` : `W/"${opaque(doc)}"`;

const strong = (etag: string): string => etag.trim().replace(/^W\//, '');

/** Refuses a PATCH whose If-Match is missing, unwanted or stale, as this vendor sees it. */
export const checkIfMatch = (bmc: Bmc, doc: Doc, ifMatch: string | undefined): void => {
  const { profile } = bmc;
  const given = ifMatch === '' ? undefined : ifMatch;
  if (given === undefined) {
    if (profile.ifMatch === 'required')
      refuse(
        428,
        'PreconditionRequired',
        'A precondition header is required: send If-Match with the ETag of the resource.',
      );
    return;
  }
  if (profile.ifMatch === 'refused')
    refuse(412, 'PreconditionFailed', 'The If-Match header is not accepted for this resource.');
  if (given === '*') return;
  const current = etagOf(bmc, doc);
  const matches = given
    .split(',')
    .some((each) =>
      profile.etag === 'weak-strict' ? each.trim() === strong(current) : strong(each) === strong(current),
    );
  if (!matches)
    refuse(412, 'PreconditionFailed', 'The ETag supplied did not match the ETag required to change this resource.');
};
