/** Gates of a rollout as text: the query, its last result, and the next time. */
import { type Gate, type GateRecord, isKeptByGate } from '../../model/rollouts/gates';
import type { Rollout } from '../../wire/rollouts';
import { plainText } from '../tables';

const gateText = (gate: Gate): string => {
  if ('webhook' in gate) return `webhook ${gate.webhook}`;
  const { query, at_least, at_most, count, interval_ms, fail_limit, inconclusive_limit } = gate.metric;
  const bounds = [
    at_least !== undefined && `at least ${at_least}`,
    at_most !== undefined && `at most ${at_most}`,
    count !== undefined && `asked ${count} times`,
    interval_ms !== undefined && `every ${interval_ms / 1_000} s`,
    fail_limit !== undefined && `${fail_limit} may fail`,
    inconclusive_limit !== undefined && `${inconclusive_limit} may be inconclusive`,
  ];
  return `metric ${[query, ...bounds].filter(Boolean).join(', ')}`;
};

const followsText = (record: GateRecord, code: string | null | undefined, guards: boolean): string => {
  const { passed, until } = record;
  if (passed) return `passed by ${passed.by} at ${passed.at}: ${passed.reason}`;
  if (until !== null) return `asked again at ${until}`;
  if (!isKeptByGate(record, code)) return '';
  return guards ? 'resume has it asked again' : 'resume has it asked again, advance passes it';
};

const answerTexts = (
  record: GateRecord | null | undefined,
  code: string | null | undefined,
  guards = false,
): string[] => {
  if (!record) return [guards ? 'not asked yet: it is, before nodes are begun and while they work' : 'not asked yet'];
  const { answer, note, at } = record;
  return [`${answer} at ${at}${note === '' ? '' : `: ${note}`}`, followsText(record, code, guards)].filter(Boolean);
};

const titled = (title: string, [first = '', ...rest]: readonly string[]): string[] => [
  `  ${title.padEnd(9)} ${plainText(first)}`,
  ...rest.map((line) => `            ${plainText(line)}`),
];

/** Returns no lines if the rollout has no gate and no guard. */
export const gateLines = ({ spec, waves = [], code, guard }: Rollout): string[] => [
  ...(spec?.waves ?? []).flatMap(({ gate }, index) =>
    gate
      ? titled('gate', [`after wave ${index + 1}: ${gateText(gate)}`, ...answerTexts(waves[index]?.gate, code)])
      : [],
  ),
  ...(spec?.guard ? titled('guard', [gateText(spec.guard), ...answerTexts(guard, code, true)]) : []),
];
