/** Operation ids, summaries and tags. */
import type { Method, Route } from '../server/route';
import { type ResourceSeen, seenAt } from './resources';

type NamedRoute = Pick<Route, 'method' | 'path'>;

const isParameter = (segment: string | undefined): boolean => segment?.startsWith(':') === true;
const segmentsOf = (path: string): string[] => path.split('/').filter(Boolean);

const isOurs = ({ path }: Pick<Route, 'path'>): boolean => path.startsWith('/temper/');

/** Unique and stable: `get_v1_nodes_id_states`. Names of parameters do not matter. */
export const operationId = ({ method, path }: NamedRoute): string =>
  [method.toLowerCase(), ...segmentsOf(path).map((one) => (isParameter(one) ? 'id' : one.replace(/\W/g, '_')))].join(
    '_',
  );

const spoken = (word: string): string => word.replaceAll('_', ' ').replace('.', ' ');
const unchanging = ['bios', 'chassis'];
const isPlural = (word: string): boolean => /[^s]s$/.test(word) && !unchanging.includes(word);
const singular = (word: string): string => (isPlural(word) ? word.slice(0, -1) : word);
const withArticle = (word: string): string => `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`;

/** Words of a path up to each parameter: `[['nodes'], ['management', 'indicators']]`. `closed`: a parameter follows. */
const phrases = (path: string): { words: string[]; closed: boolean }[] => {
  const found: { words: string[]; closed: boolean }[] = [];
  for (const segment of segmentsOf(path).filter((word) => word !== 'v1' && word !== 'temper')) {
    const last = found.at(-1);
    if (isParameter(segment)) last!.closed = true;
    else if (last && !last.closed) last.words.push(segment);
    else found.push({ words: [segment], closed: false });
  }
  return found;
};

const say = ({ words, closed }: { words: string[]; closed: boolean }): string => {
  const last = spoken(words.at(-1)!);
  return [...words.slice(0, -1).map((word) => spoken(singular(word))), closed ? singular(last) : last].join(' ');
};

/** `indicators of a node` and the like: the innermost phrase first. */
const thing = (path: string, single: boolean): string => {
  const [inner, ...outer] = phrases(path).reverse();
  if (!inner) return 'the API';
  const said = say({ ...inner, closed: inner.closed || single });
  return [inner.closed || single ? withArticle(said) : said, ...outer.map((phrase) => withArticle(say(phrase)))].join(
    ' of ',
  );
};

const methodVerbs = {
  GET: 'Show',
  POST: 'Post',
  PUT: 'Set',
  PATCH: 'Change',
  DELETE: 'Remove',
} as const satisfies Record<Method, string>;

const verbOf = ({ method }: NamedRoute, seen: ResourceSeen | undefined): string => {
  if (!seen || seen.as === 'one') return methodVerbs[method];
  return { ...methodVerbs, GET: 'List', POST: 'Create' }[method];
};

export const summaryOf = (route: NamedRoute): string => {
  const seen = seenAt(route.path);
  const path = seen?.as === 'detail' ? route.path.replace(/\/detail$/, '') : route.path;
  const text = `${verbOf(route, seen)} ${thing(path, seen?.as === 'list' && route.method === 'POST')}`;
  return seen?.as === 'detail' ? `${text} with every field` : text;
};

/** Heading in Swagger UI. */
export const tagsOf = (route: Pick<Route, 'path'>): string[] => [isOurs(route) ? 'Temper' : 'Ironic'];
