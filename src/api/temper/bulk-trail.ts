/** What the audit trail records of a change of many nodes. */
import { identKept } from '../../model/resources/audit';
import type { BulkChange } from '../../model/resources/bulk';
import { shortText } from '../../model/texts';
import type * as shapes from '../../wire/bulk';

// So many names of so many characters are below the size at which the trail records a digest in place of a value.
const namedInGroup = 30;
const longestNamed = 36;

const keptName = ({ node, node_uuid }: shapes.BulkResult): string =>
  node_uuid ?? shortText(identKept(node), longestNamed);

/** The trail keeps the beginning. */
export const keptNames = ({ results }: shapes.Bulk): string => results.map(keptName).join(' ');

type RefusedGroup = { readonly code: string | null; readonly rule: string | null; count: number; nodes: string[] };

/** All refused nodes, in groups of one code and rule. */
const refusedIn = ({ results }: shapes.Bulk): readonly RefusedGroup[] => {
  const groups: RefusedGroup[] = [];
  const latest: Record<string, RefusedGroup> = {};
  for (const result of results.filter(({ accepted }) => !accepted)) {
    const { code, rule } = result;
    const key = `${code} ${rule}`;
    let group = latest[key];
    if (group === undefined || group.count === namedInGroup) {
      group = { code, rule, count: 0, nodes: [] };
      latest[key] = group;
      groups.push(group);
    }
    group.count++;
    group.nodes.push(keptName(result));
  }
  return groups;
};

type BulkAsked = { readonly reason: string } & { readonly [name in BulkChange]?: unknown };

export const bulkData = (asked: BulkAsked, answer: shapes.Bulk) => ({
  change: answer.change,
  target: asked[answer.change],
  reason: asked.reason,
  accepted: answer.accepted,
  refused: refusedIn(answer),
});
