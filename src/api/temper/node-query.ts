/** Schema of node queries. If a key has a list, any item may match. */
import { z } from 'zod';
import { asUuid } from '../../model/ids';
import { budgetUuids } from '../../model/rollouts/disruption';

// Every admission of a node evaluates the budget queries of its project.
const mostKeys = 20;
const mostTexts = 1_000;

const values = z.union([
  z.string().transform((text) => text.split(',').map((part) => part.trim())),
  z.array(z.string().max(255)),
]);

type QueryKeys = {
  readonly isKey: (key: string) => boolean;
  /** Error text for an unknown key. */
  readonly unknown: string;
};

export const nodeQuery = ({ isKey, unknown }: QueryKeys) =>
  z.record(z.string(), values.pipe(z.array(z.string().min(1).max(255)).min(1))).superRefine((keys, context) => {
    const fault = (key: string, message: string) => context.addIssue({ code: 'custom', path: [key], message });
    if (Object.keys(keys).length > mostKeys)
      return context.addIssue({ code: 'custom', message: `must choose by at most ${mostKeys} keys` });
    if (Object.values(keys).flat().length > mostTexts)
      return context.addIssue({ code: 'custom', message: `must hold at most ${mostTexts} texts in all` });
    for (const [key, texts] of Object.entries(keys)) {
      if (!isKey(key)) fault(key, unknown);
      else if (budgetUuids.includes(key) && texts.some((text) => asUuid(text) !== text)) fault(key, 'must be UUIDs');
    }
  });
