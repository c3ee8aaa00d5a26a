/** Answer schema of a change of many nodes. */
import { z } from 'zod';
import { bulkChanges } from '../model/resources/bulk';
import { count, id, list, maybe, text, trueOrFalse } from './parts';

/** `status` is that of a request for this node alone; the next three say why it is refused. */
const bulkResult = z.strictObject({
  node: text,
  node_uuid: id.nullable(),
  node_name: maybe,
  accepted: trueOrFalse,
  status: count,
  code: maybe,
  rule: maybe,
  reason: maybe,
});
export type BulkResult = z.output<typeof bulkResult>;

/** A result for each given name, in their order. `request_id` finds the rows in the audit trail; null for a preview. */
export const bulk = z.strictObject({
  change: z.enum(bulkChanges),
  results: list(bulkResult),
  accepted: count,
  refused: count,
  request_id: maybe,
});
export type Bulk = z.output<typeof bulk>;
