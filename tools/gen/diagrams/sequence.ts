/** Drawings of who sends what to whom, one row after the other. */
import { arrow, box, drawing, label, type Point, rect, type Tone, text } from './draw';

/** A message between two lanes, or a note in one. */
type Row =
  | { readonly from: string; readonly to: string; readonly says: string }
  | { readonly over: string; readonly until?: string; readonly note: string; readonly tone: Tone };

export type Sequence = {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly lanes: readonly string[];
  readonly rows: readonly Row[];
};

const [width, first, rowHeight] = [920, 96, 44];

export const sequence = ({ name, title, about, lanes, rows }: Sequence): string => {
  const pitch = width / lanes.length;
  const xOf = (lane: string): number => {
    const index = lanes.indexOf(lane);
    if (index < 0) throw new Error(`The diagram ${name} has no lane ${lane}.`);
    return Math.round(pitch * (index + 0.5));
  };
  const height = first + rows.length * rowHeight + 8;
  const drawRow = (row: Row, index: number): string => {
    const y = first + index * rowHeight + 18;
    if ('note' in row) {
      const [left, right] = [xOf(row.over), xOf(row.until ?? row.over)];
      const half = Math.max((right - left) / 2 + pitch / 2 - 10, row.note.length * 3.4 + 14);
      const middle = Math.min(Math.max((left + right) / 2, half + 4), width - half - 4);
      return rect(middle - half, y - 19, half * 2, 30, row.tone) + text([middle, y + 1], row.note, 'text', 'middle');
    }
    const [from, to] = [xOf(row.from), xOf(row.to)];
    const ends: [Point, Point] = [
      [from + Math.sign(to - from) * 2, y],
      [to - Math.sign(to - from) * 2, y],
    ];
    return arrow(ends) + label([(from + to) / 2, y - 7], row.says);
  };
  return drawing(name, [width, height], title, about, [
    ...lanes.map((lane) => `<path d="M${xOf(lane)} 60V${height - 8}" class="faint" stroke-dasharray="3 5"/>`),
    ...lanes.map((lane) =>
      box({ x: xOf(lane) - pitch / 2 + 10, y: 14, w: pitch - 20, h: 44, title: lane, tone: 'main' }),
    ),
    ...rows.map(drawRow),
  ]);
};
