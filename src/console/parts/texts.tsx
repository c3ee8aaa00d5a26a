/** Display of single values: times, ids, states, facts. */
import type { ComponentChildren } from 'preact';
import type { Person } from '../../wire/parts';

const spanUnits = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** The pages' script rounds the same way. */
export const spanOf = (ms: number): string => {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  const [unit, size] = spanUnits.find(([, size]) => seconds >= size) ?? spanUnits[3];
  return `${Math.floor(seconds / size)} ${unit}`;
};

const relative = (at: number, now: number): string => (at > now ? `in ${spanOf(at - now)}` : `${spanOf(now - at)} ago`);

/** Shows a time relative to now, with the exact time in the title. */
export const Time = ({ at }: { at: string | null | undefined }) =>
  at ? (
    <time datetime={at} title={at} data-relative>
      {relative(Date.parse(at), Date.now())}
    </time>
  ) : (
    <span class="muted">–</span>
  );

/** Shows the start of a UUID; the button copies all of it. */
export const Id = ({ id, href }: { id: string; href?: string }) => (
  <span class="id">
    {href ? (
      <a href={href} title={id}>
        {id.slice(0, 8)}
      </a>
    ) : (
      <span title={id}>{id.slice(0, 8)}</span>
    )}
    <button type="button" class="copy" data-copy={id} aria-label={`Copy ${id}`} hidden>
      copy
    </button>
  </span>
);

export type Tone = 'good' | 'busy' | 'wait' | 'bad' | 'idle';

export const toneShapes: Readonly<Record<Tone, string>> = { good: '●', busy: '◐', wait: '◆', bad: '▲', idle: '○' };

const tones: readonly (readonly [pattern: RegExp, tone: Tone])[] = [
  [/pending|skipped/, 'idle'],
  [/parked|paused|hold|held/, 'wait'],
  [/fail|error|aborted|refused|denied|stopped|expired/, 'bad'],
  [/wait|queued|accepted|retrying|asked|scheduled/, 'wait'],
  [/succeeded|done|^active$|^available$|power on|allowed|approved|gathered/, 'good'],
  [/ing$|running|starting|admitted/, 'busy'],
];

export const toneOf = (word: string): Tone => tones.find(([pattern]) => pattern.test(word))?.[1] ?? 'idle';

/** A state as a word and a shape; the color only repeats them. */
export const State = ({ is, tone = toneOf(is) }: { is: string; tone?: Tone }) => (
  <span class={`state ${tone}`}>
    <span aria-hidden="true">{toneShapes[tone]}</span> {is}
  </span>
);

export const Code = ({ value }: { value: unknown }) => (
  <code>{typeof value === 'string' ? value : JSON.stringify(value)}</code>
);

type NoticeProps = { readonly tone: Tone; readonly role?: 'alert' | 'status'; readonly says: ComponentChildren };

/** @param role `alert` for errors, `status` for results */
export const Notice = ({ tone, role, says }: NoticeProps) => (
  <p role={role} class={`notice ${tone}`}>
    {says}
  </p>
);

export const Title = ({ text, children }: { text: ComponentChildren; children?: ComponentChildren }) => (
  <div class="title">
    <h1>{text}</h1>
    {children}
  </div>
);

export const nodeAddress = ({ uuid, name }: { uuid: string; name: string | null }): string =>
  `/nodes/${encodeURIComponent(name ?? uuid)}`;

export const NodeLink = ({ uuid, name, to }: { uuid: string; name: string | null; to?: string }) => (
  <a href={to ?? nodeAddress({ uuid, name })}>{name ?? uuid.slice(0, 8)}</a>
);

export const personOf = (who: Person | null | undefined): string => who?.user_name ?? who?.user_id ?? '–';

/** Shows names and values without empty ones. */
export const Facts = ({ rows }: { rows: readonly (readonly [name: string, value: ComponentChildren])[] }) => (
  <dl class="facts">
    {rows
      .filter(([, value]) => value !== null && value !== undefined && value !== '' && value !== false)
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
);
