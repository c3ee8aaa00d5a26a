/** Display of single values: times, ids, states, facts. */
import type { ComponentChildren } from 'preact';
import type { Person } from '../../wire/parts';
import type { IconName } from '../icons';
import { Icon } from './icons';

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

/** Shows how long something has lasted, with its beginning in the title. */
export const Lasting = ({ since }: { since: string }) => (
  <time datetime={since} title={since} data-relative="lasting">
    {spanOf(Date.now() - Date.parse(since))}
  </time>
);

/** Shows the time of day in UTC, with the whole time in the title. */
export const Clock = ({ at }: { at: string }) => (
  <time datetime={at} title={at} class="clock">
    {at.slice(11, 19)}
  </time>
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
      <Icon is="copy" />
    </button>
  </span>
);

export type Tone = 'good' | 'busy' | 'wait' | 'bad' | 'idle';

export const toneShapes: Readonly<Record<Tone, string>> = { good: '●', busy: '◐', wait: '◆', bad: '▲', idle: '○' };

const tones: readonly (readonly [pattern: RegExp, tone: Tone])[] = [
  [/pending|skipped|missing/, 'idle'],
  [/parked|paused|hold|held/, 'wait'],
  [/fail|error|aborted|refused|denied|stopped|expired/, 'bad'],
  [/wait|queued|accepted|retrying|asked|scheduled/, 'wait'],
  [/succeeded|done|^active$|^available$|power on|allowed|approved|granted|gathered/, 'good'],
  [/ing$|running|starting|admitted/, 'busy'],
];

export const toneOf = (word: string): Tone => tones.find(([pattern]) => pattern.test(word))?.[1] ?? 'idle';

/** The API's states that only workflows know, in words of people. */
const stateWords: Readonly<Record<string, string>> = { accepted: 'queued', admitted: 'running', soaking: 'observing' };

export const stateWord = (state: string): string => stateWords[state] ?? state;

/** A state as a word and a shape; colour and tint only repeat them. */
export const State = ({ is, tone = toneOf(is) }: { is: string; tone?: Tone }) => (
  <span class={`pill ${tone}`}>
    <span aria-hidden="true">{toneShapes[tone]}</span> {stateWord(is)}
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

type TitleProps = {
  readonly text: ComponentChildren;
  /** Sentence that is read out if it has changed: the object and its state. */
  readonly says?: string;
  /** Buttons and links at the end of the line. */
  readonly end?: ComponentChildren;
  readonly children?: ComponentChildren;
};

export const Title = ({ text, says, end, children }: TitleProps) => (
  <div class="title" {...(says && { 'data-key': 'page', 'data-says': says })}>
    <h1>{text}</h1>
    {children}
    {end && <div class="end">{end}</div>}
  </div>
);

type EmptyProps = { readonly icon?: IconName; readonly title: string; readonly children?: ComponentChildren };

/** Replaces a list without rows: its title, what it would hold, and at most one button. */
export const Empty = ({ icon = 'package-open', title, children }: EmptyProps) => (
  <div class="empty">
    <Icon is={icon} />
    <b>{title}</b>
    {children}
  </div>
);

/** Shortens the 32 digits of a project's id, and shows names as they are. */
export const Project = ({ id }: { id: string | null | undefined }) =>
  !id ? null : /^[0-9a-f-]{32,36}$/.test(id) ? <Id id={id} /> : <span>{id}</span>;

export const nodeAddress = ({ uuid, name }: { uuid: string; name: string | null }): string =>
  `/nodes/${encodeURIComponent(name ?? uuid)}`;

export const NodeLink = ({ uuid, name, to }: { uuid: string; name: string | null; to?: string }) => (
  <a href={to ?? nodeAddress({ uuid, name })}>{name ?? uuid.slice(0, 8)}</a>
);

export const personOf = (who: Person | null | undefined): string => who?.user_name ?? who?.user_id ?? '–';

type FactsProps = { readonly rows: readonly (readonly [name: string, value: ComponentChildren])[]; readonly why?: boolean }; // biome-ignore format: one row

/** Shows names and values without empty ones. @param why for reasons, one below another */
export const Facts = ({ rows, why }: FactsProps) => (
  <dl class={why ? 'facts why' : 'facts'}>
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
