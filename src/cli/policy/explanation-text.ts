/** Explanation as text: verdict, origin, and the tree with compared values. */
import { type Answered, type Explanation, nearestTo, type Part, type Provenance } from '../../policy';
import { plainText } from '../tables';

const originText = (from: Provenance): string => {
  const place = from.origin ? `${from.origin.file}:${from.origin.line}` : 'the file';
  switch (from.from) {
    case 'file':
      return place;
    case 'deprecated':
      return `${place}, under its old name ${from.oldName}`;
    case 'default':
      return from.admitsOld ? 'the default, and its deprecated text' : 'the default';
  }
};

const comparedText = ({ compared, fault }: Part): string => {
  if (fault !== undefined) return `  (${fault})`;
  if (!compared) return '';
  const has = compared.caller.length === 0 ? 'nothing' : compared.caller.join(', ');
  return `  (has ${has}; wanted ${compared.wanted ?? 'nothing that the object has'})`;
};

const labels: Partial<Record<Part['is'], string>> = { and: 'all of', or: 'any of', not: 'not' };

const referenceText = ({ to }: Part): string =>
  to === undefined ? '' : to === null ? '  (nothing defines it)' : `  (${to.rule}: ${originText(to)})`;

const lines = (part: Part, depth: number): string[] => {
  const text = `${labels[part.is] ?? part.text}${referenceText(part)}${comparedText(part)}`;
  const own = `  ${part.verdict.padEnd(9)}  ${'  '.repeat(depth)}${plainText(text)}`;
  return [own, ...(part.parts ?? []).flatMap((one) => lines(one, depth + 1))];
};

const whyText = ({ why, scope, rule }: Explanation): string | undefined => {
  switch (why) {
    case 'scope':
      return `A caller of ${scope.caller} scope is not admitted, whatever the text says; scopes: ${scope.admitted?.join(', ')}.`;
    case 'unknown':
      return `Nothing defines ${rule}.`;
    case 'fault':
      return 'It could not be evaluated, which refuses every caller.';
    default:
      return undefined;
  }
};

const nearestText = ({ tree, why }: Explanation): string | undefined => {
  const missing = tree && why === 'check' ? nearestTo(tree) : [];
  if (missing.length === 0) return undefined;
  const text = missing.map((part) => `${part.text}${comparedText(part)}`).join(' and ');
  return `Nearest to passing: what failed is ${text}`;
};

/** Effect of a refusal by the other rule. */
const refusedText = ({ sight, answer, rule }: Answered): string => {
  const isList = /:list(?:_all)?$/.test(rule);
  if (answer === 'refused' && isList)
    return `The API answers 403: callers without a project need ${sight!.rule}, which refuses`;
  if (answer === 'refused')
    return `The API answers 403: ${sight!.rule} does not show the node, which counts as one without owner`;
  return isList && !/:(?:vif|traits):/.test(rule)
    ? `The list leaves the object out: ${sight!.rule} does not show it`
    : `The API answers 404, and lists leave the object out: ${sight!.rule} is asked first and refuses`;
};

const sightText = (one: Answered): string | undefined => {
  if (!one.sight) return undefined;
  const own = one.verdict === 'allowed' ? `${one.rule} would admit` : `${one.rule} would refuse as well`;
  return `${refusedText(one)}; ${own}. temper policy lint FILE shows the line that is missing.`;
};

export const explanationText = (one: Answered, name: string): string =>
  [
    `${one.answer}: ${plainText(one.rule)} for ${plainText(name)}`,
    ...[sightText(one)].flatMap((line) => (line === undefined ? [] : [plainText(line)])),
    ...(one.from ? [`The text comes from ${plainText(originText(one.from))}.`] : []),
    ...[whyText(one), nearestText(one)].flatMap((line) => (line === undefined ? [] : [plainText(line)])),
    ...(one.tree ? ['', ...lines(one.tree, 0)] : []),
    '',
  ].join('\n');
