/** The life of a node, drawn from the table of states: stable states in the middle, and what a run does between them at the sides. */
import { type ProvisionState, states, transitions } from '../../../src/model/lifecycle/states';
import { type Box, box, curve, drawing, label, type Point, type Tone, text } from './draw';

/** Where a state stands; states that a run passes through share the box of the first. */
type Place = { readonly column: number; readonly y: number; readonly with?: readonly ProvisionState[] };

const places: Partial<Record<ProvisionState, Place>> = {
  enroll: { column: 1, y: 20 },
  verifying: { column: 2, y: 48 },
  manageable: { column: 1, y: 130 },
  inspecting: { column: 0, y: 40, with: ['inspect wait', 'inspect failed'] },
  cleaning: { column: 2, y: 165, with: ['clean wait', 'clean hold', 'clean failed'] },
  available: { column: 1, y: 260 },
  adopting: { column: 0, y: 172, with: ['adopt failed'] },
  deploying: { column: 2, y: 305, with: ['wait call-back', 'deploy hold', 'deploy failed'] },
  active: { column: 1, y: 430 },
  servicing: { column: 0, y: 300, with: ['service wait', 'service hold', 'service failed'] },
  deleting: { column: 3, y: 440 },
  error: { column: 3, y: 570 },
  rescuing: { column: 0, y: 440, with: ['rescue wait', 'rescue failed'] },
  unrescuing: { column: 0, y: 580, with: ['unrescue failed'] },
  rescue: { column: 1, y: 580 },
};

const columns = [20, 300, 540, 790];
const widths = [170, 120, 170, 120];
const lineHeight = 16;

const homeOf = new Map<ProvisionState, ProvisionState>(
  (Object.entries(places) as [ProvisionState, Place][]).flatMap(([state, place]) =>
    [state, ...(place.with ?? [])].map((one): [ProvisionState, ProvisionState] => [one, state]),
  ),
);

const home = (state: ProvisionState): ProvisionState => {
  const found = homeOf.get(state);
  if (!found)
    throw new Error(`The state ${state} has no place in docs/diagrams/life-of-a-node.svg; give it one in places.`);
  return found;
};

const boxOf = (state: ProvisionState): Box => {
  const { column, y, with: others = [] } = places[state]!;
  const tone: Tone = state === 'error' ? 'bad' : states[state].kind === 'stable' ? 'main' : 'plain';
  return {
    x: columns[column]!,
    y,
    w: widths[column]!,
    h: 44 + others.length * lineHeight,
    title: state,
    lines: others,
    tone,
  };
};

type Arrow = { readonly from: ProvisionState; readonly to: ProvisionState; readonly verbs: readonly string[] };

/** How the work of a run leads to the next box; what else happens to it stays in its own. */
const outcomes: readonly string[] = ['done', 'fail', 'clean', 'manage'];

/** One arrow between two boxes, however many transitions it stands for. */
const arrowsOfLife = (): Arrow[] => {
  const found = new Map<string, Arrow>();
  for (const { from, on, to } of transitions) {
    const [start, end] = [home(from), home(to)];
    const { kind } = states[from];
    const leads = kind === 'stable' || (kind === 'transient' && outcomes.includes(on));
    if (start === end || !leads) continue;
    const verbs = new Set(found.get(`${start} ${end}`)?.verbs);
    if (kind === 'stable') verbs.add(on);
    found.set(`${start} ${end}`, { from: start, to: end, verbs: [...verbs] });
  }
  return [...found.values()];
};

type Side = 'left' | 'right' | 'top' | 'bottom';

const sideOf = (from: Place, to: Place): Side =>
  from.column === to.column ? (from.y < to.y ? 'bottom' : 'top') : from.column < to.column ? 'right' : 'left';

type End = { readonly arrow: Arrow; readonly state: ProvisionState; readonly side: Side; readonly other: number };

/** Ends at one side of a box are spread along it, in the order of where they lead. */
const spread = (ends: readonly End[]): Map<string, Point> => {
  const points = new Map<string, Point>();
  for (const end of ends) {
    const beside = ends
      .filter(({ state, side }) => state === end.state && side === end.side)
      .sort((a, b) => a.other - b.other || (a.arrow.from === end.state ? -1 : 1));
    const part = (beside.indexOf(end) + 1) / (beside.length + 1);
    const { x, y, w, h } = boxOf(end.state);
    const upright = end.side === 'left' || end.side === 'right';
    const place: Point = upright
      ? [end.side === 'left' ? x : x + w, Math.round(y + h * part)]
      : [Math.round(x + w * part), end.side === 'top' ? y : y + h];
    points.set(`${end.arrow.from} ${end.arrow.to} ${end.state}`, place);
  }
  return points;
};

const away: Readonly<Record<Side, Point>> = { left: [-1, 0], right: [1, 0], top: [0, -1], bottom: [0, 1] };

const drawArrows = (): string[] => {
  const arrows = arrowsOfLife();
  const ends = arrows.flatMap((arrow): End[] => {
    const [from, to] = [places[arrow.from]!, places[arrow.to]!];
    const middle = ({ y }: Place, state: ProvisionState): number => y + boxOf(state).h / 2;
    return [
      { arrow, state: arrow.from, side: sideOf(from, to), other: middle(to, arrow.to) },
      { arrow, state: arrow.to, side: sideOf(to, from), other: middle(from, arrow.from) },
    ];
  });
  const points = spread(ends);
  return arrows.flatMap((arrow) => {
    const [from, to] = [arrow.from, arrow.to].map((state) => points.get(`${arrow.from} ${arrow.to} ${state}`)!);
    const [leave, arrive] = [
      away[sideOf(places[arrow.from]!, places[arrow.to]!)],
      away[sideOf(places[arrow.to]!, places[arrow.from]!)],
    ];
    const bend = Math.max(30, Math.abs(to![0] - from![0]) / 2.4);
    const guide = ([x, y]: Point, [dx, dy]: Point): Point => [Math.round(x + dx * bend), Math.round(y + dy * bend)];
    const drawn = curve(from!, guide(from!, leave), guide(to!, arrive), to!);
    const [nearX, nearY] = [from![0] * 0.62 + to![0] * 0.38, from![1] * 0.72 + to![1] * 0.28];
    return [drawn, label([Math.round(nearX), Math.round(nearY) + 4], arrow.verbs.join(', '))];
  });
};

/** docs/diagrams/life-of-a-node.svg */
export const renderLifeOfANode = (): string => {
  for (const state of Object.keys(states) as ProvisionState[]) home(state);
  const says = arrowsOfLife().map(
    ({ from, to, verbs }) => `${from} to ${to}${verbs.length > 0 ? ` by ${verbs.join(' or ')}` : ''}`,
  );
  const arrows = drawArrows();
  return drawing(
    'life-of-a-node',
    [930, 690],
    'The life of a node',
    `The stable states and the work between them: ${says.join('; ')}.`,
    [
      ...arrows.filter((part) => part.startsWith('<path')),
      ...(Object.keys(places) as ProvisionState[]).map((state) => box(boxOf(state))),
      ...arrows.filter((part) => part.startsWith('<text')),
      text(
        [20, 676],
        'Blue: a node rests there. White: a run works; lines below the name are where it waits, is held, or has failed.',
      ),
    ],
  );
};
