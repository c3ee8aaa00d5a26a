/** Kill points: made of what was seen of a run that was not disturbed. Pure. */

import type { GateLook, GateOrder } from '../../emulator/agent/gate';
import { type ActName, actRow, acts } from '../../src/model/lifecycle/acts';
import type { Standing } from './system';

/** One exchange of an undisturbed run, as it stood at the gate. */
export type Seen = {
  /** How many writes were before it. */
  readonly writes: number;
  readonly method: string;
  readonly path: string;
  readonly write: boolean;
  readonly begun: number;
  readonly step: string;
  readonly act: string;
};

/**
 * `begins`: the act has begun and asked nothing yet, so that the one before it is over. `sent`: the command is on its way
 * and gets lost. `done`: the command was executed, its answer gets lost. `watched`: the first look after it. `call`: the
 * ramdisk is about to call back. `later`: accepted after the backup that is restored.
 */
type Kind = 'accepted' | 'begins' | 'sent' | 'done' | 'watched' | 'call' | 'ends' | 'later';

export type Point = {
  readonly label: string;
  readonly kind: Kind;
  /** The step that it lies in; null for a run's two ends. */
  readonly step: string | null;
  readonly gate: GateOrder;
  readonly begun: number;
  /** How many exchanges are before it. */
  readonly depth: number;
};

const says: Readonly<Record<Kind, string>> = {
  accepted: 'accepted',
  begins: 'begins',
  sent: 'its command is lost on the way',
  done: 'its command is done, the answer lost',
  watched: 'watches what it sent',
  call: 'the ramdisk is about to call',
  ends: 'is over',
  later: 'accepted after the backup',
};

const rowOf = (act: string) => (Object.hasOwn(acts, act) ? actRow(act as ActName) : undefined);
const isOnce = (act: string): boolean => rowOf(act)?.effect === 'once';
/** Whether what it sends takes a while; other acts only look once more. */
const watches = (act: string): boolean => isOnce(act) || rowOf(act)?.timeout !== undefined;

type Raw = Omit<Point, 'label'> & { readonly at: Seen };

const pointsAt = (seen: readonly Seen[], depth: number): Raw[] => {
  const at = seen[depth]!;
  const before = seen[depth - 1];
  const raw = (kind: Kind, gate: GateOrder): Raw => ({ kind, step: at.step, gate, begun: at.begun, depth, at });
  if (at.method === 'CONTACT') return [raw('call', { after: at.writes })];
  const first = !seen.slice(0, depth).some((one) => one.begun === at.begun && one.method !== 'CONTACT');
  return [
    ...(first ? [raw('begins', { after: at.writes })] : []),
    ...(at.write && !first && isOnce(at.act) ? [raw('sent', { after: at.writes })] : []),
    ...(at.write ? [raw('done', { after: at.writes + 1, answer: true })] : []),
    ...(!at.write && !first && before?.write && watches(at.act) ? [raw('watched', { after: at.writes })] : []),
  ];
};

const named = (raw: Raw, all: readonly Raw[]): Point => {
  const textOf = ({ at, kind }: Raw) =>
    kind === 'call' ? `${at.step}: ${says.call}` : `${at.step} ${at.act}: ${says[kind]}`;
  const text = textOf(raw);
  const same = all.filter((one) => textOf(one) === text);
  const { at: _, ...point } = raw;
  return { ...point, label: same.length > 1 ? `${text} (${same.indexOf(raw) + 1})` : text };
};

/** Of several commands of one act that converges the last counts: those before it were refused, or only prepared it. */
const counts = (raw: Raw, all: readonly Raw[]): boolean =>
  raw.kind !== 'done' ||
  isOnce(raw.at.act) ||
  raw === all.findLast(({ kind, begun }) => kind === 'done' && begun === raw.begun);

/** All points of a run: as it is accepted, every act's beginning, every command's loss, every wait, and its end. */
export const pointsOf = (seen: readonly Seen[]): Point[] => {
  const every = seen.flatMap((_, depth) => pointsAt(seen, depth));
  const all = every.filter((raw) => counts(raw, every));
  const last = seen.at(-1);
  return [
    { label: 'as it is accepted', kind: 'accepted', step: null, gate: { after: 0 }, begun: 0, depth: 0 },
    { label: 'after the backup', kind: 'later', step: null, gate: { after: 0 }, begun: 0, depth: 0 },
    ...all.map((raw) => named(raw, all)),
    ...(last
      ? [
          {
            label: 'as it ends',
            kind: 'ends' as const,
            step: null,
            gate: { after: last.writes },
            begun: last.begun,
            depth: seen.length,
          },
        ]
      : []),
  ];
};

/** Whether a run that is held stands at a point. Otherwise what is held is let pass. */
export const standsAt = (point: Point, gate: GateLook, { begun }: Pick<Standing, 'begun'>): boolean => {
  const held = gate.held[0];
  if (!held) return false;
  switch (point.kind) {
    case 'done':
      return gate.held.some(({ answer }) => answer);
    case 'call':
      return held.method === 'CONTACT';
    case 'sent':
      return held.write && begun >= point.begun;
    default:
      return held.method !== 'CONTACT' && begun >= point.begun;
  }
};
