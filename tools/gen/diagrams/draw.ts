/** Pieces of diagrams as SVG. Each color is a pair of light and dark, so that one file suits both. */

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (sign) => escapes[sign]!);

/** What a shape says by its color. */
export type Tone = 'plain' | 'main' | 'good' | 'bad' | 'wait' | 'faint';
export type Point = readonly [x: number, y: number];
export type Box = {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
  readonly title: string;
  readonly lines?: readonly string[];
  readonly tone?: Tone;
};

// Programs that do not know light-dark() take the first of two declarations.
const pair = (property: string, light: string, dark: string): string =>
  `${property}:${light};${property}:light-dark(${light},${dark})`;

const tones: Readonly<Record<Tone, readonly [fill: string, line: string]>> = {
  plain: [pair('fill', '#ffffff', '#1e293b'), pair('stroke', '#94a3b8', '#64748b')],
  main: [pair('fill', '#eff4ff', '#172a4d'), pair('stroke', '#1d4ed8', '#93c5fd')],
  good: [pair('fill', '#dcfce7', '#14321f'), pair('stroke', '#166534', '#86efac')],
  bad: [pair('fill', '#fee2e2', '#3f1717'), pair('stroke', '#b91c1c', '#fca5a5')],
  wait: [pair('fill', '#fef3c7', '#3a2a08'), pair('stroke', '#854d0e', '#fcd34d')],
  faint: ['fill:none', pair('stroke', '#cbd5e1', '#475569')],
};

const style = [
  'svg.drawn{font-family:Inter,system-ui,sans-serif}',
  ...Object.entries(tones).map(([tone, [fill, line]]) => `.drawn .${tone}{${fill};${line};stroke-width:1.25}`),
  `.drawn .title{${pair('fill', '#0f172a', '#e2e8f0')};font-size:14px;font-weight:600}`,
  `.drawn .text{${pair('fill', '#475569', '#a3b1c6')};font-size:12px}`,
  `.drawn .arrow{fill:none;${pair('stroke', '#64748b', '#94a3b8')};stroke-width:1.4}`,
  `.drawn .head{${pair('fill', '#64748b', '#94a3b8')}}`,
  `.drawn .halo{paint-order:stroke;${pair('stroke', '#ffffff', '#0f172a')};stroke-width:5px;stroke-linejoin:round}`,
].join('');

type Anchor = 'start' | 'middle' | 'end';

export const text = ([x, y]: Point, words: string, kind = 'text', anchor: Anchor = 'start'): string =>
  `<text x="${x}" y="${y}" class="${kind}" text-anchor="${anchor}">${escaped(words)}</text>`;

/** Words on top of arrows: what is behind them is covered by their halo. */
export const label = (at: Point, words: string, anchor: Anchor = 'middle'): string =>
  words === '' ? '' : text(at, words, 'text halo', anchor);

export const rect = (x: number, y: number, w: number, h: number, tone: Tone, more = ''): string =>
  `<rect x="${x}" y="${y}" width="${w}" height="${h}" rx="${Math.min(8, h / 5)}" class="${tone}"${more}/>`;

export const box = ({ x, y, w, h, title, lines = [], tone = 'plain' }: Box): string => {
  const middle = x + w / 2;
  const top = y + h / 2 + 5 - lines.length * 8;
  return [
    rect(x, y, w, h, tone),
    text([middle, top], title, 'title', 'middle'),
    ...lines.map((line, index) => text([middle, top + 18 + index * 16], line, 'text', 'middle')),
  ].join('');
};

/** A frame around others, with its name at its upper right. */
export const frame = (x: number, y: number, w: number, h: number, name: string): string =>
  rect(x, y, w, h, 'faint', ' stroke-dasharray="4 4"') + text([x + w - 12, y + 20], name, 'text', 'end');

const headAt = ([x, y]: Point, [fromX, fromY]: Point): string => {
  const angle = (Math.atan2(y - fromY, x - fromX) * 180) / Math.PI;
  return `<path d="M0 0L-9 -4.500L-9 4.500Z" class="head" transform="translate(${x} ${y}) rotate(${angle.toFixed(1)})"/>`;
};

const at = ([x, y]: Point): string => `${x} ${y}`;

/** A line through points, with a head at its end. */
export const arrow = (points: readonly Point[]): string =>
  `<path d="M${points.map(at).join('L')}" class="arrow"/>${headAt(points.at(-1)!, points.at(-2)!)}`;

/** A bent line that leaves and arrives in the direction of its guides. */
export const curve = (from: Point, leave: Point, arrive: Point, to: Point): string =>
  `<path d="M${at(from)}C${at(leave)} ${at(arrive)} ${at(to)}" class="arrow"/>${headAt(to, arrive)}`;

/**
 * A whole drawing.
 * @param name of its file; @param about what the drawing shows, for readers who do not see it
 */
export const drawing = (name: string, size: Point, title: string, about: string, parts: readonly string[]): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" class="drawn" viewBox="0 0 ${at(size)}" role="img" aria-labelledby="${name}-title ${name}-about">
<title id="${name}-title">${escaped(title)}</title>
<desc id="${name}-about">${escaped(about)}</desc>
<style>:root:where(svg){color-scheme:light dark}${style}</style>
${parts.filter(Boolean).join('\n')}
</svg>
`;
