/** A guide as a table: who types what, and what comes of it; and the walk through it. */
import type { PersonaName } from '../../../src/policy';
import { baremetalCli } from '../../support/clients';
import { refusal, runClient, type Said } from './cli';
import type { PersonaApi } from './persona-api';

/** What comes of a line: it is done, it shows this, it is refused with this status for this reason, or the client itself refuses. */
export type Outcome =
  | 'is done'
  | 'the client refuses'
  | { readonly shows: unknown }
  | { readonly refused: number; readonly because: string };

/** What follows `baremetal --os-cloud <who>`, as a shell reads it; or a request that the command would not send. */
export type Line = readonly [
  who: PersonaName,
  types: string | { readonly put: string; readonly body: object } | { readonly post: string; readonly body: object },
  outcome: Outcome,
];

export const refused = (status: number, because: string): Outcome => ({ refused: status, because });
export const shows = (content: unknown): Outcome => ({ shows: content });
export const done = 'is done';

/** As many as a small machine runs without being slower for it. */
const atOnce = 3;

/** Whether everything is as before after a line, so that it may be typed together with others like it. */
const onlyLooks = ([, types, outcome]: Line): boolean => {
  if (outcome === 'is done') return false;
  const succeeds = typeof outcome === 'object' && 'shows' in outcome;
  return !succeeds || (typeof types === 'string' && /^\w+ (?:show|list)\b/.test(types));
};

const labelOf = ([who, types]: Line): string => `${who}: ${typeof types === 'string' ? types : JSON.stringify(types)}`;

/** A command as a shell runs it. */
const typed = (api: PersonaApi, who: PersonaName, words: string): Promise<Said> =>
  runClient(api.system, 'sh', ['-c', `"$0" --os-cloud ${who} ${words}`, baremetalCli()]);

const wordsOf = (types: string, outcome: Outcome): string =>
  typeof outcome === 'object' && 'shows' in outcome ? `${types} -f json` : types;

const sent = async (api: PersonaApi, who: PersonaName, types: Exclude<Line[1], string>): Promise<Said> => {
  const { status, says } = await ('put' in types
    ? api.ask(who, 'PUT', types.put, types.body)
    : api.ask(who, 'POST', types.post, types.body));
  return { status: status < 300 ? 0 : 1, out: '', err: `${says} (HTTP ${status})` };
};

const comesOf = async (api: PersonaApi, [who, types, outcome]: Line): Promise<unknown> => {
  const said = await (typeof types === 'string' ? typed(api, who, wordsOf(types, outcome)) : sent(api, who, types));
  if (outcome === 'is done') return said.status === 0 ? outcome : said;
  if (outcome === 'the client refuses') return said.status !== 0 && !/\(HTTP \d+\)/.test(said.err) ? outcome : said;
  return 'shows' in outcome && said.status === 0 ? JSON.parse(said.out) : said;
};

const expectedOf = (outcome: Outcome): unknown => {
  if (typeof outcome === 'string') return outcome;
  if ('refused' in outcome) return refusal(outcome.refused, outcome.because);
  const { shows: content } = outcome;
  const isWhole = Array.isArray(content) || (content as { asymmetricMatch?: unknown }).asymmetricMatch !== undefined;
  return isWhole ? content : expect.objectContaining(content as object);
};

/** The lines in groups of which each may be typed at once. */
const together = (lines: readonly Line[]): Line[][] =>
  lines.reduce<Line[][]>((groups, line) => {
    const last = groups.at(-1);
    if (last && last.length < atOnce && onlyLooks(line) && last.every(onlyLooks)) last.push(line);
    else groups.push([line]);
    return groups;
  }, []);

/** Types every line in order, and holds what comes of it against the table. */
export const walk = async (api: PersonaApi, lines: readonly Line[]): Promise<void> => {
  for (const group of together(lines)) {
    const came = await Promise.all(group.map((line) => comesOf(api, line)));
    expect(group.map((line, index) => [labelOf(line), came[index]])).toEqual(
      group.map((line) => [labelOf(line), expectedOf(line[2])]),
    );
  }
};
