/** Holds an answer of the API against the API's own description: its status must be there, and its body of that shape. */
import { z } from 'zod';
import { describeApi } from '../../src/api';

// biome-ignore lint/suspicious/noExplicitAny: a document of every shape
type Json = any;

const document: Json = describeApi();

/** The components as zod knows them: definitions of the schema that refers to them. */
const definitions = document.components.schemas;
// Tests make UUIDs up, without the digits that tell how one was made.
const anyUuid = JSON.stringify({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' }).slice(1, -1);
const local = (schema: Json): Json =>
  JSON.parse(
    JSON.stringify(schema).replaceAll('#/components/schemas/', '#/$defs/').replaceAll('"format":"uuid"', anyUuid),
  );

const resolved = (given: Json): Json =>
  given.$ref ? document.components.responses[given.$ref.split('/').at(-1)] : given;

const pattern = (path: string): RegExp =>
  new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')}$`);

const weight = (path: string): string => path.replace(/\{\w+\}/g, '~');

/** A word before a parameter, as the server tries them. */
const paths = Object.keys(document.paths)
  .sort((a, b) => (weight(a) < weight(b) ? -1 : 1))
  .map((path) => ({ path, matches: pattern(path) }));

const checks = new Map<string, z.ZodType>();

const checkOf = (key: string, schema: Json): z.ZodType => {
  const known = checks.get(key) ?? z.fromJSONSchema(local({ ...schema, $defs: definitions }));
  checks.set(key, known);
  return known;
};

export type Answered = {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly status: number;
  readonly type: string | null;
  readonly body: unknown;
};

/** What of an answer the description does not know; undefined where it is as described, and at paths that it has not. */
export const undescribed = ({ method, path, status, type, body }: Answered): string | undefined => {
  const plain = path.split('?')[0]!;
  const found = paths.find(({ matches }) => matches.test(plain));
  const operation = found && document.paths[found.path][method.toLowerCase()];
  if (!operation) return undefined;
  const name = `${method} ${found.path}`;
  const described = operation.responses[status];
  if (!described) return `${name} answered ${status}; described are ${Object.keys(operation.responses).join(', ')}`;
  const content = resolved(described).content;
  if (
    type &&
    Object.keys(content ?? {})
      .slice(1)
      .some((media) => type.startsWith(media))
  )
    return undefined;
  if (body === undefined) return content ? `${name} answered ${status} without a body` : undefined;
  const [media, one] = Object.entries<Json>(content ?? {})[0] ?? [];
  if (!media) return `${name} answered ${status} with a body; none is described`;
  if (media !== 'application/json') return undefined;
  if (!type?.startsWith(media)) return `${name} answered ${status} as ${type}; ${media} is described`;
  const parsed = checkOf(`${name} ${status}`, one.schema).safeParse(body);
  if (parsed.success) return undefined;
  const faults = parsed.error.issues.slice(0, 5).map((issue) => `${issue.path.join('.') || 'body'}: ${issue.message}`);
  return `${name} answered ${status} otherwise than described: ${faults.join('; ')}`;
};
