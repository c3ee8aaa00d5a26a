/** Rows of the audit trail about a change of many nodes. */
import { identKept } from '../../model/resources/audit';
import type { BulkChange } from '../../model/resources/bulk';
import { shortText } from '../../model/texts';
import type * as shapes from '../../wire/bulk';
import type { FoundNode } from '../resource/named-nodes';
import { type BulkBody, changeIn } from './bulk-changes';

// So many names of so many characters are below the size at which the trail records a digest in place of a value.
const namedInGroup = 30;
const longestNamed = 36;

const shortName = (ident: string): string => shortText(identKept(ident), longestNamed);
const keptName = ({ node, node_uuid }: shapes.BulkResult): string => node_uuid ?? shortName(node);

/** The trail keeps the beginning. */
export const keptNames = ({ results }: shapes.Bulk): string => results.map(keptName).join(' ');

const inGroups = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(all.length / namedInGroup) }, (_, at) =>
    all.slice(at * namedInGroup, (at + 1) * namedInGroup),
  );

/** Written before any node is changed. */
export const begunData = (body: BulkBody, find: FoundNode) => {
  const change: BulkChange = changeIn(body);
  const named = [...new Set(body.nodes.map((ident) => find(ident) ?? shortName(ident)))];
  return { change, target: body[change], reason: body.reason, count: named.length, nodes: inGroups(named) };
};

/** All refused nodes, in groups of one code and rule. */
const refusedIn = ({ results }: shapes.Bulk) => {
  const refused = results.filter(({ accepted }) => !accepted);
  const kindOf = ({ code, rule }: shapes.BulkResult): string => `${code} ${rule}`;
  return [...new Set(refused.map(kindOf))].flatMap((kind) => {
    const own = refused.filter((one) => kindOf(one) === kind);
    const { code, rule } = own[0]!;
    return inGroups(own.map(keptName)).map((nodes) => ({ code, rule, count: nodes.length, nodes }));
  });
};

export const refusedData = (answer: shapes.Bulk) => ({
  change: answer.change,
  accepted: answer.accepted,
  refused: refusedIn(answer),
});
