/** The $expand query: a collection answers with its members' documents instead of links to them. */

import { findRow } from './resources';
import type { Doc, Exchange } from './types';

/** The document, expanded by one level when the query asks for it and the vendor offers it. */
export const expanded = (x: Exchange, doc: Doc, query: string): Doc => {
  if (!x.bmc.profile.expand || !new URLSearchParams(query).has('$expand') || !Array.isArray(doc.Members)) return doc;
  const Members = (doc.Members as { '@odata.id': string }[]).map((member) => {
    const found = findRow(x.bmc, member['@odata.id']);
    return found?.row.get ? found.row.get({ ...x, path: member['@odata.id'], params: found.params }) : member;
  });
  return { ...doc, Members };
};
