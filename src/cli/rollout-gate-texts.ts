/** Gates of a rollout as lines: what is asked, what it has answered last, and when it is asked again. */
import { type Gate, type GateRecord, isKeptByGate } from '../model/rollouts/gates';
import { plainText } from './tables';

export type GatedRollout = {
  readonly code?: string | null;
  readonly spec?: { readonly waves?: readonly { readonly gate?: Gate }[]; readonly guard?: Gate };
  readonly waves?: readonly { readonly gate?: GateRecord | null }[];
};

const gateText = (gate: Gate): string => {
  if ('webhook' in gate) return `webhook ${gate.webhook}`;
  const { query, at_least, at_most } = gate.metric;
  const bounds = [at_least !== undefined && `at least ${at_least}`, at_most !== undefined && `at most ${at_most}`];
  return `metric ${[query, ...bounds].filter(Boolean).join(', ')}`;
};

/** What follows from an answer. */
const followsText = (record: GateRecord, code: string | null | undefined): string => {
  const { passed, until } = record;
  if (passed) return `passed by ${passed.by} at ${passed.at}: ${passed.reason}`;
  if (until !== null) return `asked again at ${until}`;
  return isKeptByGate(record, code) ? 'resume has it asked again, advance passes it' : '';
};

const answerTexts = (record: GateRecord | null | undefined, code: string | null | undefined): string[] => {
  if (!record) return ['not asked yet'];
  const { answer, note, at } = record;
  return [`${answer} at ${at}${note === '' ? '' : `: ${note}`}`, followsText(record, code)].filter(Boolean);
};

/** Under its title, each line of plain text. */
const titled = (title: string, [first = '', ...rest]: readonly string[]): string[] => [
  `  ${title.padEnd(9)} ${plainText(first)}`,
  ...rest.map((line) => `            ${plainText(line)}`),
];

/** A few lines for each gate, and for what guards the rollout; none where it has neither. */
export const gateLines = ({ spec = {}, waves = [], code }: GatedRollout): string[] => [
  ...(spec.waves ?? []).flatMap(({ gate }, index) =>
    gate
      ? titled('gate', [`after wave ${index + 1}: ${gateText(gate)}`, ...answerTexts(waves[index]?.gate, code)])
      : [],
  ),
  ...(spec.guard ? titled('guard', [gateText(spec.guard), 'asked before nodes are begun']) : []),
];
