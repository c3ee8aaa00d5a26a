/** Successful answers of operations, from the route or else from method and resource. */
import type { Document } from '../../model/document';
import { csvType } from '../resource/csv';
import { isShow } from '../server/etag';
import type { Answers, Method, Route } from '../server/route';
import { componentName, type ResourceSeen, seenAt } from './resources';
import { answerSchema, listSchema, refTo } from './schemas';

const usualStatus = { GET: 200, POST: 201, PUT: 204, PATCH: 200, DELETE: 204 } as const satisfies Record<
  Method,
  number
>;

const says = {
  200: 'Done; here it is.',
  201: 'Created.',
  202: 'Accepted; it goes on without another request.',
  204: 'Done; there is nothing to say.',
  304: 'As it was.',
} as const satisfies Record<number, string>;

const json = (schema: Document): Document => ({ content: { 'application/json': { schema } } });

const answerContent = (shape: Answers[number]): Document => {
  if (shape === null) return {};
  if (typeof shape === 'string') return { content: { [shape]: { schema: { type: 'string' } } } };
  return json(answerSchema(shape));
};

const shownAs = ({ table, as }: ResourceSeen): Document =>
  as === 'one' ? refTo('schemas', componentName(table)) : listSchema(table);

/** The answer body, if method and path determine it. */
const usual = (route: Route): Document | undefined => {
  const status = usualStatus[route.method];
  if (status === 204) return {};
  const seen = seenAt(route.path);
  if (!seen) return undefined;
  return json(route.method === 'GET' ? shownAs(seen) : refTo('schemas', componentName(seen.table)));
};

const locationStatuses: readonly number[] = [201, 202];

const describedHeaders = (status: number): Document =>
  locationStatuses.includes(status)
    ? { headers: { Location: { description: 'Where to look, as an absolute URL.', schema: { type: 'string' } } } }
    : {};

const describedAnswer = (status: number, content: Document): [string, Document] => [
  String(status),
  { description: says[status as keyof typeof says] ?? 'Done.', ...describedHeaders(status), ...content },
];

/** The same rows in another form. */
const withCsv = ({ content }: Document): Document => ({
  content: { ...(content as Document), [csvType]: { schema: { type: 'string' } } },
});

const answerEntries = ({ answers, csv }: Pick<Route, 'answers' | 'csv'>): [string, Document][] =>
  Object.entries<Answers[number]>(answers!).map(([status, shape]) => {
    const content = answerContent(shape);
    return describedAnswer(Number(status), csv ? withCsv(content) : content);
  });

/** By status; undefined if the answer's body is unknown. */
export const goodAnswers = (route: Route): Readonly<Record<string, Document>> | undefined => {
  const content = usual(route);
  if (!route.answers && !content) return undefined;
  const answers = route.answers ? answerEntries(route) : [describedAnswer(usualStatus[route.method], content!)];
  return Object.fromEntries([...answers, ...(isShow(route) ? [describedAnswer(304, {})] : [])]);
};
