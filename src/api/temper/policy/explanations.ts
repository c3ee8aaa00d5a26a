/** Explanations of rules. Only system callers see ids of other projects and file locations. */
import type { Caller } from '../../../model/access/callers';
import type { Answered, Part, Target } from '../../../policy';

const otherProject = '(another project)';

/** Ids in a rule's text, such as project_id:1a2b. */
const constantIds = (part: Part): string[] => {
  const [, written] = /^[\w.]*_id:(?!.*%\()(.+)$/.exec(part.text) ?? [];
  const own = part.parts === undefined && written !== undefined ? [written] : [];
  return [...own, ...(part.parts ?? []).flatMap(constantIds)];
};

const mapTexts = (value: unknown, change: (text: string) => string): unknown => {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'origin')
      .map(([key, item]) => [key, mapTexts(item, change)]),
  );
};

export const explanationFor = (who: Caller, explanation: Answered, target: Target): Answered => {
  if (who.system_scope || who.all_powerful) return explanation;
  const own = new Set(
    Object.values(who)
      .flat()
      .filter((value) => typeof value === 'string'),
  );
  const trees = [explanation.tree, explanation.sight?.tree].filter((tree) => tree !== null && tree !== undefined);
  const ids = [...Object.values(target), ...trees.flatMap(constantIds)];
  const foreign = ids.filter((id): id is string => typeof id === 'string' && id !== '' && !own.has(id));
  const hide = (text: string) => foreign.reduce((left, id) => left.split(id).join(otherProject), text);
  return { ...(mapTexts(explanation, hide) as Answered), rule: explanation.rule };
};
